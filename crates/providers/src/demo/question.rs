//! Asks the user questions and reports the answers.

use serde_json::{Value, json};

/// Returns a question with options, or with a form.
pub(crate) fn input(form: bool) -> Value {
    if form {
        json!({
            "kind": "missing_info",
            "question": "Where shall the sample be sent?",
            "context": "It is only a demo: nothing leaves this server.",
            "fields": [
                { "key": "name", "label": "Name", "type": "text", "required": true },
                { "key": "boxes", "label": "Boxes", "type": "number" },
                { "key": "size", "label": "Size", "type": "choice", "options": ["Small", "Large"] },
                { "key": "day", "label": "Not before", "type": "date" },
                { "key": "gift", "label": "It is a gift", "type": "boolean" },
            ],
        })
    } else {
        json!({
            "kind": "approach_choice",
            "question": "How shall I explain a run to you?",
            "context": "A run is what writes an answer.",
            "options": ["In one sentence", "With an example", "Not at all"],
        })
    }
}

/// Describes the answer.
pub(crate) fn report(answer: &Value) -> String {
    let mut sentences = Vec::new();
    if let Some(option) = answer["option"].as_str() {
        sentences.push(format!("You chose *{option}*."));
    }
    if let Some(text) = answer["text"].as_str() {
        sentences.push(format!("You wrote: “{text}”"));
    }
    let fields = answer["fields"].as_object().into_iter().flatten();
    let fields: Vec<_> = fields
        .map(|(key, value)| format!("- {key}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        .collect();
    if !fields.is_empty() {
        sentences.push(format!("You gave me this:\n\n{}", fields.join("\n")));
    }
    sentences.push("Thank you, now I can continue.".to_owned());
    sentences.join("\n\n")
}
