//! The pages and the API with which administrators manage MCP servers.

mod api;
mod form;
mod list;
mod pages;
mod sent;
mod state;

use crate::store::SERVERS;
use capability::Context;
use web::admin::Section;

/// The path of the list.
const PATH: &str = "/admin/mcp-servers";
/// The path to which a form is sent that is only tested.
const TEST_PATH: &str = "/admin/mcp-server-tests";
/// The path of the switches of the config's servers.
const SWITCH_PATH: &str = "/admin/mcp-config-servers";
/// The path of the export.
const EXPORT_PATH: &str = "/admin/mcp-servers.yaml";
/// The title of the list.
const TITLE: &str = "MCP servers";

/// Returns the section of the console.
pub(crate) fn section(context: Context) -> Section {
    let routes = web::admin::list::routes::<list::ServerList>().merge(api::routes()).with_pages(pages::routes());
    added_entries::console::section(SERVERS, (PATH, TITLE), &[], routes.map(|router| router.with_state(context)))
}
