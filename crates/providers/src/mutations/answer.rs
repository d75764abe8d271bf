//! A decoded reply, reduced to what the user and the loop see.

use contract::{FinishReason, Part};
use serde_json::Value;

/// The content of a reply, without data that only its provider reads.
#[derive(Debug, PartialEq)]
pub(super) struct DecodedReply {
    text: String,
    reasoning: String,
    /// The calls for the caller to run.
    calls: Vec<String>,
    reason: FinishReason,
}

impl DecodedReply {
    /// Collects the content of a complete reply, or returns what is wrong with the order of its
    /// parts.
    pub(super) fn from_parts(parts: &[Part]) -> Result<Self, String> {
        let (mut open, mut begun): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        let mut answer =
            Self { text: String::new(), reasoning: String::new(), calls: Vec::new(), reason: FinishReason::Other };
        // Whether a call or a result shows the content of the next item.
        let mut is_shown = false;
        for (at, part) in parts.iter().enumerate() {
            is_shown |= matches!(part, Part::ToolCall { .. } | Part::ToolResult { .. });
            match part {
                Part::ProviderItem { item, shown_as, .. }
                    if !std::mem::take(&mut is_shown) && shown_as.is_none() && !is_signature(item) =>
                {
                    return Err(format!("nobody sees {item}"));
                }
                Part::TextStart { id } | Part::ReasoningStart { id, .. } if open.contains(&id.as_str()) => {
                    return Err(format!("{id} begins twice"));
                }
                Part::TextStart { id } | Part::ReasoningStart { id, .. } => open.push(id),
                Part::TextDelta { id, .. } | Part::ReasoningDelta { id, .. } if !open.contains(&id.as_str()) => {
                    return Err(format!("{id} grows without having begun"));
                }
                Part::TextDelta { delta, .. } => answer.text += delta,
                Part::ReasoningDelta { delta, .. } => answer.reasoning += delta,
                Part::TextEnd { id, .. } | Part::ReasoningEnd { id, .. } => {
                    let known = open.iter().rposition(|known| known == id);
                    open.remove(known.ok_or_else(|| format!("{id} ends without having begun"))?);
                }
                Part::ToolInputStart { id, .. } => begun.push(id),
                Part::ToolInputDelta { id, .. } if !begun.contains(&id.as_str()) => {
                    return Err(format!("the arguments of {id} grow before its call has begun"));
                }
                Part::ToolCall { name, input, provider_executed: false, .. } => {
                    answer.calls.push(format!("{name} {input}"));
                }
                Part::Finish { reason, .. } if at + 1 == parts.len() => answer.reason = *reason,
                Part::Finish { .. } => return Err("something comes behind the end".to_owned()),
                _ => {}
            }
        }
        match parts.last() {
            Some(Part::Finish { .. }) if open.is_empty() => {
                // A call that is taken from the end of a reply comes after the others.
                answer.calls.sort_unstable();
                Ok(answer)
            }
            Some(Part::Finish { .. }) => Err(format!("{open:?} do not end")),
            _ => Err("there is no end".to_owned()),
        }
    }
}

/// Returns whether one of Gemini's parts only signs another.
fn is_signature(part: &Value) -> bool {
    part.as_object().is_some_and(|part| part.keys().all(|key| matches!(key.as_str(), "thought" | "thoughtSignature")))
}
