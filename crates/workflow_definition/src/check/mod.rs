//! Checks of definitions beyond their schema, with their positions in the file.

mod keys;
mod triggers;
mod values;
mod whole;

#[cfg(test)]
mod tests;

use crate::Place;
use crate::agent_section::check_descriptions;
use crate::{ListKey, Step, StepKind, Workflow, Workflows};
use config::{AccessRule, Config, Location, PathStep, Section, SectionProblems};
use std::collections::HashSet;

/// The deepest nesting of lists of steps.
const MAX_DEPTH: usize = 16;
/// The most branches of a parallel step.
const MAX_BRANCHES: usize = 16;
/// Ids of workflows that are parts of the API's paths.
const RESERVED_WORKFLOWS: [&str; 3] = ["runs", "tasks", "definitions"];
/// Ids of steps that have a meaning of their own in `$.` paths.
const RESERVED_STEPS: [&str; 4] = ["input", "user", "error", "index"];

impl Section for Workflows {
    const KEY: &'static str = "workflows";

    fn locate(&mut self, location: &dyn Fn(&[PathStep<'_>]) -> Location) {
        for (index, workflow) in self.0.iter_mut().enumerate() {
            workflow.at = Some(location(&[PathStep::Index(index)]));
        }
    }

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let mut ids = HashSet::new();
        for (index, workflow) in self.0.iter().enumerate() {
            let id = workflow.id.0.as_str();
            let at = [PathStep::Index(index), PathStep::Key("id")];
            if RESERVED_WORKFLOWS.contains(&id) {
                let help = Some("it is a part of the API's paths; use another one".to_owned());
                problems.error(&at, format!("a workflow cannot have the id `{id}`"), help);
            }
            if !ids.insert(id) {
                problems.error(&at, format!("there are two workflows with the id `{id}`"), None);
            }
            let mut checker = Checker::new(self, workflow, index, problems);
            checker.check();
        }
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        whole::check(self, config, problems);
        check_descriptions(self, config, problems);
    }

    fn access_rules(&self) -> Vec<&AccessRule> {
        Vec::new()
    }

    fn roles(&self) -> Vec<&str> {
        whole::named_roles(self).into_iter().map(|(_, role)| role).collect()
    }
}

/// Checks one workflow.
struct Checker<'c, 'a, 'n, 'r> {
    all: &'c Workflows,
    workflow: &'c Workflow,
    /// The place that is checked, from the section on.
    place: Vec<Place>,
    /// All ids of steps.
    ids: HashSet<&'c str>,
    problems: &'c mut SectionProblems<'a, 'n, 'r>,
}

/// The context of a step: the values that it can read, and the steps around it.
#[derive(Clone, Default)]
struct Surroundings<'c> {
    /// The steps that have ended before.
    results: Vec<&'c str>,
    /// The items of the loops around.
    items: Vec<&'c str>,
    /// Whether it is in a loop.
    is_in_loop: bool,
    /// Whether it handles an error.
    handles_error: bool,
    /// Whether it runs beside other steps.
    is_concurrent: bool,
    depth: usize,
}

impl<'c, 'a, 'n, 'r> Checker<'c, 'a, 'n, 'r> {
    fn new(
        all: &'c Workflows,
        workflow: &'c Workflow,
        index: usize,
        problems: &'c mut SectionProblems<'a, 'n, 'r>,
    ) -> Self {
        Self { all, workflow, place: vec![Place::Index(index)], ids: HashSet::new(), problems }
    }

    fn check(&mut self) {
        let workflow = self.workflow;
        self.within(&[Place::Key("steps".to_owned())], |here| here.collect_ids(&workflow.steps));
        self.check_schema("input", workflow.input.as_ref());
        let after = self.within(&[Place::Key("steps".to_owned())], |here| {
            here.check_list(&workflow.steps, Surroundings::default())
        });
        self.check_value("output", workflow.output.as_ref(), &after);
        self.check_triggers();
        self.check_children();
    }

    /// Runs a check at a place within the current one.
    fn within<T>(&mut self, inner: &[Place], check: impl FnOnce(&mut Self) -> T) -> T {
        let depth = self.place.len();
        self.place.extend(inner.iter().cloned());
        let result = check(self);
        self.place.truncate(depth);
        result
    }

    /// Reports an error at a place within the current one.
    fn error(&mut self, inner: &[Place], message: impl Into<String>, help: Option<String>) {
        let place: Vec<_> = self.place.iter().chain(inner).map(path_step).collect();
        self.problems.error(&place, message, help);
    }

    fn collect_ids(&mut self, steps: &'c [Step]) {
        for (index, step) in steps.iter().enumerate() {
            let id = step.id.0.as_str();
            self.within(&[Place::Index(index)], |here| {
                if RESERVED_STEPS.contains(&id) {
                    let help = Some(format!("`$.{id}` is reserved; use another id"));
                    here.error(&[key("id")], format!("a step cannot have the id `{id}`"), help);
                }
                if !here.ids.insert(id) {
                    let help = Some("ids are unique in a workflow, also those of steps within steps".to_owned());
                    here.error(&[key("id")], format!("there are two steps with the id `{id}`"), help);
                }
                for list in step.lists() {
                    here.within(&list.keys.iter().map(place).collect::<Vec<_>>(), |here| here.collect_ids(list.steps));
                }
            });
        }
    }

