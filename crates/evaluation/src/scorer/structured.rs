//! Scorers of structured answers: texts that are JSON.

use super::verdict::{Checked, Scored, Verdict};
use crate::case_value::CaseValue;
use schemas::Schema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json_path::JsonPath;
use wire::text::shortened;

/// The most problems of a value that are reported.
const MAX_FAULTS: usize = 5;
/// How much of a value is repeated in a reason.
const SHOWN: usize = 200;
/// The longest path in characters.
const MAX_PATH: usize = 1_000;

/// Reads an answer as JSON, with or without a code fence around it.
fn json(text: &str) -> Result<Value, String> {
    let text = text.trim();
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    let text = inner.and_then(|inner| inner.strip_suffix("```")).unwrap_or(text);
    serde_json::from_str(text).map_err(|error| format!("the answer is not JSON: {error}"))
}

/// The answer is JSON that is valid for a schema.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub(crate) struct SchemaCheck(pub(crate) Value);

impl SchemaCheck {
    pub(super) async fn check(&self, scored: Scored<'_>) -> Checked {
        let value = json(scored.text)?;
        let schema = Schema::compile_cached(&self.0).await.map_err(|error| error.to_string())?;
        Ok(Some(match schema.check(&value, MAX_FAULTS).await {
            Ok(()) => Verdict::passed(),
            Err(error) => Verdict::failed(error.to_string()),
        }))
    }

    pub(super) fn problem(&self) -> Option<String> {
        Schema::new(&self.0).err().map(|error| error.to_string())
    }
}

/// A check of the values that a JSON path selects in the answer.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct JsonPathCheck {
    path: String,
    /// The only selected value is equal to this.
    equals: Option<CaseValue<Value>>,
    /// The number of selected values. Without `equals` and `count`, at least one must be.
    count: Option<usize>,
}

impl JsonPathCheck {
    pub(super) fn check(&self, scored: Scored<'_>) -> Checked {
        let equals = match &self.equals {
            Some(equals) => match equals.resolve(scored.case)? {
                Some(value) => Some(value),
                None => return Ok(None),
            },
            None => None,
        };
        let value = json(scored.text)?;
        let path = JsonPath::parse(&self.path).map_err(|error| error.to_string())?;
        let found = path.query(&value).all();
        let mut problems = Vec::new();
        if let Some(count) = self.count.filter(|count| *count != found.len()) {
            problems.push(format!("`{}` selects {} values instead of {count}", self.path, found.len()));
        }
        if let Some(equals) = &equals
            && found != [equals]
        {
            let shown: Vec<_> = found.iter().map(|value| shortened(&value.to_string(), SHOWN)).collect();
            let shown = if shown.is_empty() { "nothing".to_owned() } else { shown.join(", ") };
            problems.push(format!(
                "`{}` selects {shown} instead of {}",
                self.path,
                shortened(&equals.to_string(), SHOWN)
            ));
        }
        if equals.is_none() && self.count.is_none() && found.is_empty() {
            problems.push(format!("`{}` selects nothing", self.path));
        }
        Ok(Some(Verdict::without(&problems)))
    }

    pub(super) fn problem(&self) -> Option<String> {
        if self.path.chars().count() > MAX_PATH {
            return Some(format!("the path is longer than {MAX_PATH} characters"));
        }
        JsonPath::parse(&self.path).err().map(|error| format!("the path cannot be read: {error}"))
    }

    pub(super) fn case_paths(&self) -> Vec<(&'static str, &str)> {
        self.equals.as_ref().and_then(CaseValue::path).map(|path| ("/jsonPath/equals", path)).into_iter().collect()
    }
}
