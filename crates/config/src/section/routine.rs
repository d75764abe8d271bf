//! What a routine may consist of: requests, which go to a connection, and controls, which start with `:`.

use super::sql_request::{self, SqlRequest};
use super::{Context, operator, refuse_prototype_key, type_of};
use crate::shape::suggest;
use crate::source::{Entry, Kind, Node, Report};
use indexmap::IndexSet;
use schemars::JsonSchema;

/// A step of a routine.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum StepEntry {
    /// A statement for a SQL database.
    Sql(SqlRequest),
    /// Ends the routine.
    Return(ReturnEntry),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ReturnEntry {
    /// The endpoint's result; operators are allowed.
    #[serde(rename = ":return")]
    result: serde_json::Value,
}

/// Controls that this version runs.
const CONTROLS: [&str; 1] = [":return"];
/// Controls of the language that it cannot run yet.
const CONTROLS_NOT_YET: [&str; 10] =
    [":if", ":switch", ":for", ":parallel", ":try", ":set_state", ":log", ":reject", ":throw", ":call"];
/// Requests that this version makes.
const REQUESTS: [&str; 2] = ["SqlQuery", "SqlExecute"];
/// Requests of the language that it cannot make yet.
const REQUESTS_NOT_YET: [&str; 4] = ["Http", "GenerateText", "GenerateObject", "CallEndpoint"];
/// Operators that mean something in a routine.
const OPERATORS: [&str; 5] = ["_payload", "_step", "_user", "_if", "_eq"];

/// Whether an endpoint changes data.
pub(super) fn writes(endpoint: &Node) -> bool {
    let steps = endpoint.get("routine").map(|entry| entry.value.items()).unwrap_or_default();
    steps.iter().any(|step| type_of(step) == Some("SqlExecute"))
}

/// Checks the routine of an endpoint whose shape is right.
pub(super) fn check(endpoint: &Node, context: &mut Context<'_, '_>) {
    let Some(Entry { value: routine, .. }) = endpoint.get("routine") else { return };
    if !matches!(&routine.kind, Kind::Broken) && routine.items().is_empty() {
        let message = format!("expected a list of steps, found {}", routine.describe());
        context.report.error(routine.at, message, None);
    }
    let mut check = Check { endpoint, context, done: IndexSet::new() };
    for step in routine.items() {
        check.step(step);
    }
}

struct Check<'n, 'a, 'c, 'r> {
    endpoint: &'n Node,
    context: &'a mut Context<'c, 'r>,
    /// The ids of the steps before this one.
    done: IndexSet<&'n str>,
}

impl<'n> Check<'n, '_, '_, '_> {
    fn step(&mut self, step: &'n Node) {
        let Some(first) = step.entries().first() else {
            if matches!(step.kind, Kind::Broken) {
                return;
            }
            return self.context.report.error(step.at, format!("expected a step, found {}", step.describe()), None);
        };
        match step.entries().iter().find(|entry| entry.key.starts_with(':')) {
            Some(control) => self.control(control, step),
            None => self.request(step, first),
        }
    }

    fn control(&mut self, control: &'n Entry, step: &'n Node) {
        let (key, at) = (control.key.as_str(), control.key_at);
        if CONTROLS_NOT_YET.contains(&key) {
            self.context.report.error(at, format!("the control `{key}` is not available in this version"), None);
        } else if !CONTROLS.contains(&key) {
            let help = suggest::help(key, CONTROLS);
            self.context.report.error(at, format!("there is no control `{key}`"), help);
        } else if let Some(other) = step.entries().iter().find(|entry| entry.key != key) {
            let help = Some(format!("`{key}` is a step of its own"));
            self.context.report.error(other.key_at, format!("there is no key `{}` beside `{key}`", other.key), help);
        }
        self.operators(&control.value);
    }

    fn request(&mut self, step: &'n Node, first: &Entry) {
        let Some(request_type) = step.get("type") else {
            let help = suggest::one_of(&REQUESTS)
                .map(|types| format!("a request has a type, {types}; a control starts with `:`"));
            return self.context.report.error(first.key_at, "this step has no `type`", help);
        };
        let at = request_type.value.at;
        let Some(name) = request_type.value.text() else {
            let found = request_type.value.describe();
            return self.context.report.error(
                at,
                format!("expected a request type, found {found}"),
                suggest::one_of(&REQUESTS),
            );
        };
        if REQUESTS_NOT_YET.contains(&name) {
            return self.context.report.error(
                at,
                format!("the request type `{name}` is not available in this version"),
                None,
            );
        }
        if !REQUESTS.contains(&name) {
            let help = suggest::help(name, REQUESTS);
            return self.context.report.error(at, format!("there is no request type `{name}`"), help);
        }
        let Some(request) = SqlRequest::read(step, self.context) else { return };
        sql_request::check(&request, name, step, self.context);
        if let Some(properties) = step.get("properties") {
            self.operators(&properties.value);
        }
        let id = step.get("id").and_then(|entry| Some((entry.value.text()?, entry.value.at)));
        let Some((id, at)) = id else { return };
        refuse_prototype_key(id, at, self.context.report);
        if !self.done.insert(id) {
            self.context.report.error(at, format!("there are two steps with the id `{id}` in this routine"), None);
        }
    }

    /// Whether references lead to a step before this one and to a key of the payload.
    fn operators(&mut self, value: &'n Node) {
        let (endpoint, done) = (self.endpoint, &self.done);
        operator::each(value, &OPERATORS, self.context.report, &mut |operator, report| {
            let Some(path) = operator.value.text() else { return };
            let first = path.split('.').next().unwrap_or(path);
            match operator.key.as_str() {
                "_step" if !done.contains(first) => {
                    let help = suggest::help(first, done.iter().copied());
                    let help = help.or_else(|| Some("a step sees the results of the steps before it".to_owned()));
                    report.error(operator.value.at, format!("no step before this one has the id `{first}`"), help);
                }
                "_payload" => check_payload_key(first, operator, endpoint, report),
                _ => {}
            }
        });
    }
}

/// A key that the payload's schema does not name is probably a slip.
fn check_payload_key(key: &str, operator: &Entry, endpoint: &Node, report: &mut Report) {
    let Some(schema) = endpoint.get("payloadSchema").map(|entry| &entry.value) else { return };
    let Some(properties) = schema.get("properties").map(|entry| entry.value.entries()) else { return };
    let open = schema.get("additionalProperties").is_some_and(|entry| !matches!(entry.value.kind, Kind::Bool(false)));
    if open || properties.iter().any(|entry| entry.key == key) {
        return;
    }
    let help = suggest::help(key, properties.iter().map(|entry| entry.key.as_str()));
    report.warning(operator.value.at, format!("the payload schema has no `{key}`"), help);
}
