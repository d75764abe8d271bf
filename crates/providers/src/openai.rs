//! What OpenAI's models take, by their names; the codecs of both its APIs ask. Other vendors' models, and names with a gateway's
//! prefix, count as models that take everything. Source: OpenAI's guides to its models, and the AI SDK's catalog of them.

/// A GPT's generation (`5.1` is 5, 1), and what comes behind it in the name.
fn gpt(model: &str) -> Option<(u32, u32, &str)> {
    let rest = model.strip_prefix("gpt-")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (number, variant) = rest.split_at(end);
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?, variant))
}

/// Whether the model thinks before it answers.
pub(crate) fn thinks(model: &str) -> bool {
    let is_o = model.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_gpt = gpt(model).is_some_and(|(major, minor, variant)| {
        // The first GPT-5 for chats does not think.
        major >= 5 && !(major == 5 && minor == 0 && variant.starts_with("-chat"))
    });
    is_o || is_gpt || model.starts_with("codex")
}

/// Whether the model takes a temperature and its like. One that thinks does not, but for those that can be told not to.
pub(crate) fn samples(model: &str, effort: Option<&str>) -> bool {
    let can_rest = gpt(model).is_some_and(|(major, minor, _)| major == 5 && minor >= 1);
    !thinks(model) || (can_rest && effort == Some("none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models() {
        let check = |model: &str, is_thinking, samples_at_rest| {
            assert_eq!((thinks(model), samples(model, Some("none"))), (is_thinking, samples_at_rest), "{model}");
            assert_eq!(samples(model, None), !is_thinking, "{model}");
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
