//! The YAML of promptfoo: `prompts`, `tests` with `vars` and `assert`, and `defaultTest`.

use super::{Imported, set_metadata};
use crate::dataset::MAX_CASES;
use crate::document::Document;
use config::{Diagnostic, Severity, ValueProblem, problems_in_yaml, read_yaml};
use serde_json::{Map, Value, json};
use std::cell::Cell;

/// The agent that judges, as the imported evaluation names it.
const JUDGE: &str = "judge";
/// The most bytes of all tests with their variables and the assertions of `defaultTest`, which are in each of them.
const MAX_RENDERED: usize = 64 << 20;
/// The bytes that a test or an assertion counts beside its texts.
const ENTRY: usize = 64;
/// The variables that are the user's message if the prompt is not a text of this file.
const INPUTS: [&str; 5] = ["input", "question", "query", "prompt", "message"];

/// Imports the tests of a promptfoo config.
///
/// # Errors
/// The text is not YAML, or has no tests.
pub fn promptfoo(file: &str, text: &str, agent_id: &str) -> Result<Imported, Vec<Diagnostic>> {
    let document = Document { file, text };
    let value = read_yaml(file, text)?;
    let refused = |path: &str, message: &str| Err(document.problems(vec![(path.to_owned(), message.to_owned())]));
    let Some(tests) = value["tests"].as_array() else {
        return refused("/tests", "`tests` is not a list of tests in this file; other files and programs are not read");
    };
    if tests.is_empty() || tests.len() > MAX_CASES {
        return refused("/tests", "there are no tests, or too many");
    }
    let mut import = Import { notes: Vec::new(), left: Cell::new(MAX_RENDERED) };
    import.note_other_keys(&value, "", &["description", "prompts", "providers", "tests", "defaultTest"]);
    let prompt = import.prompt(&value["prompts"]);
    let defaults = &value["defaultTest"];
    import.note_other_keys(defaults, "/defaultTest", &["vars", "assert"]);
    let default_size = defaults["vars"].to_string().len();
    let mut cases = Vec::new();
    for (index, test) in tests.iter().enumerate() {
        let is_within = import.spend(default_size + test["vars"].to_string().len());
        cases.extend(is_within.then(|| import.case(index, test, defaults, prompt)).flatten());
        if import.left.get() == 0 {
            return refused(
                "/tests",
                "the tests are larger than 64 MB together with their variables and `defaultTest`",
            );
        }
    }
    let name = value["description"].as_str().filter(|name| !name.trim().is_empty()).unwrap_or("promptfoo");
    // Notes on `defaultTest` are written again with each test.
    import.notes.sort_by(|one, other| (&one.path, &one.message).cmp(&(&other.path, &other.message)));
    import.notes.dedup();
    let problems = problems_in_yaml(file, text, import.notes);
    let notes = problems.into_iter().map(|note| Diagnostic { severity: Severity::Warning, ..note }).collect();
    if cases.is_empty() {
        return Err(notes);
    }
    Ok(Imported::new(name, agent_id, &[], &cases, notes))
}

/// The notes of an import, and its bound.
struct Import {
    notes: Vec<ValueProblem>,
    /// How many bytes may still be made of the tests; 0 ends the import.
    left: Cell<usize>,
}

impl Import {
    fn note(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.notes.push(ValueProblem { path: path.into(), message: message.into(), help: None });
    }

    /// Counts bytes that are made. Returns `false` if they are too many.
    fn spend(&self, bytes: usize) -> bool {
        self.left.set(self.left.get().saturating_sub(bytes + ENTRY));
        self.left.get() > 0
    }

    /// Replaces `{{ name }}` by the variables. Unknown names stay as they are.
    ///
    /// # Errors
    /// The text is too large.
    fn rendered(&self, template: &str, vars: &Map<String, Value>) -> Result<String, String> {
        let text = rendered(template, vars, self.left.get());
        self.spend(text.as_ref().map_or(MAX_RENDERED, String::len));
        text.ok_or_else(|| "left out: the text with its variables is too large".to_owned())
    }

    /// Says which keys of a mapping are left out.
    fn note_other_keys(&mut self, value: &Value, path: &str, known: &[&str]) {
        for key in value.as_object().into_iter().flat_map(Map::keys).filter(|key| !known.contains(&key.as_str())) {
            self.note(format!("{path}/{key}"), format!("`{key}` is left out"));
        }
    }

