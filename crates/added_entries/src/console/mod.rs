//! Parts of the console that the pages of all kinds of entries share.

mod api;
mod fields;
mod origin;
mod pages;

pub use api::{export, remove};
pub use fields::{FormState, agent_boxes, checkbox, name_field, text_field};
pub use origin::{Origin, OriginQuery};
pub use pages::{EntryPages, EntryView, SentEntry, after, entry_path, new_page, routes, switch_button};

use crate::EntryKind;
use web::admin::{MenuEntry, MenuGroup, Section};
use web::openapi::ApiRouter;

/// Returns the section of the console: the list's entry of the menu, the routes, and the actions of the audit log with
/// those that only this kind has.
pub fn section(
    kind: EntryKind,
    (path, title): (&'static str, &'static str),
    own: &[&str],
    routes: ApiRouter,
) -> Section {
    let actions = ["add", "change", "enable", "disable", "delete", "test"].map(|act| kind.action(act));
    let actions = actions.into_iter().chain([format!("{}s", kind.action("export"))]);
    let actions = actions.chain(own.iter().map(|&action| action.to_owned()));
    Section {
        menu: vec![MenuEntry { group: MenuGroup::Agents, path, title }],
        actions: actions.map(|action| format!("admin:{action}")).collect(),
        routes,
    }
}
