#![doc = include_str!("../README.md")]

mod code_spans;
pub mod link;
pub mod link_text;
pub mod mask;
mod references;
pub mod split;
pub mod tail;

pub use references::{FindUrl, ReferenceLookup};
