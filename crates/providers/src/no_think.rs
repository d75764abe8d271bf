//! Recognizes models that write their reasoning into their text unless the prompt contains
//! `/no_think`.

/// Model families that skip their reasoning if the prompt contains `/no_think`. Source: their model
/// cards.
const FAMILIES: [&str; 3] = ["qwen3", "smollm3", "nemotron-nano"];
/// Variants of these families that always or never reason and do not support `/no_think`.
const FIXED_VARIANTS: [&str; 4] = ["instruct", "thinking", "coder", "qwen3-max"];

/// Returns whether a model of this name writes its reasoning into its text, and omits it if the
/// prompt contains `/no_think`.
pub fn supports_no_think(model: &str) -> bool {
    let name = model.to_ascii_lowercase();
    FAMILIES.iter().any(|family| name.contains(family)) && !FIXED_VARIANTS.iter().any(|fixed| name.contains(fixed))
}

#[cfg(test)]
mod tests {
    use super::supports_no_think;

    #[test]
    fn support_depends_on_the_model_name() {
        let check = |model: &str, expected: bool| assert_eq!(supports_no_think(model), expected, "{model}");
        check("qwen3:8b", true);
        check("Qwen/Qwen3-32B", true);
        check("Qwen/Qwen3-30B-A3B-Instruct-2507", false);
        check("qwen3-coder", false);
        check("HuggingFaceTB/SmolLM3-3B", true);
        check("qwen2.5-7b-instruct", false);
        check("gpt-5", false);
    }
}
