//! Checks of the values of steps: which operators stand in them, and what they refer to.

use super::{Checker, Surroundings, key, path_step};
use crate::{OPERATORS, Place, Reference, Step, StepKind, Target, ValuePath, references};
use config::SectionProblems;
use operators::{ExpressionLanguage, variables};
use serde_json::{Map, Value};

/// The variables of templates and expressions. Only the condition of a wait for an event has `event`; elsewhere the
/// operator of that name is refused.
const VARIABLES: [&str; 6] = ["input", "user", "step", "item", "error", "event"];

impl<'c> Checker<'c, '_, '_, '_> {
    pub(super) fn check_values(&mut self, step: &'c Step, around: &Surroundings<'c>) {
        match &step.kind {
            StepKind::Agent(step) => self.check_value("prompt", Some(&step.prompt), around),
            StepKind::Tool(step) => self.check_value("arguments", step.arguments.as_ref(), around),
            StepKind::Endpoint(step) => self.check_value("payload", step.payload.as_ref(), around),
            StepKind::If(step) => self.check_value("test", Some(&step.test), around),
            StepKind::Switch(step) => {
                for (index, case) in step.cases.iter().enumerate() {
                    self.within(&[key("cases"), Place::Index(index)], |here| {
                        here.check_value("test", Some(&case.test), around);
                    });
                }
            }
            StepKind::Loop(step) => self.check_value("in", step.list.as_ref(), around),
            StepKind::Human(step) => {
                self.check_value("title", Some(&step.title), around);
                self.check_value("details", step.details.as_ref(), around);
                if let Some(output) = step.on_lapse.as_ref().and_then(|lapse| lapse.output.as_ref()) {
                    self.within(&[key("onLapse")], |here| here.check_static("output", output));
                }
            }
            StepKind::Wait(step) => {
                self.check_value("until", step.until.as_ref(), around);
                let operators = [&OPERATORS[..], &["_event"]].concat();
                self.check_value_with("where", step.condition.as_ref(), around, &operators);
            }
            StepKind::Workflow(step) => self.check_value("input", step.input.as_ref(), around),
            StepKind::Return(step) => self.check_value("value", step.value.as_ref(), around),
            StepKind::Fail(step) => self.check_value("message", Some(&step.message), around),
            StepKind::Parallel(_) => {}
        }
    }

    /// Reports operators in a value that is used as it is written.
    fn check_static(&mut self, name: &str, value: &Value) {
        if operators::is_dynamic(value) || !references(value).is_empty() {
            self.error(
                &[key(name)],
                "this value is used as it is written; operators and `$.` paths have no effect",
                None,
            );
        }
    }

    pub(super) fn check_value(&mut self, name: &str, value: Option<&Value>, around: &Surroundings<'c>) {
        self.check_value_with(name, value, around, &OPERATORS);
    }

    fn check_value_with(
        &mut self,
        name: &str,
        value: Option<&Value>,
        around: &Surroundings<'c>,
        operators: &[&'static str],
    ) {
        let Some(value) = value else { return };
        self.within(&[key(name)], |here| {
            let path: Vec<_> = here.place.iter().map(path_step).collect();
            here.problems.check_operators(&path, operators);
            for reference in references(value) {
                here.check_reference(&reference, around);
            }
        });
    }

    fn check_reference(&mut self, Reference { target, keys, place }: &Reference<'_>, around: &Surroundings<'c>) {
        match *target {
            Target::Step(id) => self.check_step_reference(id, keys, place, around),
            Target::Path(root) if !is_item(root, around) => self.check_step_reference(root, keys, place, around),
            Target::Input => self.check_input_reference(keys, place),
            Target::Item(name) => self.check_item_reference(name, place, around),
            Target::Source(language, text) => self.check_source(language, text, place, around),
            Target::Error => self.check_error_reference(place, around),
            Target::InvalidPath(text) => {
                let problem = ValuePath::parse(text).err().unwrap_or_default();
                let help =
                    Some("a text that begins with `$.` is a path; a plain one is `{ _template: \"$.…\" }`".to_owned());
                self.error(place, problem, help);
            }
            Target::Path(_) | Target::User | Target::AllSteps => {}
        }
    }

    fn check_error_reference(&mut self, place: &[Place], around: &Surroundings<'c>) {
        if !around.handles_error {
            self.error(place, "there is no error here", Some("only the steps of `onError` have one".to_owned()));
        }
    }

    fn check_item_reference(&mut self, name: &str, place: &[Place], around: &Surroundings<'c>) {
        if !is_item(name, around) {
            let known = around.items.iter().copied().chain(around.is_in_loop.then_some("index"));
            let help = SectionProblems::name_help(name, known)
                .or_else(|| Some("only the steps of a loop have an item".to_owned()));
            self.error(place, format!("there is no item `{name}` here"), help);
        }
    }

    /// Checks the references of a template or an expression. Its syntax is checked with that of all others.
    fn check_source(&mut self, language: ExpressionLanguage, text: &str, place: &[Place], around: &Surroundings<'c>) {
        for path in variables(language, text).unwrap_or_default() {
            let names: Vec<_> = path.split('.').collect();
            match names.as_slice() {
                ["step", id, keys @ ..] => self.check_step_reference(id, keys, place, around),
                ["item", name, ..] => self.check_item_reference(name, place, around),
                ["input", keys @ ..] => self.check_input_reference(keys, place),
                ["error", ..] => self.check_error_reference(place, around),
                [name, ..] if !VARIABLES.contains(name) => {
                    let help = SectionProblems::name_help(name, VARIABLES);
                    self.error(place, format!("there is no variable `{name}`"), help);
                }
                _ => {}
            }
        }
    }

    /// Reports a key of the input that the schema of the input excludes.
    fn check_input_reference(&mut self, keys: &[&str], place: &[Place]) {
        let Some((depth, known)) = self.workflow.input.as_ref().and_then(|schema| excluded_key(schema, keys)) else {
            return;
        };
        let help = SectionProblems::name_help(keys[depth], known);
        self.error(place, format!("the input has no key `{}`", keys[..=depth].join(".")), help);
    }

    /// Reports a branch that a parallel step does not have. With `onError`, its output may be that of other steps.
    fn check_branch(&mut self, id: &str, keys: &[&str], place: &[Place]) {
        let workflow = self.workflow;
        let Some(step) = workflow.step(id).filter(|step| step.on_error.is_empty()) else { return };
        let (StepKind::Parallel(parallel), Some(name)) = (&step.kind, keys.first()) else { return };
        if !parallel.branches.contains_key(*name) {
            let help = SectionProblems::name_help(name, parallel.branches.keys().map(String::as_str));
            self.error(place, format!("the step `{id}` has no branch `{name}`"), help);
        }
    }

    fn check_step_reference(&mut self, id: &str, keys: &[&str], place: &[Place], around: &Surroundings<'c>) {
        if around.results.contains(&id) {
            return self.check_branch(id, keys, place);
        }
        if self.ids.contains(id) {
            let help = "a step reads the steps before it in its own list and before the steps around it; what is within another step is read through the output of that step".to_owned();
            return self.error(place, format!("the step `{id}` has no result here"), Some(help));
        }
        let help = SectionProblems::name_help(id, around.results.iter().copied());
        self.error(place, format!("there is no step `{id}`"), help);
    }
}

fn is_item(name: &str, around: &Surroundings<'_>) -> bool {
    around.items.contains(&name) || name == "index" && around.is_in_loop
}

/// Returns the index of the first of these keys, each within the one before, that a schema excludes, and the keys that
/// the schema has there.
fn excluded_key<'s>(schema: &'s Map<String, Value>, keys: &[&str]) -> Option<(usize, Vec<&'s str>)> {
    let mut schema = schema;
    for (depth, key) in keys.iter().enumerate() {
        if schema.contains_key("$ref") {
            return None;
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        match properties.and_then(|properties| properties.get(*key)) {
            Some(inner) => schema = inner.as_object()?,
            None => {
                let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
                    && !schema.contains_key("patternProperties");
                let known: Vec<_> = properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
                return is_closed.then_some((depth, known));
            }
        }
    }
    None
}
