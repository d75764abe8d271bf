//! Who may store definitions, and with which rights these run.

use super::WorkflowEditors;
use ::store::EventKind;
use chat::Caller;
use config::{Config, ValueProblem};
use settings::Text;
use web::admin::is_admin;
use wire::UserError;
use workflow_definition::{ListKey, Step, StepKind, TriggerKind, WaitStep, Workflow};

/// Checks that a caller may read and change stored definitions.
///
/// # Errors
/// 404, as for everything that a caller may not see.
pub(super) fn check_editor(config: &Config, caller: &Caller) -> Result<(), UserError> {
    let editors = config.section::<WorkflowEditors>().map_or(&[][..], |editors| &editors.roles);
    let is_editor = editors.iter().any(|role| caller.has_role(&role.0));
    if is_editor || is_admin(caller) { Ok(()) } else { Err(UserError::not_found()) }
}

/// The events that say something of the runs of all users: titles of questions, errors and ids of users.
const OF_ALL_RUNS: [EventKind; 3] = [EventKind::TaskWaiting, EventKind::TaskReminded, EventKind::WorkflowEnded];

/// Returns what is wrong with the rights of a definition: the steps of a workflow by somebody who is no
/// administrator have the author's roles at most, whoever starts it, and learn nothing of the runs of other users.
pub(super) fn problems(workflow: &Workflow, caller: &Caller) -> Vec<ValueProblem> {
    if is_admin(caller) {
        return Vec::new();
    }
    let mut problems = Vec::new();
    let mut check = |path: String, roles: &[Text]| {
        for (index, role) in roles.iter().enumerate().filter(|(_, role)| !caller.has_role(&role.0)) {
            let message = format!("you do not have the role `{}`, so your workflow cannot run with it", role.0);
            problems.push(ValueProblem { path: format!("{path}/{index}"), message, help: None });
        }
    };
    if let Some(run_as) = &workflow.run_as {
        check("/runAs/roles".to_owned(), &run_as.roles);
    }
    for (index, trigger) in workflow.triggers.iter().enumerate() {
        if let Some(run_as) = &trigger.run_as {
            check(format!("/triggers/{index}/runAs/roles"), run_as.roles.as_deref().unwrap_or_default());
        }
    }
    if workflow.run_as.is_none() {
        let help = Some("name roles of yours: `\"runAs\": { \"roles\": [\"clerk\"] }`".to_owned());
        let message = "this does not say with which rights the steps run".to_owned();
        problems.push(ValueProblem { path: String::new(), message, help });
    }
    let events = workflow.triggers.iter().enumerate().filter_map(|(index, trigger)| match &trigger.kind {
        TriggerKind::Event(listens) => Some((format!("/triggers/{index}/event"), listens.event.0.as_str())),
        _ => None,
    });
    let mut events: Vec<(String, &str)> = events.collect();
    add_events("/steps", &workflow.steps, &mut events);
    for (path, event) in events {
        if OF_ALL_RUNS.iter().any(|kind| kind.name() == event) {
            let message = format!(
                "`{event}` tells of the runs of all users, so only administrators may let a workflow wait for it"
            );
            let help = Some("ask an administrator to save this definition".to_owned());
            problems.push(ValueProblem { path, message, help });
        }
    }
    problems
}

/// Adds the events for which steps wait, each with its place.
fn add_events<'s>(path: &str, steps: &'s [Step], events: &mut Vec<(String, &'s str)>) {
    for (index, step) in steps.iter().enumerate() {
        let at = format!("{path}/{index}");
        if let StepKind::Wait(WaitStep { event: Some(event), .. }) = &step.kind {
            events.push((format!("{at}/event"), event.0.as_str()));
        }
        for list in step.lists() {
            let mut below = at.clone();
            for key in &list.keys {
                below.push('/');
                match key {
                    ListKey::Key(name) => below.push_str(&name.replace('~', "~0").replace('/', "~1")),
                    ListKey::Index(index) => below.push_str(&index.to_string()),
                }
            }
            add_events(&below, list.steps, events);
        }
    }
}
