//! How much well-known models can read at once. Providers sell larger contexts for some; the config's own word goes before these.

/// By the beginning of a model's name: tokens of input and output together. A longer beginning goes before a shorter one.
const SIZES: &[(&str, u64)] = &[
    // https://docs.claude.com/en/docs/about-claude/models/overview
    ("claude-", 200_000),
    // https://platform.openai.com/docs/models
    ("gpt-5", 400_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("o3", 200_000),
    ("o4-mini", 200_000),
    // https://ai.google.dev/gemini-api/docs/models
    ("gemini-2.5", 1_048_576),
    ("gemini-3", 1_048_576),
];

/// How many tokens a model can read at once; none for one that is not known. A gateway's `vendor/` in front of the name does not matter.
pub fn context_tokens(model: &str) -> Option<u64> {
    let name = model.rsplit('/').next().unwrap_or(model);
    let known = SIZES.iter().filter(|(start, _)| name.starts_with(start));
    known.max_by_key(|(start, _)| start.len()).map(|(_, size)| *size)
}

#[cfg(test)]
mod tests {
    use super::context_tokens;

    #[test]
    fn sizes_by_the_beginning_of_the_name() {
        for (model, expected) in [
            ("claude-sonnet-4-20250514", Some(200_000)),
            ("openai/gpt-4.1-mini", Some(1_047_576)),
            ("gpt-4o-mini", Some(128_000)),
            ("llama-3", None),
            ("", None),
        ] {
            assert_eq!(context_tokens(model), expected, "{model}");
        }
    }
}
