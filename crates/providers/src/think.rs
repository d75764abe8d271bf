//! Models that write their thoughts into their text unless they are told not to.

/// Families of models that answer at once when they read `/no_think`. Source: their model cards.
const FAMILIES: [&str; 3] = ["qwen3", "smollm3", "nemotron-nano"];
/// Members of these families that either always or never think, and do not know the word.
const FIXED: [&str; 4] = ["instruct", "thinking", "coder", "qwen3-max"];

/// Whether a model of this name writes its thoughts into its text, and leaves them out when it reads `/no_think`.
pub fn thinks_in_text(model: &str) -> bool {
    let name = model.to_ascii_lowercase();
    FAMILIES.iter().any(|family| name.contains(family)) && !FIXED.iter().any(|fixed| name.contains(fixed))
}

#[cfg(test)]
mod tests {
    use super::thinks_in_text;

    #[test]
    fn models_that_know_the_word() {
        let check = |model: &str, expected: bool| assert_eq!(thinks_in_text(model), expected, "{model}");
        check("qwen3:8b", true);
        check("Qwen/Qwen3-32B", true);
        check("Qwen/Qwen3-30B-A3B-Instruct-2507", false);
        check("qwen3-coder", false);
        check("HuggingFaceTB/SmolLM3-3B", true);
        check("qwen2.5-7b-instruct", false);
        check("gpt-5", false);
    }
}
