//! Checks routines: requests, which use a connection, and controls, which start with `:`.

use super::call_request::{self, CallRequest};
use super::sql_request::{self, SqlRequest};
use super::steps::{CONTROLS, Control, nested_steps, steps};
use super::{http_path, http_request, text_request};
use crate::section::operator::{EvaluationPlace, FoundOperator, Side};
use crate::section::{Context, operator, refuse_prototype_key, type_of};
use config_source::{MapEntry, Node, NodeKind, Report, suggest};
use indexmap::IndexSet;

/// The types of requests.
const REQUESTS: [&str; 6] = ["SqlQuery", "SqlExecute", "Http", "GenerateText", "GenerateObject", "CallEndpoint"];
/// The operators that read a value in a routine, and `_secret`, which is allowed in some requests.
const OPERATORS: [&str; 10] =
    ["_payload", "_step", "_state", "_user", "_item", "_error", "_agent", "_expr", "_template", "_secret"];
/// The most branches of `:parallel`.
const MAX_BRANCHES: usize = 16;

/// Whether an endpoint changes data itself.
pub(crate) fn writes(endpoint: &Node) -> bool {
    endpoint.get("routine").is_some_and(|entry| steps(&entry.value).iter().any(step_writes))
}

fn step_writes(step: &Node) -> bool {
    let itself = match type_of(step) {
        Some("SqlExecute") => true,
        Some("Http") => http_request::writes(step),
        _ => false,
    };
    itself || nested_steps(step).into_iter().any(step_writes)
}

/// Checks the routine of an endpoint.
pub(crate) fn check(endpoint: &Node, context: &mut Context<'_, '_>) {
    let Some(MapEntry { value: routine, .. }) = endpoint.get("routine") else { return };
    if !matches!(routine.kind, NodeKind::Broken) && routine.items().is_empty() {
        let message = format!("expected a list of steps, found {}", routine.describe());
        context.report.error(routine.at, message, None);
    }
    let mut check =
        RoutineCheck { endpoint, context, step_ids: IndexSet::new(), loop_items: Vec::new(), in_catch: false };
    routine.items().iter().for_each(|step| check.step(step));
}

struct RoutineCheck<'n, 'a, 'c, 'r> {
    endpoint: &'n Node,
    context: &'a mut Context<'c, 'r>,
    /// The ids of the earlier steps.
    step_ids: IndexSet<&'n str>,
    /// The item names of the surrounding loops.
    loop_items: Vec<&'n str>,
    in_catch: bool,
}