    /// Checks a list of steps and returns what is known after it.
    fn check_list(&mut self, steps: &'c [Step], mut around: Surroundings<'c>) -> Surroundings<'c> {
        around.depth += 1;
        if around.depth > MAX_DEPTH {
            self.error(&[], format!("steps are nested deeper than {MAX_DEPTH} levels"), None);
            return around;
        }
        for (index, step) in steps.iter().enumerate() {
            self.within(&[Place::Index(index)], |here| here.check_step(step, &around));
            around.results.push(&step.id.0);
        }
        self.check_reachable(steps);
        around
    }

    /// Reports the first step that never runs, because the one before it ends the run or fails.
    fn check_reachable(&mut self, steps: &[Step]) {
        let never_goes_on = |step: &Step| match step.kind {
            StepKind::Return(_) => true,
            StepKind::Fail(_) => step.on_error.is_empty(),
            _ => false,
        };
        let last = steps.iter().position(never_goes_on).filter(|last| last + 1 < steps.len());
        if let Some(last) = last {
            let (name, id) = (steps[last].type_name(), &steps[last].id.0);
            let message = format!("this step never runs: `{id}` before it is a `{name}`");
            self.error(&[Place::Index(last + 1), key("id")], message, None);
        }
    }

    fn check_step(&mut self, step: &'c Step, around: &Surroundings<'c>) {
        self.check_keys(step, around);
        self.check_values(step, around);
        for list in step.lists() {
            let mut inner = around.clone();
            inner.is_concurrent |= list.is_concurrent;
            let is_handler = list.keys == [ListKey::Key("onError")];
            inner.handles_error |= is_handler;
            let is_body = matches!(&step.kind, StepKind::Loop(_)) && !is_handler;
            if let StepKind::Loop(repeated) = &step.kind
                && is_body
            {
                inner.is_in_loop = true;
                if repeated.list.is_some() {
                    inner.items.push(repeated.item.as_ref().map_or("item", |item| &item.0));
                }
            }
            let places: Vec<_> = list.keys.iter().map(place).collect();
            let after = self.within(&places, |here| here.check_list(list.steps, inner));
            if let StepKind::Loop(repeated) = &step.kind
                && is_body
            {
                self.check_value("until", repeated.until.as_ref(), &after);
            }
        }
    }

    /// Reports a child workflow that does not exist, that runs this one again, or that this one may not start.
    fn check_children(&mut self) {
        let mut children = Vec::new();
        whole::for_each_step(self.workflow, &mut self.place.clone(), &mut |step, place| {
            if let StepKind::Workflow(child) = &step.kind {
                children.push((place.to_vec(), child.workflow_id.0.clone()));
            }
        });
        for (place, id) in children {
            let path: Vec<_> = place.iter().map(path_step).chain([PathStep::Key("workflowId")]).collect();
            let Some(child) = self.all.get(&id) else {
                let help = SectionProblems::name_help(&id, self.all.0.iter().map(|known| known.id.0.as_str()));
                self.problems.error(&path, format!("there is no workflow `{id}`"), help);
                continue;
            };
            if whole::reaches(self.all, child, &self.workflow.id.0, &mut HashSet::new()) {
                let message = format!("the workflow `{id}` would run `{}` again, endlessly", self.workflow.id.0);
                self.problems.error(&path, message, None);
            }
            self.check_roles_of(child, &path);
        }
    }

    /// Reports a child workflow that the rights of this one do not allow. Without `runAs`, these are known when a run
    /// starts.
    fn check_roles_of(&mut self, child: &Workflow, path: &[PathStep<'_>]) {
        let Some(roles) = self.workflow.own_roles() else { return };
        if !child.is_for(&roles) {
            let named: Vec<_> = child.roles.iter().map(|role| format!("`{}`", role.0)).collect();
            let (id, child_id) = (&self.workflow.id.0, &child.id.0);
            let message = format!("the workflow `{id}` may not start `{child_id}`, which is for other roles");
            let help = format!("`runAs` needs one of its roles: {}", named.join(", "));
            self.problems.error(path, message, Some(help));
        }
    }
}

fn key(name: &str) -> Place {
    Place::Key(name.to_owned())
}

fn place(key: &ListKey<'_>) -> Place {
    match *key {
        ListKey::Key(key) => Place::Key(key.to_owned()),
        ListKey::Index(index) => Place::Index(index),
    }
}

fn path_step(place: &Place) -> PathStep<'_> {
    match place {
        Place::Key(key) => PathStep::Key(key),
        Place::Index(index) => PathStep::Index(*index),
    }
}
