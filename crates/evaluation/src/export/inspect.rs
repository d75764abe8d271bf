//! Datasets of Inspect AI: JSON Lines that its `json_dataset` reads.

use super::Exported;
use crate::case::Case;
use serde_json::{Value, json};

/// The values of a case that can be its target, the first that it has: what an answer must contain, or a reference.
const TARGETS: [&str; 3] = ["/expected/says", "/expected/reference", "/expected"];

/// Exports cases as samples. The target of a sample is what the answer must contain, if the case says so; everything else
/// that the case expects is in the metadata.
pub fn export_inspect_ai(cases: &[Case]) -> Exported {
    let mut notes = Vec::new();
    let lines: String = cases.iter().map(|case| format!("{}\n", sample(case, &mut notes))).collect();
    Exported::new(lines, notes)
}

fn sample(case: &Case, notes: &mut Vec<String>) -> Value {
    let value = case.to_value();
    let input = match case.input.as_slice() {
        [text] => json!(text),
        texts => texts.iter().map(|text| json!({ "role": "user", "content": text })).collect(),
    };
    if !case.scorers.is_empty() {
        notes.push(format!("the scorers of the case `{}` are left out: scorers are Python in Inspect AI", case.id));
    }
    let target = TARGETS.iter().filter_map(|path| value.pointer(path)).find_map(texts);
    let mut metadata = case.metadata.clone();
    for key in ["expected", "tags", "split"] {
        if !value[key].is_null() && value[key] != json!([]) {
            metadata.insert(key.to_owned(), value[key].clone());
        }
    }
    if let Some(rated) = &case.rated {
        metadata.insert("rated".to_owned(), json!(rated));
    }
    if case.must {
        notes.push(format!("`must` of the case `{}` is only metadata: to Inspect AI, all samples are equal", case.id));
        metadata.insert("must".to_owned(), json!(true));
    }
    json!({ "id": case.id, "input": input, "target": target.unwrap_or_else(|| json!("")), "metadata": metadata })
}

/// Returns a value that is a text, or a list of texts.
fn texts(value: &Value) -> Option<Value> {
    let is_target = match value {
        Value::String(_) => true,
        Value::Array(items) => !items.is_empty() && items.iter().all(Value::is_string),
        _ => false,
    };
    is_target.then(|| value.clone())
}
