//! Datasets of Inspect AI: JSON Lines with `input`, `target`, `id` and `metadata`.

use super::{Imported, set_metadata};
use crate::dataset::MAX_CASES;
use crate::document::{problem_of_file, problem_of_line};
use config::{Diagnostic, Severity};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The most notes.
const MAX_NOTES: usize = 500;

/// A sample. Other keys are said to be left out.
#[derive(Deserialize)]
struct Sample {
    input: Input,
    #[serde(default)]
    target: Value,
    #[serde(default)]
    id: Value,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`input` is a text or a list of messages")]
enum Input {
    Text(String),
    Messages(Vec<Message>),
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: Value,
}

/// Imports a dataset. Its targets are what the answer must contain, as with Inspect's scorer `includes`.
///
/// # Errors
/// The lines that are no samples.
pub fn inspect_ai(file: &str, text: &str, agent_id: &str) -> Result<Imported, Vec<Diagnostic>> {
    let (mut cases, mut notes, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    let mut has_targets = false;
    for (line, number) in text.lines().zip(1_usize..).filter(|(line, _)| !line.trim().is_empty()) {
        let sample: Sample = match serde_json::from_str(line) {
            Ok(sample) => sample,
            Err(error) => {
                problems.push(problem_of_line(file, (number, error.column().max(1)), error.to_string()));
                continue;
            }
        };
        let mut note = |message: String| {
            let note = problem_of_line(file, (number, 1), message);
            notes.push(Diagnostic { severity: Severity::Warning, ..note });
        };
        for key in sample.others.keys() {
            note(format!("`{key}` is left out"));
        }
        let input: Vec<String> = match sample.input {
            Input::Text(text) => vec![text],
            Input::Messages(messages) => {
                let texts = messages.into_iter().filter_map(|message| match (message.role.as_str(), message.content) {
                    ("user", Value::String(text)) => Some(text),
                    (role, _) => {
                        note(format!("a message of the role `{role}` is left out; only texts of the user are sent"));
                        None
                    }
                });
                texts.collect()
            }
        };
        if input.is_empty() {
            problems.push(problem_of_line(file, (number, 1), "the sample has no text of the user"));
            continue;
        }
        let id = match sample.id {
            Value::String(id) => id,
            Value::Number(id) => id.to_string(),
            _ => number.to_string(),
        };
        let mut case = json!({ "id": id, "input": input });
        if !sample.target.is_null() && sample.target != "" {
            has_targets = true;
            case["expected"] = sample.target;
        }
        if let Some(metadata) = sample.metadata {
            set_metadata(&mut case, metadata);
        }
        cases.push(case);
    }
    problems.truncate(MAX_NOTES);
    notes.truncate(MAX_NOTES);
    if cases.is_empty() || cases.len() > MAX_CASES {
        problems.push(problem_of_file(file, format!("a dataset has 1 to {MAX_CASES} samples")));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    // The answer passes if it includes one of the targets.
    let scorer = json!({ "id": "includes", "contains": { "any": { "_case": "expected" } } });
    let scorers = if has_targets { vec![scorer] } else { Vec::new() };
    Ok(Imported::new("inspect", agent_id, &scorers, &cases, notes))
}
