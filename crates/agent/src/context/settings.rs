//! When and how the history is made shorter for the model (`context`).

use schemars::JsonSchema;
use serde::Deserialize;

/// The settings of long conversations. When a trigger is reached, old tool results are
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
    /// The longest tool result that the model reads whole, in bytes, but at most an eighth of the
    /// tokens of the triggers, at four bytes each. Of a longer one it reads the beginning and the end,
    /// and the rest with the tool `read-tool-result`.
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
    /// triggers. Room for the answer, `maxOutputTokens`, is always left. If the size is not known,
    /// 125,000 tokens are assumed.
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
    /// Instructions for additional content of the summary. It always contains goals, facts, decisions, and
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

/// The known room in a model's context.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ModelRoom {
    /// The size of the context.
    pub(crate) tokens: Option<u64>,
    /// The longest answer, if it takes a part of that size.
    pub(crate) answer: Option<u64>,
}

impl ContextBudget {
    /// Returns the budget of a request after one of this size was refused: half of it.
    pub(crate) fn after_refusal(self, refused: u64) -> Self {
        let half = refused / 2;
        Self { tokens: Some(self.tokens.map_or(half, |tokens| tokens.min(half))), ..self }
    }
}

impl ContextSettings {
    /// The default of [`ContextTriggers::fraction`].
    const FRACTION: f64 = 0.8;
    /// The size of a context of which nothing is known. Nearly all models that are served today have
    /// more; one that has less refuses the request, which is then made shorter.
    const ASSUMED_TOKENS: u64 = 125_000;
    /// How many results of the greatest size have room in the budget.
    const RESULTS_IN_BUDGET: u64 = 8;
    /// The smallest limit of a result that the budget leads to, in bytes: room for a beginning, an end
    /// and the note between them.
    const MIN_RESULT_BYTES: u64 = 2_000;

    /// Returns the longest result that is sent whole, in bytes, for a model with this room. It depends
    /// on settings alone, so that a result is sent with the same bytes each time.
    pub(crate) fn result_limit(&self, room: ModelRoom) -> usize {
        if !self.enabled {
            return usize::MAX;
        }
        let by_budget = self.budget(room).and_then(|budget| budget.tokens).map(|tokens| {
            let bytes = tokens.saturating_mul(4) / Self::RESULTS_IN_BUDGET;
            usize::try_from(bytes.max(Self::MIN_RESULT_BYTES)).unwrap_or(usize::MAX)
        });
        by_budget.map_or(self.max_result_bytes, |bytes| bytes.min(self.max_result_bytes))
    }

    /// Returns whether the history is made shorter, by itself and on the user's demand: with summaries.
    pub fn summarizes_on_demand(&self) -> bool {
        self.enabled && self.summary.enabled
    }

    /// Returns the limits for a model with this room; `None` if the whole history is sent.
    pub(crate) fn budget(&self, room: ModelRoom) -> Option<ContextBudget> {
        if !self.enabled {
            return None;
        }
        let ContextTriggers { tokens, messages, fraction } = self.triggers;
        let fraction = match (tokens, messages) {
            (None, None) => fraction.or(Some(Self::FRACTION)),
            _ => fraction,
        };
        let all = room.tokens.unwrap_or(Self::ASSUMED_TOKENS);
        let part = fraction.map(|fraction| (all as f64 * fraction) as u64);
        // An answer that may be as long as the context would leave nothing for the request.
        let beside_answer = room.tokens.zip(room.answer).map(|(all, most)| all.saturating_sub(most).max(all / 4));
        let tokens = tokens.into_iter().chain(part).chain(beside_answer).min();
        Some(ContextBudget { tokens, messages })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(tokens: Option<u64>, answer: Option<u64>) -> ModelRoom {
        ModelRoom { tokens, answer }
    }

    #[test]
    fn strictest_trigger_applies() {
        let check = |tokens, messages, fraction, room, expected: (Option<u64>, Option<usize>)| {
            let triggers = ContextTriggers { tokens, messages, fraction };
            let budget = ContextSettings { triggers, ..ContextSettings::default() }.budget(room).unwrap();
            assert_eq!((budget.tokens, budget.messages), expected);
        };
        let (unknown, known) = (room(None, None), room(Some(1_000), None));
        check(None, None, None, unknown, (Some(100_000), None));
        check(None, None, None, known, (Some(800), None));
        check(Some(900), None, None, known, (Some(900), None));
        check(Some(900), Some(9), Some(0.5), known, (Some(500), Some(9)));
        check(None, Some(9), None, known, (None, Some(9)));
        check(None, None, Some(0.4), unknown, (Some(50_000), None));
        // The answer needs room, too.
        check(None, None, None, room(Some(1_000), Some(100)), (Some(800), None));
        check(None, None, None, room(Some(1_000), Some(400)), (Some(600), None));
        check(None, Some(9), None, room(Some(1_000), Some(400)), (Some(600), Some(9)));
        check(Some(900), None, None, room(Some(1_000), Some(400)), (Some(600), None));
        check(None, None, None, room(Some(1_000), Some(1_000)), (Some(250), None));
        check(None, None, None, room(None, Some(400)), (Some(100_000), None));
        let off = ContextSettings { enabled: false, ..ContextSettings::default() };
        assert_eq!((off.budget(known), off.result_limit(known)), (None, usize::MAX));
    }

    #[test]
    fn result_takes_an_eighth_of_the_budget_at_most() {
        let check = |tokens: Option<u64>, max_result_bytes: usize, expected: usize| {
            let settings = ContextSettings { max_result_bytes, ..ContextSettings::default() };
            assert_eq!(settings.result_limit(room(tokens, None)), expected, "{tokens:?}");
        };
        check(Some(1_000_000), 60_000, 60_000);
        check(Some(100_000), 60_000, 40_000);
        check(Some(100_000), 20_000, 20_000);
        check(None, 60_000, 50_000);
        check(Some(2_000), 60_000, 2_000);
    }
}
