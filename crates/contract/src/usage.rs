//! The token usage of requests.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The tokens of one request, or the sum over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// All input, including cached input.
    pub input_tokens: u64,
    /// All output, including reasoning.
    pub output_tokens: u64,
    /// The part of the input that was read from a cache.
    pub cache_read_tokens: u64,
    /// The part of the input that was written to a cache.
    pub cache_write_tokens: u64,
    /// The part of the output that was reasoning.
    pub reasoning_tokens: u64,
}

/// Estimates the number of tokens of a text by its length in bytes. Other languages than English have
/// shorter tokens, so theirs are estimated too low rather than too high.
pub fn estimated_tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

impl AddAssign for Usage {
    /// Saturates, because a provider's invalid numbers must not cause a panic.
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
    }
}
