//! Checks that need the whole config: roles, and the prices of models under a cost limit.

use super::path_step;
use crate::Place;
use crate::{Step, StepKind, Trigger, TriggerKind, Workflow, Workflows};
use config::{Config, PathStep, SectionProblems};
use std::collections::HashSet;

/// Visits all steps of a workflow with their places. `place` is that of the workflow.
pub(super) fn for_each_step<'w>(
    workflow: &'w Workflow,
    place: &mut Vec<Place>,
    visit: &mut dyn FnMut(&'w Step, &[Place]),
) {
    place.push(super::key("steps"));
    visit_list(&workflow.steps, place, visit);
    place.pop();
}

fn visit_list<'w>(steps: &'w [Step], place: &mut Vec<Place>, visit: &mut dyn FnMut(&'w Step, &[Place])) {
    for (index, step) in steps.iter().enumerate() {
        place.push(Place::Index(index));
        visit(step, place);
        for list in step.lists() {
            let depth = place.len();
            place.extend(list.keys.iter().map(super::place));
            visit_list(list.steps, place, visit);
            place.truncate(depth);
        }
        place.pop();
    }
}

/// Returns whether a workflow is the one with this id, or runs it.
pub(super) fn reaches<'w>(all: &'w Workflows, from: &'w Workflow, id: &str, seen: &mut HashSet<&'w str>) -> bool {
    if from.id.0 == id {
        return true;
    }
    seen.insert(&from.id.0) && children(all, from).into_iter().any(|child| reaches(all, child, id, seen))
}

/// Returns the workflows that a workflow runs itself.
fn children<'w>(all: &'w Workflows, workflow: &'w Workflow) -> Vec<&'w Workflow> {
    let mut children = Vec::new();
    for_each_step(workflow, &mut Vec::new(), &mut |step, _| {
        if let StepKind::Workflow(child) = &step.kind {
            children.extend(all.get(&child.workflow_id.0));
        }
    });
    children
}

/// Returns the roles that workflows name, with their places.
pub(super) fn named_roles(all: &Workflows) -> Vec<(Vec<Place>, &str)> {
    let mut named = Vec::new();
    for (index, workflow) in all.0.iter().enumerate() {
        let mut place = vec![Place::Index(index)];
        for (at, role) in workflow.roles.iter().enumerate() {
            named.push((within(&place, &["roles"], at), role.0.as_str()));
        }
        for (at, role) in workflow.run_as.iter().flat_map(|run_as| run_as.roles.iter().enumerate()) {
            named.push((within(&place, &["runAs", "roles"], at), role.0.as_str()));
        }
        for (at, trigger) in workflow.triggers.iter().enumerate() {
            let place = within(&place, &["triggers"], at);
            for (at, role) in trigger.run_as.iter().flat_map(|rights| rights.roles.iter().flatten().enumerate()) {
                named.push((within(&place, &["runAs", "roles"], at), role.0.as_str()));
            }
            if let TriggerKind::Event(event) = &trigger.kind {
                let senders = event.senders.iter().flat_map(|roles| roles.iter().enumerate());
                named.extend(senders.map(|(at, role)| (within(&place, &["senders"], at), role.0.as_str())));
            }
        }
        for_each_step(workflow, &mut place, &mut |step, place| {
            let (key, roles) = match &step.kind {
                StepKind::Human(human) => ("roles", &human.roles[..]),
                StepKind::Wait(wait) => ("senders", wait.senders.as_deref().unwrap_or_default()),
                _ => return,
            };
            named.extend(roles.iter().enumerate().map(|(at, role)| (within(place, &[key], at), role.0.as_str())));
        });
    }
    named
}

fn within(place: &[Place], keys: &[&str], index: usize) -> Vec<Place> {
    place.iter().cloned().chain(keys.iter().map(|name| super::key(name))).chain([Place::Index(index)]).collect()
}

pub(super) fn check(all: &Workflows, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
    check_roles(all, config, problems);
    for workflow in &all.0 {
        let has_quota = workflow.triggers.iter().filter_map(Trigger::quota).any(|quota| quota.cost_usd.is_some());
        let limit = match (workflow.limits.cost_usd, has_quota) {
            (Some(_), _) => format!("the cost limit of the workflow `{}`", workflow.id.0),
            (None, true) => format!("the quota of a trigger of the workflow `{}`", workflow.id.0),
            (None, false) => continue,
        };
        let (mut agents, mut endpoints) = (Vec::new(), Vec::new());
        collect(all, workflow, &mut HashSet::new(), &mut agents, &mut endpoints);
        problems.check_prices(config, &limit, &agents, &endpoints);
    }
}

/// Reports roles that nothing else names and that are similar to one that something names: they are
/// probably misspelt, and nobody would have them.
fn check_roles(all: &Workflows, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
    let elsewhere = config.roles_outside_sections();
    let named = named_roles(all);
    for (place, role) in &named {
        let is_repeated = named.iter().filter(|(_, other)| other == role).count() > 1;
        if elsewhere.contains(role) || is_repeated {
            continue;
        }
        let others = elsewhere.iter().copied().chain(named.iter().map(|(_, other)| *other));
        if let Some(nearest) = SectionProblems::nearest_name(role, others) {
            let path: Vec<PathStep<'_>> = place.iter().map(path_step).collect();
            let help = Some(format!("did you mean `{nearest}`?"));
            problems.error(&path, format!("nothing else names the role `{role}`"), help);
        }
    }
}

/// Collects the agents and endpoints that a workflow and its children use.
fn collect<'w>(
    all: &'w Workflows,
    workflow: &'w Workflow,
    seen: &mut HashSet<&'w str>,
    agents: &mut Vec<&'w str>,
    endpoints: &mut Vec<&'w str>,
) {
    if !seen.insert(&workflow.id.0) {
        return;
    }
    for_each_step(workflow, &mut Vec::new(), &mut |step, _| match &step.kind {
        StepKind::Agent(asked) => agents.push(&asked.agent_id.0),
        StepKind::Tool(called) => agents.push(&called.agent_id.0),
        StepKind::Endpoint(called) => endpoints.push(&called.endpoint_id.0),
        _ => {}
    });
    for child in children(all, workflow) {
        collect(all, child, seen, agents, endpoints);
    }
}