    /// Returns the template of the user's message; `None` if a variable is the message.
    fn prompt<'v>(&mut self, prompts: &'v Value) -> Option<&'v str> {
        let prompts = prompts.as_array().map_or(std::slice::from_ref(prompts), Vec::as_slice);
        if prompts.len() > 1 {
            self.note("/prompts/1", "only the first prompt is taken over; compare configs instead of prompts");
        }
        let first = prompts.first()?.as_str()?;
        if first.starts_with("file://") || first.contains("{%") {
            self.note("/prompts/0", "the prompt is a file or has statements; the message is the variable `input`, `question`, `query`, `prompt` or `message`");
            return None;
        }
        Some(first)
    }

    fn case(&mut self, index: usize, test: &Value, defaults: &Value, prompt: Option<&str>) -> Option<Value> {
        let path = format!("/tests/{index}");
        let Some(entries) = test.as_object() else {
            self.note(path, "the test is left out: it is not a mapping in this file");
            return None;
        };
        self.note_other_keys(test, &path, &["description", "vars", "assert", "metadata"]);
        let mut vars = defaults["vars"].as_object().cloned().unwrap_or_default();
        vars.extend(test["vars"].as_object().cloned().unwrap_or_default());
        let named = || INPUTS.iter().find_map(|name| vars.get(*name)).and_then(Value::as_str).map(str::to_owned);
        let input = match prompt {
            Some(prompt) => self.rendered(prompt, &vars).unwrap_or_default(),
            None => named().unwrap_or_default(),
        };
        if input.trim().is_empty() || input.contains("{{") {
            self.note(path, "the test is left out: its message cannot be made of its variables");
            return None;
        }
        let mut scorers = Vec::new();
        let asserted =
            [(&test["assert"], format!("{path}/assert")), (&defaults["assert"], "/defaultTest/assert".to_owned())];
        for (list, list_path) in asserted {
            for (number, assertion) in list.as_array().into_iter().flatten().enumerate() {
                if !self.spend(assertion.to_string().len()) {
                    return None;
                }
                let path = format!("{list_path}/{number}");
                let id = format!("{}-{}", scorers.len() + 1, assertion["type"].as_str().unwrap_or("unknown"));
                match scorer(self, assertion, &vars) {
                    Ok(Value::Object(mut kind)) => {
                        self.note_other_keys(assertion, &path, &["type", "value", "threshold"]);
                        kind.insert("id".to_owned(), json!(id));
                        scorers.push(Value::Object(kind));
                    }
                    Ok(_) => {}
                    Err(message) => self.note(path, message),
                }
            }
        }
        if scorers.is_empty() {
            // An evaluation refuses a case that nothing scores.
            self.note(path, "the test is left out: it has no assertion for which there is a scorer");
            return None;
        }
        let mut case = json!({ "id": format!("test-{}", index + 1), "input": input, "scorers": scorers });
        let mut metadata = test["metadata"].as_object().cloned().unwrap_or_default();
        if let Some(description) = entries.get("description").and_then(Value::as_str) {
            metadata.insert("description".to_owned(), json!(description));
        }
        set_metadata(&mut case, metadata);
        Some(case)
    }
}

/// Converts an assertion to a scorer.
///
/// # Errors
/// Why it is left out.
fn scorer(import: &Import, assertion: &Value, vars: &Map<String, Value>) -> Result<Value, String> {
    let kind = assertion["type"].as_str().ok_or("the assertion is left out: it has no `type`")?;
    let left_out = || format!("the assertion is left out: there is no scorer like `{kind}`");
    let (is_not, plain) = kind.strip_prefix("not-").map_or((false, kind), |plain| (true, plain));
    let value = || match &assertion["value"] {
        Value::String(text) if text.starts_with("file://") => {
            Err("the assertion is left out: its value is a file".to_owned())
        }
        Value::String(text) => import.rendered(text, vars),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(format!("the assertion is left out: the value of `{kind}` is not a text")),
    };
    let values = || match &assertion["value"] {
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(|text| import.rendered(text, vars)).collect(),
        Value::String(text) => {
            text.split(',').map(|text| import.rendered(text.trim(), vars)).collect::<Result<Vec<_>, _>>()
        }
        _ => Err(format!("the assertion is left out: the value of `{kind}` is not a list of texts")),
    };
    let contains = |key: &str, texts: Vec<String>| {
        let ignore_case = plain.starts_with('i');
        json!({ "contains": { key: texts, "ignoreCase": ignore_case } })
    };
    let threshold =
        || assertion["threshold"].as_f64().ok_or(format!("the assertion is left out: `{kind}` has no `threshold`"));
    Ok(match (plain, is_not) {
        ("equals", false) => match &assertion["value"] {
            Value::Object(_) | Value::Array(_) => json!({ "jsonPath": { "path": "$", "equals": assertion["value"] } }),
            _ => json!({ "exact": { "value": value()? } }),
        },
        ("contains" | "icontains", false) => contains("all", vec![value()?]),
        ("contains" | "icontains", true) => contains("none", vec![value()?]),
        ("contains-all" | "icontains-all", false) => contains("all", values()?),
        ("contains-any" | "icontains-any", false) => contains("any", values()?),
        ("contains-any" | "icontains-any", true) => contains("none", values()?),
        ("regex", _) => json!({ "regex": { "pattern": value()?, "matches": !is_not } }),
        ("starts-with", _) => {
            let pattern = format!("^{}", regex_syntax::escape(&value()?));
            json!({ "regex": { "pattern": pattern, "matches": !is_not } })
        }
        ("is-json", false) => match &assertion["value"] {
            schema @ Value::Object(_) => json!({ "schema": schema }),
            Value::Null => json!({ "schema": {} }),
            _ => return Err(left_out()),
        },
        ("cost", false) => json!({ "cost": { "maxUsd": threshold()? } }),
        ("latency", false) => json!({ "time": { "maxSeconds": threshold()? / 1_000.0 } }),
        ("llm-rubric", false) => json!({ "judge": { "agentId": JUDGE, "rubric": value()? } }),
        _ => return Err(left_out()),
    })
}

/// Replaces `{{ name }}` by the variables; `None` if the text becomes longer than `max` bytes.
fn rendered(template: &str, vars: &Map<String, Value>, max: usize) -> Option<String> {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        let Some((name, behind)) = after.split_once("}}") else {
            rest = &rest[before.len()..];
            break;
        };
        match vars.get(name.trim()) {
            Some(Value::String(value)) => text.push_str(value),
            Some(value) if !value.is_null() => text.push_str(&value.to_string()),
            _ => text.push_str(&format!("{{{{{name}}}}}")),
        }
        if text.len() > max {
            return None;
        }
        rest = behind;
    }
    text.push_str(rest);
    (text.len() <= max).then_some(text)
}
