//! What a Claude model takes, by its name. Settings that a model refuses are left out, so that an agent can change its model
//! without an answer of 400. Source: Anthropic's overview of its models, and the AI SDK's catalog of them.

/// What a model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Abilities {
    /// The most tokens that it writes; none where that is not known.
    pub(super) most_output: Option<u32>,
    /// Whether it takes a temperature, top P and top K.
    pub(super) samples: bool,
    /// Whether it takes temperature and top P together.
    pub(super) takes_both: bool,
    /// Whether it can be made to call a tool.
    pub(super) is_forced: bool,
    /// Whether it can be held to JSON of a given form.
    pub(super) is_structured: bool,
}

/// By parts of a name, the first that fits: the most output, sampling, calls that are forced.
const CLAUDES: [(&[&str], Option<u32>, bool, bool); 8] = [
    (&["sonnet-5-5", "opus-5-5", "fable-5-1", "fable-5-2"], Some(128_000), false, false),
    (&["sonnet-5", "opus-5", "haiku-5", "fable-5", "opus-4-7", "opus-4-8"], Some(128_000), false, true),
    (&["sonnet-4-6", "opus-4-6"], Some(128_000), true, true),
    (&["opus-4-5", "sonnet-4", "haiku-4", "3-7-sonnet"], Some(64_000), true, true),
    (&["opus-4"], Some(32_000), true, true),
    (&["3-5-"], Some(8_192), true, true),
    (&["claude-3", "claude-2", "claude-v2", "claude-instant"], Some(4_096), true, true),
    // A later one is like the latest that are known.
    (&["claude-"], None, false, true),
];

/// Claude models of before it could be held to a form.
const UNSTRUCTURED: [&str; 10] = [
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

/// What the model of this name takes.
pub(super) fn of(model: &str) -> Abilities {
    let known = CLAUDES.iter().find(|(names, ..)| names.iter().any(|name| model.contains(name)));
    match known {
        Some(&(_, most_output, samples, is_forced)) => {
            let is_structured = !UNSTRUCTURED.iter().any(|name| model.contains(name));
            Abilities { most_output, samples, takes_both: false, is_forced, is_structured }
        }
        // Someone else's model behind the same API.
        None => Abilities { most_output: None, samples: true, takes_both: true, is_forced: true, is_structured: false },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models() {
        let check = |model: &str, most_output: Option<u32>, samples, is_forced, is_structured| {
            let takes_both = !model.contains("claude");
            let expected = Abilities { most_output, samples, takes_both, is_forced, is_structured };
            assert_eq!(of(model), expected, "{model}");
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
