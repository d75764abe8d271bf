//! How a step of a routine is written, for editors. `routine` checks each step by its own rules, which give better
//! messages than a choice between shapes.

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
    /// A statement for a SQL database.
    Sql(SqlRequest),
    /// A request to a web service.
    Http(HttpRequest),
    /// A text from a model.
    GenerateText(GenerateTextRequest),
    /// A value from a model.
    GenerateObject(GenerateObjectRequest),
    /// A call of another endpoint.
    Call(CallRequest),
    /// Goes one way or the other.
    If(IfEntry),
    /// Goes the first way that fits.
    Switch(SwitchEntry),
    /// Runs steps for each item of a list.
    For(ForEntry),
    /// Runs branches at once.
    Parallel(ParallelEntry),
    /// Goes on after a failure.
    Try(TryEntry),
    /// Ends the routine with a result.
    Return(ReturnEntry),
    /// Ends the routine: the caller did something wrong.
    Reject(RejectEntry),
    /// Ends the routine: something went wrong here.
    Throw(ThrowEntry),
    /// Remembers values for later steps.
    SetState(SetStateEntry),
    /// Writes to the server's log.
    Log(LogEntry),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct IfEntry {
    /// What decides; `null`, `false`, `0` and empty text mean no.
    #[serde(rename = ":if")]
    test: Value,
    /// The steps for yes.
    #[serde(rename = ":then")]
    then: Option<Vec<StepEntry>>,
    /// The steps for no.
    #[serde(rename = ":else")]
    otherwise: Option<Vec<StepEntry>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SwitchEntry {
    /// The cases, of which the first that holds is taken.
    #[serde(rename = ":switch")]
    cases: Vec<CaseEntry>,
    /// The steps when none holds.
    #[serde(rename = ":default")]
    otherwise: Option<Vec<StepEntry>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct CaseEntry {
    /// What decides; `null`, `false`, `0` and empty text mean no.
    #[serde(rename = ":case")]
    test: Value,
    /// The steps of this case.
    #[serde(rename = ":then")]
    then: Option<Vec<StepEntry>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ForEntry {
    /// The name of the item; the steps read it as `_item: name`.
    #[serde(rename = ":for")]
    item: String,
    /// The list; operators are allowed.
    #[serde(rename = ":in")]
    list: Value,
    /// The steps for each item.
    #[serde(rename = ":do")]
    body: Vec<StepEntry>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ParallelEntry {
    /// The branches, each a list of steps; at most 16. Later steps see the results of all of them.
    #[serde(rename = ":parallel")]
    branches: Vec<Vec<StepEntry>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct TryEntry {
    /// The steps that may fail.
    #[serde(rename = ":try")]
    body: Vec<StepEntry>,
    /// The steps after a failure, which they read as `_error: message`.
    #[serde(rename = ":catch")]
    catch: Option<Vec<StepEntry>>,
    /// The steps that run in any case.
    #[serde(rename = ":finally")]
    finally: Option<Vec<StepEntry>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ReturnEntry {
    /// The result; operators are allowed.
    #[serde(rename = ":return")]
    result: Value,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct RejectEntry {
    /// What the caller is told; operators are allowed.
    #[serde(rename = ":reject")]
    message: Value,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ThrowEntry {
    /// What the caller is told; operators are allowed.
    #[serde(rename = ":throw")]
    message: Value,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SetStateEntry {
    /// The values by name; later steps read them with `_state`.
    #[serde(rename = ":set_state")]
    values: Map<String, Value>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct LogEntry {
    /// What is written; operators are allowed.
    #[serde(rename = ":log")]
    message: Value,
}
