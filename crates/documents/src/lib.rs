#![doc = include_str!("../README.md")]

mod collector;
mod document;
mod encoding;
mod failure;
mod format;
mod formats;
mod limits;
mod pictures;
mod process;
mod read;
mod sections;
mod split;
mod table;

pub use document::{Document, Part, Place, Syntax, Warning, WarningCode};
pub use failure::{Failure, FailureCode};
pub use format::{Format, looks_like_document};
pub use limits::Limits;
pub use process::{Converter, READ_DOCUMENT, run_child};
pub use read::{Source, read};
pub use split::{Chunk, Span, SplitOptions, split};
