//! The pages of the console: the files of the config, the draft of an administrator, and the published versions.

mod access;
mod draft;
mod export;
mod files;
mod versions;
mod views;

use axum::Router;
use axum::routing::{get, post};
use capability::Context;
use web::admin::{ADMINISTRATION, MenuEntry, MenuGroup, Section};
use web::openapi::ApiRouter;

/// The path of the files.
const FILES_PATH: &str = "/admin/config/files";
/// The path of the draft.
const DRAFT_PATH: &str = "/admin/config/draft";
/// The path of the published versions.
const VERSIONS_PATH: &str = "/admin/config/versions";

/// The entry of the menu.
pub(crate) const MENU: MenuEntry = MenuEntry { group: MenuGroup::System, path: FILES_PATH, title: "Config files" };

/// Returns the section of the console. The menu shows its entry only if the config has the key.
pub(crate) fn section(context: Context) -> Section {
    let pages = Router::new()
        .route(FILES_PATH, get(files::show))
        .route(DRAFT_PATH, get(draft::show).post(draft::save))
        .route("/admin/config/draft/rebase", post(draft::rebase))
        .route("/admin/config/draft/discard", post(draft::discard))
        .route("/admin/config/draft/preview", post(draft::start_preview))
        .route("/admin/config/draft/preview/end", post(draft::end_preview))
        .route("/admin/config/draft/publish", post(draft::publish))
        .route("/admin/config/draft/changes.yaml", get(export::draft))
        .route(VERSIONS_PATH, get(versions::list))
        .route("/admin/config/versions/{version}", get(versions::show).post(versions::roll_back))
        .route("/admin/config/versions/{version}/changes.yaml", get(export::version));
    let actions = ["export_config", "publish_config", "try_config"].map(|action| format!("admin:{action}"));
    Section {
        menu: Vec::new(),
        actions: actions.to_vec(),
        routes: ApiRouter::new(&ADMINISTRATION).with_pages(pages).map(|router| router.with_state(context)),
    }
}
