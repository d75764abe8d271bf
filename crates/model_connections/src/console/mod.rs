//! The pages and the API with which administrators manage connections to model providers.

mod api;
mod form;
mod list;
mod pages;
mod sent;
mod start;
mod state;

use capability::Context;
use web::admin::{MenuEntry, MenuGroup, Section};

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
    let actions = [
        "add_model_connection",
        "change_model_connection",
        "enable_model_connection",
        "disable_model_connection",
        "delete_model_connection",
        "test_model_connection",
        "list_provider_models",
        "export_model_connections",
        "export_models",
    ];
    Section {
        menu: vec![MenuEntry { group: MenuGroup::Agents, path: PATH, title: TITLE }],
        actions: actions.map(|action| format!("admin:{action}")).to_vec(),
        routes: routes.map(|router| router.with_state(context)),
    }
}
