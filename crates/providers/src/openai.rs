//! The parameters that OpenAI's models accept, by model name, for both of its APIs. Models of other
//! vendors, and names with a gateway's prefix, count as accepting everything. Source: OpenAI's
//! model guides, and the AI SDK's model catalog.

/// Parses a GPT model's version (`5.1` is 5, 1) and returns it with the rest of the name.
fn gpt_version(model: &str) -> Option<(u32, u32, &str)> {
    let rest = model.strip_prefix("gpt-")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (number, variant) = rest.split_at(end);
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?, variant))
}

/// Returns whether it is a reasoning model.
pub(crate) fn is_reasoning_model(model: &str) -> bool {
    let is_o = model.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_gpt = gpt_version(model).is_some_and(|(major, minor, variant)| {
        // The chat variant of the first GPT-5 is not a reasoning model.
        major >= 5 && !(major == 5 && minor == 0 && variant.starts_with("-chat"))
    });
    is_o || is_gpt || model.starts_with("codex")
}

/// Returns whether the model accepts sampling parameters such as the temperature. Reasoning models
/// do not, except for those whose reasoning can be switched off.
pub(crate) fn accepts_sampling(model: &str, effort: Option<&str>) -> bool {
    let can_disable_reasoning = gpt_version(model).is_some_and(|(major, minor, _)| major == 5 && minor >= 1);
    !is_reasoning_model(model) || (can_disable_reasoning && effort == Some("none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_name_determines_reasoning_and_sampling() {
        let check = |model: &str, is_reasoning, samples_without_reasoning| {
            assert_eq!(
                (is_reasoning_model(model), accepts_sampling(model, Some("none"))),
                (is_reasoning, samples_without_reasoning),
                "{model}"
            );
            assert_eq!(accepts_sampling(model, None), !is_reasoning, "{model}");
        };
        check("gpt-4o", false, true);
        check("gpt-4.1-mini", false, true);
        check("gpt-5-chat-latest", false, true);
        check("gpt-5-nano", true, false);
        check("gpt-5.1", true, true);
        check("gpt-5.2-chat-latest", true, true);
        check("gpt-6", true, false);
        check("o3-mini", true, false);
        check("codex-mini-latest", true, false);
        check("llama-3", false, true);
        check("openai/gpt-5", false, true);
        check("gpt-oss-120b", false, true);
    }
}
