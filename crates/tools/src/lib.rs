#![doc = include_str!("../README.md")]

pub mod ask_user;
pub mod context;
pub mod file_system;
pub mod json_memory;
pub mod page_state;
pub mod page_tool;
pub mod text;

pub use ask_user::AskUserTool;
pub use page_state::{PageStateTool, StateField, StateFieldKind};
pub use page_tool::PageTool;

/// The names of built-in tools, which no other tool may have.
pub const RESERVED_NAMES: [&str; 9] = [
    wire::page::UPDATE_PAGE_STATE,
    "read-tool-result",
    "tool_search",
    "tool_call",
    "read-file",
    "list-files",
    "search-files",
    "stat-file",
    wire::question::ASK_USER,
];
