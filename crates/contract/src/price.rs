//! The prices of models.

use crate::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of tokens that a price is for.
const PER: f64 = 1_000_000.0;

/// The price of a model in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Price {
    /// The price of input tokens.
    #[schemars(range(min = 0))]
    pub input: f64,
    /// Output, reasoning included.
    #[schemars(range(min = 0))]
    pub output: f64,
    /// The price of input tokens that are read from the provider's cache. Default: `input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cache_read: Option<f64>,
    /// The price of input tokens that are written to the provider's cache. Default: `input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cache_write: Option<f64>,
}

impl Price {
    /// Returns the cost of these tokens in US dollars.
    pub fn cost(&self, usage: Usage) -> f64 {
        let cached = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
        let parts = [
            (usage.input_tokens.saturating_sub(cached), self.input),
            (usage.cache_read_tokens, self.cache_read.unwrap_or(self.input)),
            (usage.cache_write_tokens, self.cache_write.unwrap_or(self.input)),
            (usage.output_tokens, self.output),
        ];
        parts.into_iter().map(|(tokens, price)| tokens as f64 * price / PER).sum()
    }

    /// Returns the savings of the provider's cache in US dollars: the cost of the same tokens without it, less their
    /// cost. Below zero if writing to the cache cost more than reading saved.
    pub fn saved(&self, usage: Usage) -> f64 {
        let parts = [
            (usage.cache_read_tokens, self.input - self.cache_read.unwrap_or(self.input)),
            (usage.cache_write_tokens, self.input - self.cache_write.unwrap_or(self.input)),
        ];
        parts.into_iter().map(|(tokens, price)| tokens as f64 * price / PER).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_counts_cached_and_uncached_tokens() {
        let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: Some(3.75) };
        let usage = Usage {
            input_tokens: 1_000_000,
            output_tokens: 100_000,
            cache_read_tokens: 600_000,
            cache_write_tokens: 200_000,
            reasoning_tokens: 50_000,
        };
        assert!((price.cost(usage) - (0.6 + 0.18 + 0.75 + 1.5)).abs() < 1e-9);
        assert!(price.cost(Usage { cache_read_tokens: u64::MAX, ..usage }) > 0.0, "nonsense of a provider");
    }

    #[test]
    fn saving_is_the_difference_to_the_cost_without_a_cache() {
        let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: Some(3.75) };
        let check = |price: Price, cache_read_tokens, cache_write_tokens, expected: f64| {
            let usage = Usage { input_tokens: 1_000_000, cache_read_tokens, cache_write_tokens, ..Usage::default() };
            let without = Usage { cache_read_tokens: 0, cache_write_tokens: 0, ..usage };
            assert!((price.saved(usage) - expected).abs() < 1e-9, "{usage:?}");
            assert!((price.cost(without) - price.cost(usage) - expected).abs() < 1e-9, "{usage:?}");
        };
        check(price, 600_000, 0, 1.62);
        check(price, 600_000, 200_000, 1.47);
        check(price, 0, 200_000, -0.15);
        check(price, 0, 0, 0.0);
        check(Price { cache_read: None, cache_write: None, ..price }, 600_000, 200_000, 0.0);
    }
}
