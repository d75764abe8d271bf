//! Suggests what the user may ask next, for requests of the capability `follow_ups`: what this model
//! understands and was not asked yet.

use serde_json::{Value, json};

/// The name of the answer's form.
pub(crate) const FORM: &str = "follow_ups";

/// The requests that the model understands.
const REQUESTS: &[&str] = &[
    "What can you do?",
    "Show me a table and some code.",
    "Count to 20.",
    "Write a long answer.",
    "Ask me a question.",
    "Hello!",
];

/// Returns the answer to a request for suggestions.
pub(crate) fn suggestions(prompt: &str) -> Value {
    let prompt: Value = serde_json::from_str(prompt).unwrap_or_default();
    let said: Vec<_> =
        prompt["messages"].as_array().into_iter().flatten().filter_map(|said| said["text"].as_str()).collect();
    let is_new = |request: &&&str| !said.iter().any(|said| said.eq_ignore_ascii_case(request));
    let count = prompt["count"].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(3);
    json!({ "suggestions": REQUESTS.iter().filter(is_new).take(count).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_is_not_suggested_again() {
        let prompt = json!({ "count": 2, "messages": [{ "role": "user", "text": "what can you do?" }] });
        let expected = json!({ "suggestions": ["Show me a table and some code.", "Count to 20."] });
        assert_eq!(suggestions(&prompt.to_string()), expected);
        assert_eq!(suggestions("")["suggestions"].as_array().map(Vec::len), Some(3));
    }
}
