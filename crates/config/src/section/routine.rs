//! What a routine may consist of: requests, which go to a connection, and controls, which start with `:`.

use super::sql_request::{self, SqlRequest};
use super::{Context, operator, refuse_prototype_key, type_of};
use crate::shape::suggest;
use crate::source::{Entry, Kind, Node, Report};
use indexmap::IndexSet;

/// Controls that this version runs, each with the keys that may stand beside it.
const CONTROLS: [(&str, &[&str]); 6] = [
    (":return", &[]),
    (":if", &[":then", ":else"]),
    (":reject", &[]),
    (":throw", &[]),
    (":set_state", &[]),
    (":log", &[]),
];
/// Controls of the language that it cannot run yet.
const CONTROLS_NOT_YET: [&str; 4] = [":switch", ":for", ":parallel", ":try"];
/// Requests that this version makes.
const REQUESTS: [&str; 2] = ["SqlQuery", "SqlExecute"];
/// Requests of the language that it cannot make yet.
const REQUESTS_NOT_YET: [&str; 4] = ["Http", "GenerateText", "GenerateObject", "CallEndpoint"];
/// Operators that mean something in a routine.
const OPERATORS: [&str; 6] = ["_payload", "_step", "_state", "_user", "_if", "_eq"];

/// Whether an endpoint changes data.
pub(super) fn writes(endpoint: &Node) -> bool {
    endpoint.get("routine").is_some_and(|entry| steps(&entry.value).iter().any(step_writes))
}

fn step_writes(step: &Node) -> bool {
    let inside = |key| step.get(key).is_some_and(|entry| steps(&entry.value).iter().any(step_writes));
    type_of(step) == Some("SqlExecute") || inside(":then") || inside(":else")
}

/// A list of steps, or one step without a list.
fn steps(node: &Node) -> &[Node] {
    match node.kind {
        Kind::Map(_) => std::slice::from_ref(node),
        _ => node.items(),
    }
}

/// Checks the routine of an endpoint.
pub(super) fn check(endpoint: &Node, context: &mut Context<'_, '_>) {
    let Some(Entry { value: routine, .. }) = endpoint.get("routine") else { return };
    if !matches!(routine.kind, Kind::Broken) && routine.items().is_empty() {
        let message = format!("expected a list of steps, found {}", routine.describe());
        context.report.error(routine.at, message, None);
    }
    let mut check = Check { endpoint, context, done: IndexSet::new() };
    routine.items().iter().for_each(|step| check.step(step));
}

struct Check<'n, 'a, 'c, 'r> {
    endpoint: &'n Node,
    context: &'a mut Context<'c, 'r>,
    /// The ids of the steps before this one.
    done: IndexSet<&'n str>,
}

impl<'n> Check<'n, '_, '_, '_> {
    fn step(&mut self, step: &'n Node) {
        if matches!(step.kind, Kind::Broken) {
            return;
        }
        let Some(first) = step.entries().first() else {
            return self.context.report.error(step.at, format!("expected a step, found {}", step.describe()), None);
        };
        let is_main = |entry: &&Entry| CONTROLS.iter().any(|(name, _)| *name == entry.key);
        let control = step.entries().iter().find(is_main);
        match control.or_else(|| step.entries().iter().find(|entry| entry.key.starts_with(':'))) {
            Some(control) => self.control(control, step),
            None => self.request(step, first),
        }
    }

    fn control(&mut self, control: &'n Entry, step: &'n Node) {
        let (key, at) = (control.key.as_str(), control.key_at);
        let Some((_, beside)) = CONTROLS.iter().find(|(name, _)| *name == key) else {
            return match CONTROLS_NOT_YET.contains(&key) {
                true => {
                    self.context.report.error(
                        at,
                        format!("the control `{key}` is not available in this version"),
                        None,
                    );
                }
                false => {
                    let help = suggest::help(key, CONTROLS.iter().map(|(name, _)| *name));
                    self.context.report.error(at, format!("there is no control `{key}`"), help);
                }
            };
        };
        if key == ":set_state" && !matches!(control.value.kind, Kind::Map(_) | Kind::Broken) {
            let message = format!("expected a mapping of values, found {}", control.value.describe());
            self.context.report.error(control.value.at, message, None);
        }
        self.operators(&control.value);
        for other in step.entries().iter().filter(|entry| entry.key != key) {
            if beside.contains(&other.key.as_str()) {
                self.branch(&other.value);
            } else {
                let help = suggest::help(&other.key, beside.iter().copied());
                let help = help.or_else(|| Some(format!("`{key}` is a step of its own")));
                let message = format!("there is no key `{}` beside `{key}`", other.key);
                self.context.report.error(other.key_at, message, help);
            }
        }
    }

    /// The steps under `:then` or `:else`.
    fn branch(&mut self, branch: &'n Node) {
        if !matches!(branch.kind, Kind::List(_) | Kind::Map(_) | Kind::Broken) {
            let message = format!("expected a list of steps, found {}", branch.describe());
            self.context.report.error(branch.at, message, None);
        }
        steps(branch).iter().for_each(|step| self.step(step));
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
