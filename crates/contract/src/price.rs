//! The prices of models.

use crate::Usage;

/// The number of tokens that a price is for.
const PER: f64 = 1_000_000.0;

/// The price of a model in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Uncached input.
    pub input: f64,
    /// Input that was read from a cache.
    pub cache_read: f64,
    /// Input that was written to a cache.
    pub cache_write: f64,
    /// Output, including reasoning.
    pub output: f64,
}

impl Price {
    /// Returns the cost of these tokens in US dollars.
    pub fn cost(&self, usage: Usage) -> f64 {
        let cached = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
        let parts = [
            (usage.input_tokens.saturating_sub(cached), self.input),
            (usage.cache_read_tokens, self.cache_read),
            (usage.cache_write_tokens, self.cache_write),
            (usage.output_tokens, self.output),
        ];
        parts.into_iter().map(|(tokens, price)| tokens as f64 * price / PER).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_counts_cached_and_uncached_tokens() {
        let price = Price { input: 3.0, cache_read: 0.3, cache_write: 3.75, output: 15.0 };
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
}
