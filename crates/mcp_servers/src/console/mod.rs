//! The pages and the API with which administrators manage MCP servers.

mod api;
mod form;
mod list;
mod pages;
mod sent;
mod state;

use capability::Context;
use web::admin::{MenuEntry, MenuGroup, Section};

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
    let actions = [
        "add_mcp_server",
        "change_mcp_server",
        "enable_mcp_server",
        "disable_mcp_server",
        "delete_mcp_server",
        "test_mcp_server",
        "export_mcp_servers",
    ];
    Section {
        menu: vec![MenuEntry { group: MenuGroup::Agents, path: PATH, title: TITLE }],
        actions: actions.map(|action| format!("admin:{action}")).to_vec(),
        routes: routes.map(|router| router.with_state(context)),
    }
}