impl<'n> RoutineCheck<'n, '_, '_, '_> {
    fn step(&mut self, step: &'n Node) {
        if matches!(step.kind, NodeKind::Broken) {
            return;
        }
        let Some(first) = step.entries().first() else {
            return self.context.report.error(step.at, format!("expected a step, found {}", step.describe()), None);
        };
        let is_main = |entry: &&MapEntry| CONTROLS.iter().any(|control| control.name == entry.key);
        let control = step.entries().iter().find(is_main);
        match control.or_else(|| step.entries().iter().find(|entry| entry.key.starts_with(':'))) {
            Some(control) => self.control(control, step),
            None => self.request(step, first),
        }
    }

    fn control(&mut self, control: &'n MapEntry, step: &'n Node) {
        let (key, at) = (control.key.as_str(), control.key_at);
        let Some(Control { name, values, branches }) = CONTROLS.iter().find(|known| known.name == key) else {
            let help = suggest::help(key, CONTROLS.iter().map(|control| control.name));
            return self.context.report.error(at, format!("there is no control `{key}`"), help);
        };
        for other in step.entries().iter().filter(|entry| entry.key != key) {
            let beside = other.key.as_str();
            if values.contains(&beside) {
                self.operators(&other.value, false);
            } else if !branches.contains(&beside) {
                let help = suggest::help(beside, values.iter().chain(*branches).copied());
                let help = help.or_else(|| Some(format!("`{key}` is a separate step")));
                let message = format!("there is no key `{beside}` beside `{key}`");
                self.context.report.error(other.key_at, message, help);
            }
        }
        match *name {
            ":for" => return self.check_for(control, step),
            ":switch" => self.cases(&control.value),
            ":parallel" => self.parallel(&control.value),
            ":try" => return self.check_try(control, step),
            ":set_state" => {
                self.expect(&control.value, "a mapping of values", |kind| matches!(kind, NodeKind::Map(_)));
                self.operators(&control.value, false);
            }
            _ => self.operators(&control.value, false),
        }
        for branch in branches.iter().filter_map(|name| step.get(name)) {
            self.branch(&branch.value);
        }
    }

    /// Checks `:for`. Only its steps can read the item.
    fn check_for(&mut self, control: &'n MapEntry, step: &'n Node) {
        for needed in [":in", ":do"].into_iter().filter(|needed| step.get(needed).is_none()) {
            self.context.report.error(control.key_at, format!("`:for` needs `{needed}` beside it"), None);
        }
        let Some(item) = control.value.text() else {
            return self
                .expect(&control.value, "the name of the item, which its steps read as `_item: name`", |_| false);
        };
        refuse_prototype_key(item, control.value.at, self.context.report);
        self.loop_items.push(item);
        if let Some(body) = step.get(":do") {
            self.branch(&body.value);
        }
        self.loop_items.pop();
    }

    fn cases(&mut self, cases: &'n Node) {
        self.expect(cases, "a list of cases, each with `:case` and `:then`", |kind| matches!(kind, NodeKind::List(_)));
        for case in cases.items() {
            self.expect(case, "a case with `:case` and `:then`", |kind| matches!(kind, NodeKind::Map(_)));
            if let (Some(first), None) = (case.entries().first(), case.get(":case")) {
                self.context.report.error(first.key_at, "this case has no `:case`", None);
            }
            for entry in case.entries() {
                match entry.key.as_str() {
                    ":case" => self.operators(&entry.value, false),
                    ":then" => self.branch(&entry.value),
                    other => {
                        let help = suggest::help(other, [":case", ":then"]);
                        self.context.report.error(entry.key_at, format!("a case has no key `{other}`"), help);
                    }
                }
            }
        }
    }

    fn parallel(&mut self, branches: &'n Node) {
        self.expect(branches, "a list of branches", |kind| matches!(kind, NodeKind::List(_)));
        if branches.items().len() > MAX_BRANCHES {
            let message = format!("`:parallel` runs at most {MAX_BRANCHES} branches at once");
            self.context.report.error(branches.at, message, None);
        }
        // A branch cannot read results of branches that run at the same time.
        let before = self.step_ids.clone();
        for branch in branches.items() {
            let known = std::mem::replace(&mut self.step_ids, before.clone());
            self.branch(branch);
            let found: Vec<_> = self.step_ids.difference(&before).copied().collect();
            self.step_ids = known;
            for id in found {
                self.step_ids.insert(id);
            }
        }
    }

    fn check_try(&mut self, control: &'n MapEntry, step: &'n Node) {
        if step.get(":catch").is_none() && step.get(":finally").is_none() {
            self.context.report.error(control.key_at, "`:try` needs `:catch` or `:finally` beside it", None);
        }
        self.branch(&control.value);
        if let Some(catch) = step.get(":catch") {
            let outer = std::mem::replace(&mut self.in_catch, true);
            self.branch(&catch.value);
            self.in_catch = outer;
        }
        if let Some(finally) = step.get(":finally") {
            self.branch(&finally.value);
        }
    }

    /// Reports a value of another kind.
    fn expect(&mut self, value: &Node, what: &str, is_it: impl FnOnce(&NodeKind) -> bool) {
        if !matches!(value.kind, NodeKind::Broken) && !is_it(&value.kind) {
            self.context.report.error(value.at, format!("expected {what}, found {}", value.describe()), None);
        }
    }

    /// Checks the steps in a control.
    fn branch(&mut self, branch: &'n Node) {
        self.expect(branch, "a list of steps", |kind| matches!(kind, NodeKind::List(_) | NodeKind::Map(_)));
        steps(branch).iter().for_each(|step| self.step(step));
    }

    fn request(&mut self, step: &'n Node, first: &MapEntry) {
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
        if !REQUESTS.contains(&name) {
            let help = match name {
                "CallAgent" => Some(
                    "a workflow has a step that asks an agent (docs/workflows.md); programs call `POST /api/runs`"
                        .to_owned(),
                ),
                _ => suggest::help(name, REQUESTS),
            };
            return self.context.report.error(at, format!("there is no request type `{name}`"), help);
        }
        match name {
            "CallEndpoint" => {
                let Some(request) = CallRequest::read(step, self.context) else { return };
                call_request::check(&request, step, self.context);
            }
            "Http" => {
                http_request::check(step, self.context);
                http_path::warn_of_plain_values(step, self.context);
            }
            "GenerateText" => text_request::check_text(step, self.context),
            "GenerateObject" => text_request::check_object(step, self.context),
            _ => {
                let Some(request) = SqlRequest::read(step, self.context) else { return };
                sql_request::check(&request, name, step, self.context);
            }
        }
        if let Some(properties) = step.get("properties") {
            self.operators(&properties.value, matches!(name, "SqlQuery" | "SqlExecute" | "Http"));
        }
        let id = step.get("id").and_then(|entry| Some((entry.value.text()?, entry.value.at)));
        let Some((id, at)) = id else { return };
        refuse_prototype_key(id, at, self.context.report);
        if !self.step_ids.insert(id) {
            self.context.report.error(at, format!("there are two steps with the id `{id}` in this routine"), None);
        }
    }

    /// Checks operators: references must lead to an earlier step, to a surrounding loop or to a key
    /// of the payload, and secrets must be set. Secrets are allowed only in requests to databases
    /// and HTTP services, because their responses are searched for secrets.
    fn operators(&mut self, value: &'n Node, with_secrets: bool) {
        let (endpoint, done, items, in_catch) = (self.endpoint, &self.step_ids, &self.loop_items, self.in_catch);
        let env = self.context.env;
        let values = if with_secrets { &OPERATORS[..] } else { &OPERATORS[..OPERATORS.len() - 1] };
        let place = EvaluationPlace { operators: self.context.vocabulary.operators(), values, side: Side::Server };
        operator::for_each_operator(value, place, self.context.report, &mut |operator, report| {
            if operator.key == "_error" && !in_catch {
                let help = Some("only the steps under `:catch` know why something failed".to_owned());
                return report.error(operator.key_at, "`_error` has no meaning here", help);
            }
            operator::check_secret(operator, env, "a request of this routine sends it", report);
            operator::check_known_keys(operator, report);
            let Some(path) = operator.value.text() else { return };
            let first = path.split('.').next().unwrap_or(path);
            match operator.key {
                "_step" if !done.contains(first) => {
                    let help = suggest::help(first, done.iter().copied());
                    let help = help.or_else(|| Some("a step sees the results of the steps before it".to_owned()));
                    report.error(operator.value.at, format!("no step before this one has the id `{first}`"), help);
                }
                "_item" if !items.contains(&first) => {
                    let help = suggest::help(first, items.iter().copied());
                    let help = help.or_else(|| Some("`_item` reads the item of a `:for` around the step".to_owned()));
                    report.error(operator.value.at, format!("no loop around this step has the item `{first}`"), help);
                }
                "_payload" => check_payload_key(first, operator, endpoint, report),
                _ => {}
            }
        });
    }
}

/// Warns of a key that is not in the payload schema, which is probably misspelt.
fn check_payload_key(key: &str, operator: FoundOperator<'_>, endpoint: &Node, report: &mut Report) {
    let Some(schema) = endpoint.get("payloadSchema").map(|entry| &entry.value) else { return };
    let Some(properties) = schema.get("properties").map(|entry| entry.value.entries()) else { return };
    let open =
        schema.get("additionalProperties").is_some_and(|entry| !matches!(entry.value.kind, NodeKind::Bool(false)));
    if open || properties.iter().any(|entry| entry.key == key) {
        return;
    }
    let help = suggest::help(key, properties.iter().map(|entry| entry.key.as_str()));
    report.warning(operator.value.at, format!("the payload schema has no `{key}`"), help);
}
