//! A question of an agent to its user: the input of the tool `ask-user`, and the user's answer as
//! its output.

mod tool;

pub use tool::{QuestionOutcome, ToolQuestion};

use crate::page::{FieldType, parse_number};
use serde_json::{Map, Value};

/// The name of the tool with which an agent asks its user.
pub const ASK_USER: &str = "ask-user";

/// A question. The server has validated the input against the tool's schema; anything invalid
/// nevertheless is dropped.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The reason for the question.
    pub kind: QuestionKind,
    /// The question's text.
    pub text: String,
    /// Background information for the user; may be empty.
    pub context: String,
    /// Answers to choose from; may be empty.
    pub options: Vec<String>,
    /// Fields of a small form; usually empty.
    pub fields: Vec<QuestionField>,
}

/// The reason for a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionKind {
    /// The agent lacks information.
    MissingInfo,
    /// The request is ambiguous.
    AmbiguousRequirement,
    /// There are several approaches.
    ApproachChoice,
    /// The next action could do harm.
    RiskConfirmation,
    /// The agent has a suggestion that the user may not want.
    Suggestion,
}

/// A form field of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionField {
    /// Its key in the answer.
    pub key: String,
    /// The label for the user.
    pub label: String,
    /// The type: text, number, boolean, one of some options, or date.
    pub field_type: FieldType,
    /// Whether a value is required.
    pub required: bool,
}

/// The user's input so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerDraft {
    /// The index of the chosen option.
    pub option: Option<usize>,
    /// The user's free text.
    pub text: String,
    /// The raw value of each field's control: `true` for yes; an empty string for no value.
    pub fields: Vec<String>,
}

impl Question {
    /// Reads the tool's input.
    pub fn read(input: &Value) -> Self {
        let fields = input.get("fields").and_then(Value::as_array);
        Self {
            kind: QuestionKind::read(text(input, "kind")),
            text: text(input, "question").to_owned(),
            context: text(input, "context").to_owned(),
            options: texts(input, "options"),
            fields: fields.into_iter().flatten().filter_map(QuestionField::read).collect(),
        }
    }

    /// Returns the answer as the tool's output: `{option?, text?, fields?: {key: value}}`.
    ///
    /// # Errors
    /// A message for the user about missing or invalid values.
    pub fn answer(&self, draft: &AnswerDraft) -> Result<Value, String> {
        let mut answer = Map::new();
        if let Some(option) = draft.option.and_then(|at| self.options.get(at)) {
            answer.insert("option".to_owned(), Value::from(option.as_str()));
        }
        let text = draft.text.trim();
        if !text.is_empty() {
            answer.insert("text".to_owned(), Value::from(text));
        }
        if !self.fields.is_empty() {
            let empty = String::new();
            let given = draft.fields.iter().chain(std::iter::repeat(&empty));
            let mut values = Map::new();
            for (field, given) in self.fields.iter().zip(given) {
                values.extend(field.value(given)?.map(|value| (field.key.clone(), value)));
            }
            answer.insert("fields".to_owned(), Value::Object(values));
        }
        if !answer.is_empty() {
            Ok(Value::Object(answer))
        } else if self.options.is_empty() {
            Err("Write an answer.".to_owned())
        } else {
            Err("Choose an answer or write one.".to_owned())
        }
    }
}

impl QuestionKind {
    fn read(name: &str) -> Self {
        match name {
            "ambiguous_requirement" => Self::AmbiguousRequirement,
            "approach_choice" => Self::ApproachChoice,
            "risk_confirmation" => Self::RiskConfirmation,
            "suggestion" => Self::Suggestion,
            _ => Self::MissingInfo,
        }
    }
}

impl QuestionField {
    fn read(input: &Value) -> Option<Self> {
        let key = input.get("key")?.as_str()?.to_owned();
        let options = texts(input, "options");
        let field_type = match text(input, "type") {
            "number" => FieldType::Number,
            "boolean" => FieldType::Boolean,
            // A choice without options could not be answered.
            "choice" if !options.is_empty() => FieldType::Choice { options },
            "date" => FieldType::Date,
            _ => FieldType::Text,
        };
        let label = match text(input, "label") {
            "" => key.clone(),
            label => label.to_owned(),
        };
        Some(Self { key, label, field_type, required: input.get("required") == Some(&Value::Bool(true)) })
    }

