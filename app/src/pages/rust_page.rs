//! Pages whose content is written in Rust, and what else a program adds to the UI.

use super::regions::PageRegions;
use crate::blocks::RustBlockType;
use serde_json::Value;

/// A page of the config whose content is written in Rust. The rest of its definition, such as the
/// title and `onInit`, still comes from the config; `content` replaces its blocks. It can use the
/// components of [`crate::blocks`], [`crate::agent_chat`] and [`crate::agent_conversations`], the
/// page state ([`crate::page_state::use_page_state`]) and the page's actions
/// ([`crate::actions::use_actions`]).
#[derive(Clone, Copy)]
pub struct RustPage {
    /// The id of the page in the config.
    pub id: &'static str,
    /// Renders the contents of the regions.
    pub content: fn() -> PageRegions,
    /// The client tools of the page. The server offers them to the agents; their implementations
    /// are passed to the [`crate::agent_chat::AgentChat`].
    pub client_tools: &'static [RustTool],
}

/// A client tool of a page in Rust: it runs in the user's browser. It is declared in the server's
/// code, so that a browser cannot declare one.
#[derive(Clone, Copy)]
pub struct RustTool {
    /// The agent that may call it, from a chat on the page.
    pub agent_id: &'static str,
    /// The tool's name for the model: up to 64 letters, digits, `_` and `-`; the names of built-in
    /// tools are reserved.
    pub name: &'static str,
    /// The description for the model.
    pub description: &'static str,
    /// Returns the JSON Schema of the input object. The server validates every input before it is
    /// sent to the browser.
    pub input_schema: fn() -> Value,
    /// Whether each call needs the user's approval.
    pub confirm: bool,
    /// The annotations, which say what a call does with data.
    pub annotations: ToolAnnotations,
}

/// The annotations of a tool: what a call does with data. They are the `marks` of `clientTools` in
/// a config.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolAnnotations {
    /// Results may contain private data.
    pub reads_private: bool,
    /// Results may contain untrusted content, written by anybody.
    pub returns_untrusted: bool,
    /// A call can send data to others.
    pub egress: bool,
    /// No call changes anything, so the agent may call the tool before the user has approved a plan.
    pub reads_only: bool,
}

impl ToolAnnotations {
    /// The tool reads only public data from the page itself and sends nothing.
    pub const NONE: Self = Self { reads_private: false, returns_untrusted: false, egress: false, reads_only: false };
}

/// The parts that a program adds to the UI, the same on the server and in the browser. Provided as a context.
#[derive(Clone, Copy, Default)]
pub struct RustParts {
    /// The pages whose content is written in Rust.
    pub pages: &'static [RustPage],
    /// The types of blocks.
    pub blocks: &'static [RustBlockType],
}

impl RustParts {
    /// Returns the content of a page, if it is written in Rust.
    pub(crate) fn content(self, id: &str) -> Option<fn() -> PageRegions> {
        self.pages.iter().find(|page| page.id == id).map(|page| page.content)
    }
}
