//! The limits of reading one file.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The limits of reading one file. Time and memory hold for a process of its own only; the pure
/// functions of this crate check the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// The maximum size of the file in bytes.
    pub input_bytes: u64,
    /// The maximum number of bytes that are unpacked from a file that is an archive.
    pub unpacked_bytes: u64,
    /// The maximum length of all text in bytes. Longer text is truncated, with a warning.
    pub output_bytes: usize,
    /// The maximum number of parts. The others are left out, with a warning.
    pub parts: usize,
    /// The maximum time from the start of reading to the result.
    pub time: Duration,
    /// The maximum memory of the process in bytes.
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            input_bytes: 64 << 20,
            unpacked_bytes: 256 << 20,
            output_bytes: 16 << 20,
            parts: 20_000,
            time: Duration::from_secs(120),
            memory_bytes: 1 << 30,
        }
    }
}
