//! The schema of a routine's steps, for editors. The module `routine` checks each step separately,
//! which gives better messages than a choice between shapes.

use super::call_request::CallRequest;
use super::http_request::HttpRequest;
use super::sql_request::SqlRequest;
use super::text_request::{GenerateObjectRequest, GenerateTextRequest};
use schemars::JsonSchema;
use serde_json::{Map, Value};

/// A step of a routine.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum StepEntry {
    /// Runs a SQL statement.
    Sql(SqlRequest),
    /// Sends an HTTP request.
    Http(HttpRequest),
    /// Generates a text with a model.
    GenerateText(GenerateTextRequest),
    /// Generates a JSON object with a model.
    GenerateObject(GenerateObjectRequest),
    /// Calls another endpoint.
    Call(CallRequest),
    /// Runs steps depending on a condition.
    If(IfEntry),
    /// Runs the steps of the first case that is true.
    Switch(SwitchEntry),
    /// Runs steps for each item of a list.
    For(ForEntry),
    /// Runs branches concurrently.
    Parallel(ParallelEntry),
    /// Handles errors.
    Try(TryEntry),
    /// Ends the routine with a result.
    Return(ReturnEntry),
    /// Ends the routine with an error of the caller.
    Reject(RejectEntry),
    /// Ends the routine with an internal error.
    Throw(ThrowEntry),
    /// Sets variables for later steps.
    SetState(SetStateEntry),
    /// Writes to the server's log.
    Log(LogEntry),
    /// Shows the user what the routine is doing, if an agent called it.
    Status(StatusEntry),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct IfEntry {
    /// The condition. `null`, `false`, `0` and an empty text count as false.
    #[serde(rename = ":if")]
    test: Value,
    /// The steps to run if the condition is true.
    #[serde(rename = ":then")]
    then: Option<Vec<StepEntry>>,
    /// The steps to run otherwise.
    #[serde(rename = ":else")]
    otherwise: Option<Vec<StepEntry>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SwitchEntry {
    /// The cases. The first one whose condition is true is run.
    #[serde(rename = ":switch")]
    cases: Vec<CaseEntry>,
    /// The steps to run if no case is true.
    #[serde(rename = ":default")]
    otherwise: Option<Vec<StepEntry>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct CaseEntry {
    /// The condition. `null`, `false`, `0` and an empty text count as false.
    #[serde(rename = ":case")]
    test: Value,
    /// The steps of this case.
    #[serde(rename = ":then")]
    then: Option<Vec<StepEntry>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ForEntry {
    /// The name of the item. The steps read it with `_item: name`.
    #[serde(rename = ":for")]
    item: String,
    /// The list. Operators are allowed.
    #[serde(rename = ":in")]
    list: Value,
    /// The steps to run for each item.
    #[serde(rename = ":do")]
    body: Vec<StepEntry>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ParallelEntry {
    /// The branches, at most 16, each a list of steps. Later steps can read the results of all of
    /// them.
    #[serde(rename = ":parallel")]
    branches: Vec<Vec<StepEntry>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct TryEntry {
    /// The steps that may fail.
    #[serde(rename = ":try")]
    body: Vec<StepEntry>,
    /// The steps to run after an error. They read it with `_error: message`.
    #[serde(rename = ":catch")]
    catch: Option<Vec<StepEntry>>,
    /// The steps to run in any case.
    #[serde(rename = ":finally")]
    finally: Option<Vec<StepEntry>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ReturnEntry {
    /// The result. Operators are allowed.
    #[serde(rename = ":return")]
    result: Value,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct RejectEntry {
    /// The message for the caller. Operators are allowed.
    #[serde(rename = ":reject")]
    message: Value,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ThrowEntry {
    /// The message for the caller. Operators are allowed.
    #[serde(rename = ":throw")]
    message: Value,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SetStateEntry {
    /// The values by name. Later steps read them with `_state`.
    #[serde(rename = ":set_state")]
    values: Map<String, Value>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct LogEntry {
    /// The message. Operators are allowed.
    #[serde(rename = ":log")]
    message: Value,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct StatusEntry {
    /// The text, at most 300 characters. Operators are allowed.
    #[serde(rename = ":status")]
    text: Value,
}
