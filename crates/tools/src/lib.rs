#![doc = include_str!("../README.md")]

pub mod context;
pub mod file_system;
pub mod page_state;

pub use page_state::{Field, FieldKind, PageStateTool};

/// Names that only the platform's own tools have (L-54).
pub const RESERVED_NAMES: [&str; 5] = ["update-page-state", "read-file", "list-files", "search-files", "stat-file"];
