//! The form of an answer: JSON that fits a schema, which is found in the text of a reply.

use super::InvokeError;
use contract::ResponseFormat;
use schemas::{CheckError, InstanceFault, Schema, SchemaError};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The maximum number of errors in an answer that are reported to the model.
const MAX_FAULTS: usize = 8;

/// The form of an answer, with its compiled schema.
#[derive(Clone, Debug)]
pub struct AnswerForm {
    pub(super) format: ResponseFormat,
    schema: Schema,
}

impl AnswerForm {
    /// Compiles the schema of an answer. It may be untrusted.
    ///
    /// # Errors
    /// It is not a valid JSON Schema, or it would be too costly to check an answer against it.
    pub async fn new(format: ResponseFormat) -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::compile(&format.schema).await?, format })
    }

    /// Returns the JSON of an answer, or the errors in it. Ends at `until` and on cancellation.
    pub(super) async fn read(
        &self,
        text: &str,
        until: Instant,
        cancel: &CancellationToken,
    ) -> Result<Result<Value, String>, InvokeError> {
        let Some(output) = find_json(text) else { return Ok(Err("it contains no JSON.".to_owned())) };
        let check = tokio::time::timeout_at(until, self.schema.check(&output, MAX_FAULTS));
        let checked = cancel.run_until_cancelled(check).await.ok_or(InvokeError::Stopped)?;
        match checked.map_err(|_| InvokeError::TimedOut)? {
            Ok(()) => Ok(Ok(output)),
            Err(CheckError::Faults(faults)) => {
                Ok(Err(faults.iter().map(InstanceFault::to_string).collect::<Vec<_>>().join("; ")))
            }
            Err(misfit @ (CheckError::TooCostly | CheckError::PatternTooCostly | CheckError::Busy)) => {
                Err(InvokeError::Unchecked(misfit))
            }
        }
    }
}

/// Finds the JSON in an answer: the whole text, a code fence, or the text from the first to the
/// last bracket. Text that the model wrote in `<think>` is ignored.
pub(crate) fn find_json(text: &str) -> Option<Value> {
    let answer = match text.rfind("</think>") {
        Some(end) => &text[end + "</think>".len()..],
        None => text,
    };
    let parse = |text: &str| serde_json::from_str(text.trim()).ok();
    parse(answer).or_else(|| fences(answer).find_map(parse)).or_else(|| {
        let start = answer.find(['{', '['])?;
        let end = answer.rfind(['}', ']'])?;
        parse(answer.get(start..=end)?)
    })
}

/// Returns the contents of the code fences.
fn fences(text: &str) -> impl Iterator<Item = &str> {
    let fenced = text.split("```").skip(1).step_by(2);
    // The first line is the name of the language.
    fenced.map(|code| code.split_once('\n').map_or(code, |(_, code)| code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn json_is_found_in_an_answer() {
        let check = |text: &str, expected: &str| {
            assert_eq!(find_json(text).map(|json| json.to_string()).unwrap_or_default(), expected, "{text}");
        };
        check(r#" {"a": 1} "#, r#"{"a":1}"#);
        check("```json\n{\"a\": 1}\n```", r#"{"a":1}"#);
        check("Two:\n```\nlet x\n```\nand\n```json\n[1]\n```\n", "[1]");
        check("Here you are: {\"a\": {}}. Bye.", r#"{"a":{}}"#);
        check("<think>maybe {\"a\": 0}</think>{\"a\": 1}", r#"{"a":1}"#);
        check("no", "");
        check("} {", "");
    }

    proptest! {
        #[test]
        fn any_text_is_handled_without_a_panic(text in "[`{}\\[\\]a\\n<>/think ü\"]{0,60}") {
            let _ = find_json(&text);
        }
    }
}
