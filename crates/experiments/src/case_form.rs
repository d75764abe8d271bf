//! A case as the fields of a form, and back.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The line between two messages of a case in its field.
const SEPARATOR: &str = "---";

/// The fields of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct CaseForm {
    pub(crate) id: String,
    /// The messages of the user, with lines `---` between them.
    pub(crate) input: String,
    /// A text in each line.
    pub(crate) says: String,
    /// A text in each line.
    pub(crate) avoids: String,
    /// The names of tools, separated by commas.
    pub(crate) tools: String,
    pub(crate) rubric: String,
    pub(crate) split: String,
    /// Separated by commas.
    pub(crate) tags: String,
    /// `1` if the case must pass.
    pub(crate) must: String,
}

impl CaseForm {
    /// Returns the fields of a case.
    pub(crate) fn of_case(content: &Value) -> Self {
        let expected = &content["expected"];
        Self {
            id: text(&content["id"]),
            input: texts(&content["input"]).join(&format!("\n{SEPARATOR}\n")),
            says: texts(&expected["says"]).join("\n"),
            avoids: texts(&expected["avoids"]).join("\n"),
            tools: tool_names(&expected["tools"]),
            rubric: text(&expected["rubric"]),
            split: text(&content["split"]),
            tags: texts(&content["tags"]).join(", "),
            must: if content["must"] == Value::Bool(true) { "1".to_owned() } else { String::new() },
        }
    }

    /// Returns the case. `known` is the case before, whose values without a field stay.
    pub(crate) fn case(&self, known: Option<&Value>) -> Value {
        let mut case = known.and_then(Value::as_object).cloned().unwrap_or_default();
        let mut expected = case.get("expected").and_then(Value::as_object).cloned().unwrap_or_default();
        let before = known.map(Self::of_case).unwrap_or_default();
        case.insert("id".to_owned(), self.id.trim().into());
        let input = messages(&self.input);
        if input != messages(&before.input) {
            // The rated answer was an answer to something else.
            case.remove("rated");
        }
        case.insert("input".to_owned(), input.into());
        set(&mut expected, "says", lines(&self.says).into());
        set(&mut expected, "avoids", lines(&self.avoids).into());
        // Calls with arguments have no field, and stay while the names are the same.
        if self.tools.trim() != before.tools {
            set(&mut expected, "tools", list(&self.tools).into());
        }
        set(&mut expected, "rubric", self.rubric.trim().into());
        set(&mut case, "expected", Value::Object(expected));
        set(&mut case, "split", self.split.trim().into());
        set(&mut case, "tags", list(&self.tags).into());
        match self.must.as_str() {
            "1" => case.insert("must".to_owned(), json!(true)),
            _ => case.remove("must"),
        };
        Value::Object(case)
    }
}

/// Sets a value; an empty one is removed.
fn set(fields: &mut Map<String, Value>, key: &str, value: Value) {
    let is_empty = match &value {
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    if is_empty {
        fields.remove(key)
    } else {
        fields.insert(key.to_owned(), value)
    };
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns a text, or a list of texts, as a list.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().map(text).collect(),
        _ => Vec::new(),
    }
}

/// Returns the names of expected calls, which are names or objects.
fn tool_names(value: &Value) -> String {
    let name = |item: &Value| text(item.get("name").unwrap_or(item));
    let names: Vec<_> = value.as_array().into_iter().flatten().map(name).collect();
    names.join(", ")
}

fn messages(field: &str) -> Vec<String> {
    let field = field.replace("\r\n", "\n");
    let mut messages = vec![Vec::new()];
    for line in field.lines() {
        match (line.trim() == SEPARATOR, messages.last_mut()) {
            (false, Some(message)) => message.push(line),
            _ => messages.push(Vec::new()),
        }
    }
    let messages = messages.into_iter().map(|lines| lines.join("\n").trim().to_owned());
    messages.filter(|message| !message.is_empty()).collect()
}

fn lines(field: &str) -> Vec<String> {
    field.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn list(field: &str) -> Vec<String> {
    field.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_keep_what_has_no_field() {
        let check = |case: Value, change: fn(&mut CaseForm), expected: Value| {
            let mut form = CaseForm::of_case(&case);
            change(&mut form);
            assert_eq!(form.case(Some(&case)), expected);
        };
        let full = json!({
            "id": "a", "input": ["one\ntwo", "three"], "metadata": { "x": 1 }, "must": true, "split": "test", "tags": ["t"],
            "expected": { "says": ["30 days"], "tools": [{ "name": "search", "arguments": { "q": 1 } }], "reference": "r" },
            "rated": { "answer": "r", "liked": true },
        });
        check(full.clone(), |_| {}, full);
        check(
            json!({
                "id": "a", "input": "one", "must": true, "expected": { "says": "x", "tools": [{ "name": "search" }] },
                "rated": { "answer": "r", "liked": true },
            }),
            |form| {
                form.input = "one\r\n---\r\ntwo\r\n".to_owned();
                form.says = String::new();
                form.tools = "search, send".to_owned();
                form.must = String::new();
                form.rubric = " Kind. ".to_owned();
            },
            json!({ "id": "a", "input": ["one", "two"], "expected": { "tools": ["search", "send"], "rubric": "Kind." } }),
        );
    }

    #[test]
    fn new_cases_have_only_what_was_filled_in() {
        let form = CaseForm { id: "n".to_owned(), input: "Hello".to_owned(), ..CaseForm::default() };
        assert_eq!(form.case(None), json!({ "id": "n", "input": ["Hello"] }));
    }
}
