//! A case of a dataset.

use crate::case_value::texts;
use crate::document::from_value;
use crate::scorer::Scorer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The longest id of a case in characters.
const MAX_ID: usize = 200;
/// The most messages of a case.
const MAX_TURNS: usize = 50;
/// The keys of `expected` with a person's verdict on an answer.
const RATED_KEYS: [&str; 2] = ["disliked", "rubric"];

/// An answer to a case that a person has rated: it shows whether judges agree with people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rated {
    /// The text of the answer, as the person has read it.
    pub answer: String,
    /// Whether the person liked it.
    pub liked: bool,
}

/// A case: the messages of the user, and the expectations of the answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Case {
    /// Unique in the evaluation.
    pub id: String,
    /// The messages of the user, in order: a text, or a list of texts. The answer to the last one is scored; calls of
    /// tools count in all of them.
    #[serde(deserialize_with = "texts")]
    pub input: Vec<String>,
    /// The expected values, with which scorers compare the answer.
    #[serde(default)]
    pub expected: Value,
    /// Names of groups.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The part of the dataset, such as `test`.
    #[serde(default)]
    pub split: Option<String>,
    /// Whether the evaluation fails if this case does.
    #[serde(default)]
    pub must: bool,
    /// Anything else, for the scorers of the config.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// Scorers of this case, beside those of the evaluation.
    #[serde(default)]
    pub scorers: Vec<Scorer>,
    /// An earlier answer with the rating of a person. Scorers do not see it.
    #[serde(default)]
    pub rated: Option<Rated>,
}

impl Case {
    /// Reads a case from JSON.
    ///
    /// # Errors
    /// The first problem of the case: a JSON pointer and a message.
    pub fn from_value(value: Value) -> Result<Self, (String, String)> {
        let case: Self = from_value(value)?;
        case.problems().into_iter().next().map_or(Ok(case), Err)
    }

    /// Returns the case as scorers see it.
    pub fn to_value(&self) -> Value {
        json!({
            "id": self.id,
            "input": self.input,
            "expected": self.expected,
            "tags": self.tags,
            "split": self.split,
            "metadata": self.metadata,
        })
    }

    /// Returns the case as judges of the rated answer see it: without the verdict of the person. That is in the tags of
    /// a case that was kept from feedback, in its rubric, and where the answer is expected or was disliked.
    pub(crate) fn to_value_without_rating(&self, rated: &Rated) -> Value {
        let is_answer = |value: &Value| value.as_str() == Some(rated.answer.as_str());
        let mut expected = self.expected.clone();
        match &mut expected {
            Value::Object(fields) => {
                fields.retain(|key, value| !RATED_KEYS.contains(&key.as_str()) && !is_answer(value));
            }
            Value::Array(texts) => texts.retain(|text| !is_answer(text)),
            text if is_answer(text) => *text = Value::Null,
            _ => {}
        }
        json!({ "id": self.id, "input": self.input, "expected": expected })
    }

    /// Returns the problems of its values, each with the key.
    pub(crate) fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        if self.id.is_empty() || self.id.chars().count() > MAX_ID || self.id.chars().any(char::is_control) {
            problems.push(("/id".to_owned(), format!("the id needs 1 to {MAX_ID} characters on one line")));
        }
        if self.input.is_empty() || self.input.len() > MAX_TURNS || self.input.iter().any(|text| text.trim().is_empty())
        {
            problems.push(("/input".to_owned(), format!("the input needs 1 to {MAX_TURNS} texts, none of them empty")));
        }
        if self.rated.as_ref().is_some_and(|rated| rated.answer.trim().is_empty()) {
            problems.push(("/rated/answer".to_owned(), "the rated answer is empty".to_owned()));
        }
        for (index, scorer) in self.scorers.iter().enumerate() {
            problems.extend(
                scorer.problems().into_iter().map(|(path, message)| (format!("/scorers/{index}{path}"), message)),
            );
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judges_do_not_see_that_the_rated_answer_is_the_expected_one() {
        let check = |expected: Value, seen: Value| {
            let case =
                json!({ "id": "a", "input": "Q", "expected": expected, "rated": { "answer": "A", "liked": true } });
            let case = Case::from_value(case).unwrap();
            assert_eq!(case.to_value_without_rating(case.rated.as_ref().unwrap())["expected"], seen);
        };
        check(json!("A"), Value::Null);
        check(json!("B"), json!("B"));
        check(json!(["A", "B"]), json!(["B"]));
        check(json!({ "reference": "A", "says": "B", "rubric": "R" }), json!({ "says": "B" }));
    }
}
