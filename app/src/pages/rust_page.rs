//! Pages whose content is written in Rust.

use super::regions::Parts;

/// A page of the config whose content is written in Rust: what the config says of it (its title, `onInit`) still holds, and in the
/// place of its blocks stands what `content` makes. There it uses the components of [`crate::blocks`], [`crate::agent_chat`] and
/// [`crate::agent_conversations`] as they are; the state of the page is [`crate::page_state::use_page_state`], its actions are
/// [`crate::actions::use_actions`].
#[derive(Clone, Copy)]
pub struct RustPage {
    /// The id of the page in the config.
    pub id: &'static str,
    /// Makes what stands in the regions.
    pub content: fn() -> Parts,
}

/// The pages whose content is written in Rust, by context.
#[derive(Clone, Copy)]
pub struct RustPages(pub &'static [RustPage]);

impl RustPages {
    /// The content of a page, if it is written in Rust.
    pub(crate) fn content(self, id: &str) -> Option<fn() -> Parts> {
        self.0.iter().find(|page| page.id == id).map(|page| page.content)
    }
}
