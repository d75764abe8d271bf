//! The features of Claude models, by model name. Parameters that a model rejects are omitted, so
//! that an agent can change its model without a 400 error. Source: Anthropic's model overview, and
//! the AI SDK's model catalog.

/// The features of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ModelFeatures {
    /// The maximum number of output tokens; `None` if unknown.
    pub(super) max_output_tokens: Option<u32>,
    /// Whether it accepts temperature, top P and top K.
    pub(super) accepts_sampling: bool,
    /// Whether it accepts temperature and top P together.
    pub(super) accepts_temperature_and_top_p: bool,
    /// Whether a tool call can be forced.
    pub(super) can_force_tool_call: bool,
    /// Whether it supports structured output (JSON by a schema).
    pub(super) has_structured_output: bool,
}

/// By substrings of the name, of which the first match applies: maximum output tokens, sampling
/// parameters, forced tool calls.
const CLAUDE_MODELS: [(&[&str], Option<u32>, bool, bool); 8] = [
    (&["sonnet-5-5", "opus-5-5", "fable-5-1", "fable-5-2"], Some(128_000), false, false),
    (&["sonnet-5", "opus-5", "haiku-5", "fable-5", "opus-4-7", "opus-4-8"], Some(128_000), false, true),
    (&["sonnet-4-6", "opus-4-6"], Some(128_000), true, true),
    (&["opus-4-5", "sonnet-4", "haiku-4", "3-7-sonnet"], Some(64_000), true, true),
    (&["opus-4"], Some(32_000), true, true),
    (&["3-5-"], Some(8_192), true, true),
    (&["claude-3", "claude-2", "claude-v2", "claude-instant"], Some(4_096), true, true),
    // A newer model counts as similar to the latest known ones.
    (&["claude-"], None, false, true),
];

/// Claude models without structured output.
const WITHOUT_STRUCTURED_OUTPUT: [&str; 10] = [
    "sonnet-4-2",
    "sonnet-4-0",
    "sonnet-4@",
    "opus-4-2",
    "opus-4-0",
    "opus-4@",
    "claude-3",
    "claude-2",
    "claude-v2",
    "claude-instant",
];

/// Returns the features of the model of this name.
pub(super) fn for_model(model: &str) -> ModelFeatures {
    let known = CLAUDE_MODELS.iter().find(|(names, ..)| names.iter().any(|name| model.contains(name)));
    match known {
        Some(&(_, most_output, samples, is_forced)) => {
            let is_structured = !WITHOUT_STRUCTURED_OUTPUT.iter().any(|name| model.contains(name));
            ModelFeatures {
                max_output_tokens: most_output,
                accepts_sampling: samples,
                accepts_temperature_and_top_p: false,
                can_force_tool_call: is_forced,
                has_structured_output: is_structured,
            }
        }
        // Another vendor's model behind the same API.
        None => ModelFeatures {
            max_output_tokens: None,
            accepts_sampling: true,
            accepts_temperature_and_top_p: true,
            can_force_tool_call: true,
            has_structured_output: false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_depend_on_the_model_name() {
        let check = |model: &str, most_output: Option<u32>, samples, is_forced, is_structured| {
            let takes_both = !model.contains("claude");
            let expected = ModelFeatures {
                max_output_tokens: most_output,
                accepts_sampling: samples,
                accepts_temperature_and_top_p: takes_both,
                can_force_tool_call: is_forced,
                has_structured_output: is_structured,
            };
            assert_eq!(for_model(model), expected, "{model}");
        };
        check("claude-sonnet-4-5-20250929", Some(64_000), true, true, true);
        check("claude-opus-4-1-20250805", Some(32_000), true, true, true);
        check("claude-opus-4-20250514", Some(32_000), true, true, false);
        check("us.anthropic.claude-opus-4-6", Some(128_000), true, true, true);
        check("claude-opus-4-8", Some(128_000), false, true, true);
        check("claude-sonnet-5-5", Some(128_000), false, false, true);
        check("claude-3-5-haiku-latest", Some(8_192), true, true, false);
        check("claude-3-haiku-20240307", Some(4_096), true, true, false);
        check("claude-of-the-future", None, false, true, true);
        check("a-model-of-a-gateway", None, true, true, false);
    }
}
