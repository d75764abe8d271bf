//! Reads files in child processes.
//!
//! The parent starts the program with the limits as an argument, and writes to its standard input:
//! frames, each with its length in four bytes (big-endian). The first frame describes the file as
//! JSON, the others are its content, and an empty one ends it. The pipe stays open until the parent
//! has the result; its end tells the child that the parent has gone. The child writes the result to
//! its standard output as JSON and exits.

mod child;
mod converter;

pub use child::run_child;
pub use converter::Converter;

use serde::{Deserialize, Serialize};

/// The subcommand of the product's program that runs [`run_child`].
pub const READ_DOCUMENT: &str = "read-document";

/// The maximum length of a frame in bytes.
const MAX_FRAME: usize = 1 << 20;

/// The first frame.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    name: String,
    media_type: Option<String>,
}
