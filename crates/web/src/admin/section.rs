//! The parts of the console that a capability adds.

use super::MenuEntry;
use super::list::{self, List};
use crate::openapi::ApiRouter;

/// The part of the console that a capability brings. The console mounts its routes and shows its
/// entries in the menu.
#[derive(Debug)]
pub struct Section {
    /// Its entries of the menu. In their groups they follow those of the console.
    pub menu: Vec<MenuEntry>,
    /// Its actions as the audit log names them, such as `admin:add_note`: suggestions for the log's
    /// filter.
    pub actions: Vec<String>,
    /// Its routes below `/admin` and `/api/admin`. The first extractor of each is
    /// [`Admin`](super::Admin).
    pub routes: ApiRouter,
}

impl Section {
    /// A section that consists of a list, with an entry of the menu.
    pub fn list<L: List>(state: L::State) -> Self {
        Self {
            menu: vec![MenuEntry { group: L::GROUP, path: L::PATH, title: L::TITLE }],
            actions: vec![format!("admin:{}", list::export_action::<L>())],
            routes: list::routes::<L>().map(|router| router.with_state(state)),
        }
    }
}
