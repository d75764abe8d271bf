//! The pages and the API with which administrators share prompts.

mod api;
mod list;
mod pages;

use capability::Context;
use web::admin::list::List;
use web::admin::{MenuEntry, Section};

/// Returns the section of the console.
pub(crate) fn section(context: Context) -> Section {
    let routes = web::admin::list::routes::<list::SharedPromptList>().merge(api::routes()).with_pages(pages::routes());
    let actions = ["add_prompt", "change_prompt", "delete_prompt", "export_prompts"];
    let (group, path, title) =
        (list::SharedPromptList::GROUP, list::SharedPromptList::PATH, list::SharedPromptList::TITLE);
    Section {
        menu: vec![MenuEntry { group, path, title }],
        actions: actions.map(|action| format!("admin:{action}")).to_vec(),
        routes: routes.map(|router| router.with_state(context)),
    }
}
