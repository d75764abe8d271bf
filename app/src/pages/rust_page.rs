//! Pages whose content is written in Rust.

use super::regions::Parts;
use serde_json::Value;

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
    /// What the page does for agents. The server tells them of it; what is done is given to the [`crate::agent_chat::AgentChat`].
    pub client_tools: &'static [RustTool],
}

/// A tool that a page in Rust runs in the user's browser. It stands in the code of the server, so no browser can declare one.
#[derive(Clone, Copy)]
pub struct RustTool {
    /// The agent that may call it, from a chat of the page.
    pub agent_id: &'static str,
    /// What the model calls it: up to 64 letters, digits, `_` and `-`, and none of the platform's own names.
    pub name: &'static str,
    /// What it does; the model chooses tools by it.
    pub description: &'static str,
    /// JSON Schema of the object that it is called with. Every input is checked against it before the browser gets it.
    pub input_schema: fn() -> Value,
    /// Whether the user is asked before each call.
    pub confirm: bool,
    /// What a call does with data.
    pub marks: ToolMarks,
}

/// What a call of a tool does with data, as the marks of `clientTools` say it in a config.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolMarks {
    /// Results may hold what not everybody should read.
    pub reads_private: bool,
    /// Results may be anybody's words.
    pub returns_untrusted: bool,
    /// It can send something to others.
    pub egress: bool,
}

impl ToolMarks {
    /// It reads what everybody may know, from the page itself, and sends nothing.
    pub const NONE: Self = Self { reads_private: false, returns_untrusted: false, egress: false };
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