    /// Converts a control's raw value; `None` if it is empty.
    fn value(&self, given: &str) -> Result<Option<Value>, String> {
        let given = given.trim();
        let value = match &self.field_type {
            FieldType::Boolean => Value::Bool(given == "true"),
            _ if given.is_empty() && self.required => return Err(format!("“{}” is required.", self.label)),
            _ if given.is_empty() => return Ok(None),
            FieldType::Number => parse_number(given),
            _ => Value::from(given),
        };
        match value {
            Value::Null => Err(format!("“{}” needs a number.", self.label)),
            value => match self.field_type.accept(&value) {
                Ok(value) => Ok(Some(value)),
                Err(reason) => Err(format!("“{}”: {reason}.", self.label)),
            },
        }
    }
}

fn text<'a>(input: &'a Value, key: &str) -> &'a str {
    input.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn texts(input: &Value, key: &str) -> Vec<String> {
    let list = input.get(key).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_are_built_and_validated() {
        let check =
            |question: Value, option: Option<usize>, text: &str, fields: &[&str], expected: Result<Value, &str>| {
                let fields = fields.iter().map(ToString::to_string).collect();
                let answer = Question::read(&question).answer(&AnswerDraft { option, text: text.to_owned(), fields });
                assert_eq!(answer, expected.map_err(str::to_owned), "{question}");
            };
        let open = || json!({ "kind": "missing_info", "question": "Which year?" });
        check(open(), None, " 1843 ", &[], Ok(json!({ "text": "1843" })));
        check(open(), None, "  ", &[], Err("Write an answer."));
        check(open(), Some(0), "", &[], Err("Write an answer."));
        let choice = || json!({ "question": "Which?", "options": ["Tea", "Coffee"] });
        check(choice(), Some(1), "", &[], Ok(json!({ "option": "Coffee" })));
        check(choice(), Some(0), "green", &[], Ok(json!({ "option": "Tea", "text": "green" })));
        check(choice(), None, "Water", &[], Ok(json!({ "text": "Water" })));
        check(choice(), Some(2), "", &[], Err("Choose an answer or write one."));
        let form = || {
            json!({ "question": "Where to?", "fields": [
                { "key": "name", "label": "Name", "required": true },
                { "key": "seats", "label": "Seats", "type": "number" },
                { "key": "gift", "label": "A gift", "type": "boolean" },
                { "key": "size", "label": "Size", "type": "choice", "options": ["S", "L"] },
                { "key": "day", "type": "date" },
            ] })
        };
        check(form(), None, "", &["Ada"], Ok(json!({ "fields": { "name": "Ada", "gift": false } })));
        check(
            form(),
            None,
            "thanks",
            &["Ada", "2", "true", "L", "1843-10-18"],
            Ok(
                json!({ "text": "thanks", "fields": { "name": "Ada", "seats": 2, "gift": true, "size": "L", "day": "1843-10-18" } }),
            ),
        );
        check(
            form(),
            None,
            "",
            &["Ada", "2.5"],
            Ok(json!({ "fields": { "name": "Ada", "seats": 2.5, "gift": false } })),
        );
        check(form(), None, "", &[], Err("“Name” is required."));
        check(form(), None, "", &[" "], Err("“Name” is required."));
        check(form(), None, "", &["Ada", "two"], Err("“Seats” needs a number."));
        check(form(), None, "", &["Ada", "1e999"], Err("“Seats” needs a number."));
        check(form(), None, "", &["Ada", "", "", "M"], Err("“Size”: expected one of S, L."));
        check(form(), None, "", &["Ada", "", "", "", "soon"], Err("“day”: expected a date as YYYY-MM-DD."));
    }

    #[test]
    fn invalid_question_input_is_dropped() {
        let check = |input: Value, expected: (QuestionKind, &str, usize, usize)| {
            let question = Question::read(&input);
            let read = (question.kind, question.text.as_str(), question.options.len(), question.fields.len());
            assert_eq!(read, expected, "{input}");
        };
        check(json!(null), (QuestionKind::MissingInfo, "", 0, 0));
        check(
            json!({ "kind": "new", "question": 7, "options": "a", "fields": {} }),
            (QuestionKind::MissingInfo, "", 0, 0),
        );
        check(
            json!({ "kind": "risk_confirmation", "question": "Go?", "options": ["yes", 1], "fields": [{}, { "key": "a" }] }),
            (QuestionKind::RiskConfirmation, "Go?", 1, 1),
        );
    }
}
