//! Checks of the keys of single steps.

use super::{Checker, MAX_BRANCHES, Surroundings, key, path_step};
use crate::{Ask, HumanStep, LoopStep, Step, StepKind, WaitStep};
use schemas::{Schema, SchemaError};
use serde_json::{Map, Value};

/// The kinds of errors after which a step may be tried again.
const RETRIED: [&str; 4] = ["timeout", "unavailable", "invalid", "failed"];
/// The longest time of a call.
const MAX_CALL_SECONDS: u32 = 1_800;

impl<'c> Checker<'c, '_, '_, '_> {
    pub(super) fn check_keys(&mut self, step: &'c Step, around: &Surroundings<'c>) {
        self.check_attempts(step);
        match &step.kind {
            StepKind::Agent(asked) => {
                let path: Vec<_> = self.place.iter().map(path_step).chain([config::PathStep::Key("agentId")]).collect();
                self.problems.check_agent(&path, &asked.agent_id.0);
                self.check_schema("responseSchema", asked.response_schema.as_ref());
                if asked.tools.is_empty() && !asked.approved_tools.is_empty() {
                    self.error(&[key("approvedTools")], "without `tools` there is nothing to approve", None);
                }
            }
            StepKind::Tool(called) => {
                let path: Vec<_> = self.place.iter().map(path_step).chain([config::PathStep::Key("agentId")]).collect();
                self.problems.check_agent(&path, &called.agent_id.0);
                if called.arguments.as_ref().is_some_and(|value| !value.is_object() && !value.is_string()) {
                    self.error(&[key("arguments")], "the arguments of a tool are a mapping", None);
                }
            }
            StepKind::Endpoint(called) => {
                let path: Vec<_> =
                    self.place.iter().map(path_step).chain([config::PathStep::Key("endpointId")]).collect();
                self.problems.check_endpoint(&path, &called.endpoint_id.0);
            }
            StepKind::Parallel(parallel) => {
                let count = parallel.branches.len();
                if !(1..=MAX_BRANCHES).contains(&count) {
                    let message = format!("a step has 1 to {MAX_BRANCHES} branches; this one has {count}");
                    self.error(&[key("branches")], message, None);
                }
                for name in parallel.branches.keys() {
                    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
                    if name.is_empty() || name.len() > 128 || !name.chars().all(is_name) {
                        let help = Some("use up to 128 letters, digits, `_` and `-`".to_owned());
                        self.error(
                            &[key("branches"), key(name)],
                            format!("`{name}` cannot be the name of a branch"),
                            help,
                        );
                    }
                }
            }
            StepKind::Loop(repeated) => self.check_loop(repeated),
            StepKind::Human(human) => self.check_human(human),
            StepKind::Wait(wait) => self.check_wait(wait),
            StepKind::Return(_) if around.is_concurrent => {
                let help = Some("other steps may still run; let the branches end, and return after them".to_owned());
                self.error(&[key("type")], "a run cannot return from a parallel branch or iteration", help);
            }
            _ => {}
        }
    }

    /// Reports keys that have no meaning for the type of a step.
    fn check_attempts(&mut self, step: &Step) {
        let name = step.type_name();
        let (is_call, is_child) = (step.is_call(), matches!(step.kind, StepKind::Workflow(_)));
        let is_event = matches!(&step.kind, StepKind::Wait(wait) if wait.event.is_some());
        let unused = [
            ("retry", step.retry.is_some() && !is_call && !is_child),
            ("timeoutSeconds", step.timeout_seconds.is_some() && !is_call && !is_event && !step.is_container()),
            ("idempotent", step.idempotent.is_some() && !is_call),
            ("onError", !step.on_error.is_empty() && matches!(step.kind, StepKind::Return(_))),
        ];
        for (unused, is_set) in unused {
            if is_set {
                self.error(&[key(unused)], format!("`{unused}` has no meaning for a step of the type `{name}`"), None);
            }
        }
        if is_call && step.timeout_seconds.is_some_and(|seconds| seconds > MAX_CALL_SECONDS) {
            let message = format!("a call takes at most {MAX_CALL_SECONDS} seconds");
            self.error(&[key("timeoutSeconds")], message, None);
        }
        for (index, kind) in step.retry.iter().flat_map(|retry| retry.on.iter().enumerate()) {
            if !RETRIED.contains(&kind.0.as_str()) {
                let help = config::SectionProblems::name_help(&kind.0, RETRIED);
                let at = [key("retry"), key("on"), super::Place::Index(index)];
                self.error(&at, format!("there is no kind of error `{}`", kind.0), help);
            }
        }
    }

    fn check_loop(&mut self, repeated: &LoopStep) {
        if repeated.list.is_some() == repeated.until.is_some() {
            self.error(&[], "a loop has either `in` or `until`", None);
        }
        if repeated.until.is_some() {
            let help = "iterations with `until` run one after the other".to_owned();
            if repeated.concurrency.is_some() {
                self.error(&[key("concurrency")], "`concurrency` has no meaning with `until`", Some(help));
            }
            if repeated.item.is_some() {
                self.error(&[key("item")], "`item` has no meaning with `until`", None);
            }
        }
        if let Some(item) = repeated.item.as_ref().filter(|item| super::RESERVED_STEPS.contains(&item.0.as_str())) {
            self.error(&[key("item")], format!("an item cannot have the name `{}`", item.0), None);
        }
    }

    fn check_wait(&mut self, wait: &WaitStep) {
        let given = [wait.seconds.is_some(), wait.until.is_some(), wait.event.is_some()];
        if given.iter().filter(|is_given| **is_given).count() != 1 {
            self.error(&[], "a wait has either `seconds`, `until` or `event`", None);
        }
        match &wait.event {
            Some(event) => self.check_event(&event.0, wait.senders.as_ref()),
            None => {
                for (name, is_set) in [("where", wait.condition.is_some()), ("senders", wait.senders.is_some())] {
                    if is_set {
                        self.error(&[key(name)], format!("`{name}` has a meaning with `event` only"), None);
                    }
                }
            }
        }
    }

    fn check_lapse(&mut self, human: &HumanStep) {
        if human.reminders.is_some() && human.remind_seconds.is_none() {
            self.error(&[key("reminders")], "without `remindSeconds` there are no reminders", None);
        }
        let Some(lapse) = &human.on_lapse else { return };
        if human.due_seconds.is_none() {
            self.error(&[key("onLapse")], "without `dueSeconds` nothing lapses", None);
        }
        let given = [lapse.output.is_some(), lapse.fail.is_some(), !lapse.steps.is_empty()];
        if given.iter().filter(|is_given| **is_given).count() != 1 {
            self.error(&[key("onLapse")], "set exactly one of `output`, `fail` and `steps`", None);
        }
    }

    fn check_human(&mut self, human: &HumanStep) {
        if human.roles.is_empty() && human.users.is_empty() {
            let help = Some("name who may answer: `roles: [manager]`".to_owned());
            self.error(&[], "nobody may answer this", help);
        }
        let needed = [
            ("choices", human.ask == Ask::Choose, !human.choices.is_empty()),
            ("form", human.ask == Ask::Form, human.form.is_some()),
        ];
        for (name, is_needed, is_set) in needed {
            match (is_needed, is_set) {
                (true, false) => self.error(&[key("ask")], format!("`{name}` is missing here"), None),
                (false, true) => {
                    let ask = if name == "form" { "form" } else { "choose" };
                    self.error(&[key(name)], format!("`{name}` has a meaning with `ask: {ask}` only"), None);
                }
                _ => {}
            }
        }
        self.check_lapse(human);
        self.check_schema("form", human.form.as_ref());
    }

    /// Reports a schema that cannot be used.
    pub(super) fn check_schema(&mut self, name: &str, schema: Option<&Map<String, Value>>) {
        let Some(schema) = schema else { return };
        let problem = match Schema::new(&Value::Object(schema.clone())) {
            Ok(_) => return,
            Err(SchemaError::Invalid { path, message, .. }) => {
                format!("this is not a JSON Schema: {message} at `{path}`")
            }
            Err(other) => format!("this schema cannot be used: {other}"),
        };
        self.error(&[key(name)], problem, None);
    }
}
