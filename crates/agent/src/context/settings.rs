//! When and how the history is made shorter for the model (`context`).

use schemars::JsonSchema;
use serde::Deserialize;

/// What a model reads of a long conversation. When a trigger is reached, old tool results are
/// cleared, and then the older turns are summarised. Nothing is deleted from the conversation.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = settings::allow_operators)]
pub struct ContextSettings {
    /// Whether the context is kept small. With `false` the whole conversation is always sent.
    pub enabled: bool,
    /// When the context is made smaller: as soon as one of these is reached.
    pub triggers: ContextTriggers,
    /// How many of the newest messages are kept verbatim, if they fit. A call of a tool and its
    /// result are two messages. The newest message of the user is always kept.
    #[schemars(range(min = 1, max = 10_000))]
    pub keep_messages: usize,
    /// How many of the newest tool results are kept. Older ones are cleared first; the agent can
    /// read them again with the tool `read-tool-result`.
    #[schemars(range(max = 10_000))]
    pub keep_tool_results: usize,
    /// The longest tool result that the model reads whole, in bytes. Of a longer one it reads the
    /// beginning and the end, and the rest with the tool `read-tool-result`.
    #[schemars(range(min = 10_000))]
    pub max_result_bytes: usize,
    /// The summary of older turns.
    pub summary: SummarySettings,
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            triggers: ContextTriggers::default(),
            keep_messages: 20,
            keep_tool_results: 5,
            max_result_bytes: 60_000,
            summary: SummarySettings::default(),
        }
    }
}

/// When the context is made smaller. Tokens are estimated from the length of the texts, and
/// corrected by what the provider reports.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = settings::allow_operators)]
pub struct ContextTriggers {
    /// The number of tokens of a request, with instructions and tools.
    #[schemars(range(min = 500))]
    pub tokens: Option<u64>,
    /// The number of messages of a request.
    #[schemars(range(min = 4))]
    pub messages: Option<usize>,
    /// The fraction of the model's context, `contextTokens`. Default: 0.8, if there are no other
    /// triggers and the size is known.
    #[schemars(range(min = 0.1, max = 1))]
    pub fraction: Option<f64>,
}

/// The summary of older turns.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = settings::allow_operators)]
pub struct SummarySettings {
    /// Whether older turns are summarised. With `false` only tool results are cleared.
    pub enabled: bool,
    /// The longest summary in tokens.
    #[schemars(range(min = 50, max = 20_000))]
    pub max_tokens: u32,
    /// What the summary must contain, beside what it contains anyway: goals, facts, decisions, and
    /// open questions.
    pub prompt: Option<String>,
}

impl Default for SummarySettings {
    fn default() -> Self {
        Self { enabled: true, max_tokens: 1_000, prompt: None }
    }
}

/// The limits of a request's context. At least one of them is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContextBudget {
    /// The tokens.
    pub(crate) tokens: Option<u64>,
    /// The messages.
    pub(crate) messages: Option<usize>,
}

impl ContextSettings {
    /// The default of [`ContextTriggers::fraction`].
    const FRACTION: f64 = 0.8;

    /// Returns the longest result that is sent whole, in bytes.
    pub(crate) fn result_limit(&self) -> usize {
        if self.enabled { self.max_result_bytes } else { usize::MAX }
    }

    /// Returns whether the user may have the history summarised on demand.
    pub fn summarizes_on_demand(&self) -> bool {
        self.enabled && self.summary.enabled
    }

    /// Returns whether the history is made shorter by itself, for a model with a context of this size.
    pub fn has_budget(&self, context_tokens: Option<u64>) -> bool {
        self.budget(context_tokens).is_some()
    }

    /// Returns the limits for a model with a context of this size; `None` if the whole history is
    /// sent.
    pub(crate) fn budget(&self, context_tokens: Option<u64>) -> Option<ContextBudget> {
        let ContextTriggers { tokens, messages, fraction } = self.triggers;
        let fraction = match (tokens, messages) {
            (None, None) => fraction.or(Some(Self::FRACTION)),
            _ => fraction,
        };
        let part = fraction.zip(context_tokens).map(|(fraction, all)| (all as f64 * fraction) as u64);
        let tokens = tokens.into_iter().chain(part).min();
        (self.enabled && (tokens.is_some() || messages.is_some())).then_some(ContextBudget { tokens, messages })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strictest_trigger_applies() {
        let check = |tokens, messages, fraction, size, expected: Option<(Option<u64>, Option<usize>)>| {
            let triggers = ContextTriggers { tokens, messages, fraction };
            let budget = ContextSettings { triggers, ..ContextSettings::default() }.budget(size);
            assert_eq!(budget.map(|budget| (budget.tokens, budget.messages)), expected);
        };
        check(None, None, None, None, None);
        check(None, None, None, Some(1_000), Some((Some(800), None)));
        check(Some(900), None, None, Some(1_000), Some((Some(900), None)));
        check(Some(900), Some(9), Some(0.5), Some(1_000), Some((Some(500), Some(9))));
        check(None, Some(9), None, Some(1_000), Some((None, Some(9))));
        check(None, None, Some(0.5), None, None);
        assert_eq!(ContextSettings { enabled: false, ..ContextSettings::default() }.budget(Some(1_000)), None);
    }
}
