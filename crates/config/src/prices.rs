//! The prices of models: those of the config's section `prices`, and list prices of well-known
//! models. The config takes precedence, because list prices change and contracts differ.

use crate::Config;
use contract::Price;

/// The key of the section `prices` for all models that it does not name.
const DEFAULT: &str = "default";

/// List prices by a prefix of the model's name, in US dollars per million tokens: input, cached
/// input, input written to a cache, output. The longest prefix applies.
const PRICES: &[(&str, f64, f64, f64, f64)] = &[
    // https://docs.claude.com/en/docs/about-claude/pricing
    ("claude-opus-4-5", 5.0, 0.5, 6.25, 25.0),
    ("claude-opus-4", 15.0, 1.5, 18.75, 75.0),
    ("claude-sonnet-4", 3.0, 0.3, 3.75, 15.0),
    ("claude-haiku-4", 1.0, 0.1, 1.25, 5.0),
    ("claude-3-7-sonnet", 3.0, 0.3, 3.75, 15.0),
    ("claude-3-5-haiku", 0.8, 0.08, 1.0, 4.0),
    // https://platform.openai.com/docs/pricing
    ("gpt-5-nano", 0.05, 0.005, 0.05, 0.4),
    ("gpt-5-mini", 0.25, 0.025, 0.25, 2.0),
    ("gpt-5", 1.25, 0.125, 1.25, 10.0),
    ("gpt-4.1-nano", 0.1, 0.025, 0.1, 0.4),
    ("gpt-4.1-mini", 0.4, 0.1, 0.4, 1.6),
    ("gpt-4.1", 2.0, 0.5, 2.0, 8.0),
    ("gpt-4o-mini", 0.15, 0.075, 0.15, 0.6),
    ("gpt-4o", 2.5, 1.25, 2.5, 10.0),
    ("o4-mini", 1.1, 0.275, 1.1, 4.4),
    ("o3", 2.0, 0.5, 2.0, 8.0),
    // https://ai.google.dev/gemini-api/docs/pricing
    ("gemini-3-pro", 2.0, 0.2, 2.0, 12.0),
    ("gemini-2.5-pro", 1.25, 0.125, 1.25, 10.0),
    ("gemini-2.5-flash-lite", 0.1, 0.01, 0.1, 0.4),
    ("gemini-2.5-flash", 0.3, 0.03, 0.3, 2.5),
];

impl Config {
    /// Returns the price of a model: that of its entry in `models`, else the config's price with the
    /// longest matching prefix, else the list price, else the config's `default`.
    pub fn price_of(&self, model: &str) -> Option<Price> {
        let exact = self.models.values().filter(|known| known.model == model).find_map(|known| known.price);
        let known = self.prices.iter().filter(|(start, _)| model.starts_with(start.as_str()));
        let own = exact.or_else(|| known.max_by_key(|(start, _)| start.len()).map(|(_, price)| *price));
        own.or_else(|| list_price(model)).or_else(|| self.prices.get(DEFAULT).copied())
    }
}

/// Returns the list price of a well-known model. A gateway's `vendor/` before the name is ignored.
fn list_price(model: &str) -> Option<Price> {
    let name = model.rsplit('/').next().unwrap_or(model);
    let known = PRICES.iter().filter(|(start, ..)| name.starts_with(start));
    let &(_, input, cache_read, cache_write, output) = known.max_by_key(|(start, ..)| start.len())?;
    Some(Price { input, output, cache_read: Some(cache_read), cache_write: Some(cache_write) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_prefix_applies() {
        let check = |model: &str, expected: Option<f64>| {
            assert_eq!(list_price(model).map(|price| price.output), expected, "{model}");
        };
        check("claude-opus-4-5-20251101", Some(25.0));
        check("claude-opus-4-1-20250805", Some(75.0));
        check("anthropic/claude-sonnet-4.5", Some(15.0));
        check("gpt-4o-mini-2024-07-18", Some(0.6));
        check("gpt-4o", Some(10.0));
        check("gemini-2.5-flash-lite", Some(0.4));
        check("llama-3", None);
        check("", None);
    }
}
