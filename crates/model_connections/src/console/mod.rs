//! The pages and the API with which administrators manage connections to model providers.

mod api;
mod form;
mod list;
mod pages;
mod sent;
mod start;
mod state;

use crate::store::CONNECTIONS;
use capability::Context;
use web::admin::Section;

/// The path of the list.
const PATH: &str = "/admin/models";
/// The path of the export.
const EXPORT_PATH: &str = "/admin/models.yaml";
/// The title of the list.
const TITLE: &str = "Models";

/// Returns the section of the console.
pub(crate) fn section(context: Context) -> Section {
    let pages = pages::routes().merge(start::routes());
    let routes = web::admin::list::routes::<list::ConnectionList>().merge(api::routes()).with_pages(pages);
    let own = ["list_provider_models", "export_models"];
    added_entries::console::section(CONNECTIONS, (PATH, TITLE), &own, routes.map(|router| router.with_state(context)))
}
