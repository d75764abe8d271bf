//! Imports evaluations of other tools. Values that cannot be imported are reported with their position.

mod inspect;
mod promptfoo;

pub use inspect::inspect_ai;
pub use promptfoo::promptfoo;

use crate::case::Rated;
use config::{Diagnostic, to_yaml};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The name of the dataset that an import writes.
const CASES: &str = "cases.jsonl";

/// An imported evaluation.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The text of `evaluation.yaml`.
    pub evaluation: String,
    /// The text of `cases.jsonl`.
    pub cases: String,
    /// The number of cases.
    pub count: usize,
    /// Notes on values that were left out, each with its position.
    pub notes: Vec<Diagnostic>,
}

/// Puts the metadata into a case. The rated answer, which our export has put there, becomes a key of the case again.
fn set_metadata(case: &mut Value, mut metadata: Map<String, Value>) {
    let rated = metadata.get("rated").filter(|rated| Rated::deserialize(*rated).is_ok()).cloned();
    if let Some(rated) = rated {
        metadata.shift_remove("rated");
        case["rated"] = rated;
    }
    if !metadata.is_empty() {
        case["metadata"] = Value::Object(metadata);
    }
}

impl Imported {
    fn new(name: &str, agent_id: &str, scorers: &[Value], cases: &[Value], notes: Vec<Diagnostic>) -> Self {
        let mut evaluation = Map::new();
        evaluation.insert("name".to_owned(), json!(name));
        evaluation.insert("agentId".to_owned(), json!(agent_id));
        evaluation.insert("dataset".to_owned(), json!(CASES));
        if !scorers.is_empty() {
            evaluation.insert("scorers".to_owned(), json!(scorers));
        }
        let evaluation = to_yaml(&Value::Object(evaluation));
        let lines = cases.iter().map(|case| format!("{case}\n"));
        Self { evaluation, cases: lines.collect(), count: cases.len(), notes }
    }
}
