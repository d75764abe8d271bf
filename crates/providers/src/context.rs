//! The context sizes of well-known models. Providers sell larger contexts for some models; the
//! config's value takes precedence.

/// The context of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelContext {
    /// Its size in tokens.
    pub tokens: u64,
    /// Whether `tokens` is the input alone, so that the answer needs no room in it.
    pub output_is_beside: bool,
}

/// The sizes, by the prefix of a model's name. The longest matching prefix applies. A prefix that
/// covers models of several sizes has the smallest of them: a context that is made smaller too early
/// costs a summary, one that is too long is refused.
const CONTEXT_SIZES: &[(&str, u64)] = &[
    // https://platform.claude.com/docs/en/models
    ("claude-3", 200_000),
    ("claude-haiku-4", 200_000),
    ("claude-haiku-5", 200_000),
    ("claude-opus-4", 200_000),
    ("claude-opus-4-7", 1_000_000),
    ("claude-opus-4-8", 1_000_000),
    ("claude-sonnet-4", 200_000),
    ("claude-fable-5", 1_000_000),
    ("claude-opus-5", 1_000_000),
    ("claude-sonnet-5", 1_000_000),
    // https://platform.openai.com/docs/models
    ("gpt-5-chat", 128_000),
    ("gpt-5.1-chat", 128_000),
    ("gpt-5.2-chat", 128_000),
    ("gpt-5.3-chat", 128_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-3.5-turbo", 16_385),
    ("gpt-oss", 131_072),
    ("o1", 200_000),
    ("o1-mini", 128_000),
    ("o1-preview", 128_000),
    ("o3", 200_000),
    ("o4-mini", 200_000),
    // https://docs.x.ai/docs/models
    ("grok-3", 131_072),
    ("grok-4", 256_000),
    ("grok-4-fast", 2_000_000),
    ("grok-4-1-fast", 2_000_000),
    ("grok-code-fast", 256_000),
    // https://docs.mistral.ai/getting-started/models
    ("mistral-large", 128_000),
    ("mistral-medium", 128_000),
    ("mistral-small", 32_000),
    ("mistral-small-latest", 128_000),
    ("ministral", 128_000),
    ("magistral", 40_000),
    ("devstral", 128_000),
    ("codestral", 32_000),
    ("codestral-latest", 256_000),
    ("pixtral", 128_000),
    // https://api-docs.deepseek.com/quick_start/pricing
    ("deepseek-chat", 128_000),
    ("deepseek-reasoner", 128_000),
    ("deepseek-v4", 128_000),
];

/// The sizes of models whose input has a limit of its own.
const INPUT_SIZES: &[(&str, u64)] = &[
    // Of 400,000 tokens in all, 128,000 are output. Some later models have more.
    ("gpt-5", 272_000),
    // https://ai.google.dev/gemini-api/docs/models
    ("gemini-1.5", 1_048_576),
    ("gemini-2.0-flash", 1_048_576),
    ("gemini-2.5-pro", 1_048_576),
    ("gemini-2.5-flash", 1_048_576),
    ("gemini-2.5-flash-image", 32_768),
    ("gemini-3", 1_048_576),
    ("gemini-3-pro-image", 65_536),
    ("gemini-3.1-flash-image", 65_536),
];

/// Returns the context of a model; `None` for an unknown model. A gateway's prefix `vendor/` is
/// ignored.
pub fn model_context(model: &str) -> Option<ModelContext> {
    let name = model.rsplit('/').next().unwrap_or(model);
    let listed = |sizes: &'static [(&str, u64)], output_is_beside: bool| {
        sizes.iter().map(move |(start, tokens)| (*start, ModelContext { tokens: *tokens, output_is_beside }))
    };
    let all = listed(CONTEXT_SIZES, false).chain(listed(INPUT_SIZES, true));
    all.filter(|(start, _)| name.starts_with(start)).max_by_key(|(start, _)| start.len()).map(|(_, known)| known)
}

/// Returns the size of a model's context in tokens; `None` for an unknown model.
pub fn context_tokens(model: &str) -> Option<u64> {
    model_context(model).map(|known| known.tokens)
}

#[cfg(test)]
mod tests {
    use super::{context_tokens, model_context};

    #[test]
    fn longest_matching_prefix_applies() {
        for (model, expected) in [
            ("claude-sonnet-4-20250514", Some(200_000)),
            ("openai/gpt-4.1-mini", Some(1_047_576)),
            ("gpt-4o-mini", Some(128_000)),
            ("gpt-5-chat-latest", Some(128_000)),
            ("claude-opus-9", None),
            ("anthropic/claude-opus-4-8", Some(1_000_000)),
            ("claude-opus-4-6", Some(200_000)),
            ("gpt-5", Some(272_000)),
            ("gpt-5.2", Some(272_000)),
            ("gemini-3-flash-preview", Some(1_048_576)),
            ("x-ai/grok-4", Some(256_000)),
            ("mistral-large-latest", Some(128_000)),
            ("deepseek-chat", Some(128_000)),
            ("gemini-2.5-flash-image", Some(32_768)),
            ("llama-3", None),
            ("", None),
        ] {
            assert_eq!(context_tokens(model), expected, "{model}");
        }
    }

    #[test]
    fn some_sizes_are_those_of_the_input() {
        let check = |model: &str, expected: bool| {
            assert_eq!(model_context(model).map(|known| known.output_is_beside), Some(expected), "{model}");
        };
        check("gpt-5", true);
        check("gpt-5-chat-latest", false);
        check("gemini-2.5-pro", true);
        check("claude-sonnet-4-5", false);
    }
}
