//! Masks the secrets in the parts of a reply.

use contract::{Part, mask_secrets};
use serde_json::Value;
use std::collections::HashMap;

/// Returns the parts with masked secrets. The deltas of a text or of arguments in which something
/// was masked become one delta with the masked text.
pub(crate) fn masked_parts(parts: Vec<Part>) -> Vec<Part> {
    let mut texts: HashMap<String, String> = HashMap::new();
    for part in &parts {
        if let Some((key, delta)) = delta(part) {
            texts.entry(key).or_default().push_str(delta);
        }
    }
    let mut masked: HashMap<String, String> =
        texts.into_iter().filter_map(|(key, text)| Some((key, masked_text(&text)?))).collect();
    let mut done: Vec<String> = Vec::new();
    let mut kept = Vec::with_capacity(parts.len());
    for part in parts {
        let Some((key, _)) = delta(&part) else {
            kept.push(masked_part(part));
            continue;
        };
        match masked.remove(&key) {
            Some(text) => {
                kept.push(with_delta(part, text));
                done.push(key);
            }
            None if done.contains(&key) => {}
            None => kept.push(part),
        }
    }
    kept
}

/// Returns the text in which something was masked; `None` if there is nothing to mask.
fn masked_text(text: &str) -> Option<String> {
    match mask_secrets(&Value::from(text)) {
        Value::String(masked) if masked != text => Some(masked),
        _ => None,
    }
}

/// Returns the text to which a delta belongs, and the delta.
fn delta(part: &Part) -> Option<(String, &str)> {
    match part {
        Part::TextDelta { id, delta } => Some((format!("text {id}"), delta)),
        Part::ReasoningDelta { id, delta, .. } => Some((format!("reasoning {id}"), delta)),
        Part::ToolInputDelta { id, delta } => Some((format!("input {id}"), delta)),
        _ => None,
    }
}

fn with_delta(part: Part, delta: String) -> Part {
    match part {
        Part::TextDelta { id, .. } => Part::TextDelta { id, delta },
        Part::ReasoningDelta { id, metadata, .. } => Part::ReasoningDelta { id, delta, metadata },
        Part::ToolInputDelta { id, .. } => Part::ToolInputDelta { id, delta },
        other => other,
    }
}

fn masked_part(part: Part) -> Part {
    match part {
        Part::ToolCall { id, name, input, provider_executed, metadata } => {
            let input = masked_text(&input).unwrap_or(input);
            Part::ToolCall { id, name, input, provider_executed, metadata }
        }
        Part::ToolResult { id, name, output, is_error, metadata } => {
            Part::ToolResult { id, name, output: mask_secrets(&output), is_error, metadata }
        }
        Part::ProviderItem { provider, item, shown_as } => {
            Part::ProviderItem { provider, item: mask_secrets(&item), shown_as }
        }
        other => other,
    }
}
