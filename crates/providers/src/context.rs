//! The context sizes of well-known models. Providers sell larger contexts for some models; the
//! config's value takes precedence.

/// The number of input tokens, by the prefix of a model's name. The longest matching prefix
/// applies. No prefix covers a whole vendor: no context meter is better than a wrong one.
const CONTEXT_SIZES: &[(&str, u64)] = &[
    // https://docs.claude.com/en/docs/about-claude/models/overview
    ("claude-3", 200_000),
    ("claude-haiku-4-5", 200_000),
    ("claude-opus-4-1", 200_000),
    ("claude-opus-4-2025", 200_000),
    ("claude-opus-4-5", 200_000),
    ("claude-sonnet-4-2025", 200_000),
    ("claude-sonnet-4-5", 200_000),
    // https://platform.openai.com/docs/models: 400,000 in all, of which 128,000 are output.
    ("gpt-5-2025", 272_000),
    ("gpt-5-mini", 272_000),
    ("gpt-5-nano", 272_000),
    ("gpt-5-chat", 128_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("o3", 200_000),
    ("o4-mini", 200_000),
    // https://ai.google.dev/gemini-api/docs/models
    ("gemini-2.5-pro", 1_048_576),
    ("gemini-2.5-flash", 1_048_576),
    ("gemini-2.5-flash-image", 32_768),
];

/// Returns the number of input tokens of a model; `None` for an unknown model. A gateway's prefix
/// `vendor/` is ignored.
pub fn context_tokens(model: &str) -> Option<u64> {
    let name = model.rsplit('/').next().unwrap_or(model);
    let known = CONTEXT_SIZES.iter().filter(|(start, _)| name.starts_with(start));
    known.max_by_key(|(start, _)| start.len()).map(|(_, size)| *size)
}

#[cfg(test)]
mod tests {
    use super::context_tokens;

    #[test]
    fn longest_matching_prefix_applies() {
        for (model, expected) in [
            ("claude-sonnet-4-20250514", Some(200_000)),
            ("openai/gpt-4.1-mini", Some(1_047_576)),
            ("gpt-4o-mini", Some(128_000)),
            ("gpt-5-chat-latest", Some(128_000)),
            ("claude-opus-9", None),
            ("gemini-2.5-flash-image", Some(32_768)),
            ("llama-3", None),
            ("", None),
        ] {
            assert_eq!(context_tokens(model), expected, "{model}");
        }
    }
}
