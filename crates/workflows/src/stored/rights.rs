//! The rights to store definitions, and the rights with which these run.

use super::{AUTHOR_DELETED, AUTHOR_DISABLED, AuthorState, StoredWorkflow, WorkflowEditors};
use ::store::{ADMIN, EventKind, User};
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

/// Returns the problems with the rights of a definition. If its author is not an administrator, its steps have at most the
/// author's roles, no matter who starts it, and cannot see the runs of other users.
pub(super) fn problems(workflow: &Workflow, caller: &Caller, config: &Config) -> Vec<ValueProblem> {
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
        let message = "it is not defined with which rights the steps run".to_owned();
        problems.push(ValueProblem { path: String::new(), message, help });
    }
    let events = workflow.triggers.iter().enumerate().filter_map(|(index, trigger)| match &trigger.kind {
        TriggerKind::Event(listens) => Some((format!("/triggers/{index}/event"), listens.event.0.as_str())),
        _ => None,
    });
    let mut events: Vec<(String, &str)> = events.collect();
    visit("/steps", &workflow.steps, &mut |at, step| {
        if let StepKind::Wait(WaitStep { event: Some(event), .. }) = &step.kind {
            events.push((format!("{at}/event"), event.0.as_str()));
        }
    });
    for (path, event) in events {
        if OF_ALL_RUNS.iter().any(|kind| kind.name() == event) {
            let message = format!(
                "`{event}` reports the runs of all users, so only administrators may let a workflow wait for it"
            );
            let help = Some("ask an administrator to save this definition".to_owned());
            problems.push(ValueProblem { path, message, help });
        }
    }
    problems.extend(unapproved(workflow, config));
    problems
}

/// Returns the calls that a definition approves in advance, although its steps have none of the roles `approvers` of the
/// agent: whoever may write a definition would otherwise decide instead of those who control them.
pub(super) fn unapproved(workflow: &Workflow, config: &Config) -> Vec<ValueProblem> {
    let roles = workflow.own_roles().unwrap_or_default();
    let mut problems = Vec::new();
    visit("/steps", &workflow.steps, &mut |at, step| {
        let (agent_id, key) = match &step.kind {
            StepKind::Agent(asked) if !asked.approved_tools.is_empty() => (&asked.agent_id.0, "approvedTools"),
            StepKind::Tool(called) if called.approved => (&called.agent_id.0, "approved"),
            _ => return,
        };
        let approvers = config.agents.get(agent_id).map_or(&[][..], |agent| &agent.settings.approvers);
        if !approvers.is_empty() && !approvers.iter().any(|role| roles.contains(role)) {
            let message =
                format!("only users with one of the roles `approvers` of the agent `{agent_id}` approve its calls");
            let help = Some(format!("`runAs` needs one of these roles: {}", approvers.join(", ")));
            problems.push(ValueProblem { path: format!("{at}/{key}"), message, help });
        }
    });
    problems
}

/// Returns the reason why a definition may not be used any more: its author is not an administrator, and has lost their
/// account or a role that the steps have. `author` is the account as it is now.
pub(super) fn lost(row: &StoredWorkflow, author: Option<&User>) -> Option<String> {
    match row.author_state {
        AuthorState::Unlimited => return None,
        AuthorState::Deleted => return Some(AUTHOR_DELETED.to_owned()),
        AuthorState::Disabled => return Some(AUTHOR_DISABLED.to_owned()),
        AuthorState::Active => {}
    }
    let roles = &author?.roles;
    if roles.iter().any(|role| role == ADMIN) {
        return None;
    }
    // A definition that cannot be read is not used anyway.
    let workflow: Workflow = serde_json::from_value(row.definition.clone()).ok()?;
    let of_triggers = workflow.triggers.iter().filter_map(|trigger| trigger.run_as.as_ref());
    let of_triggers = of_triggers.flat_map(|rights| rights.roles.iter().flatten());
    let named = workflow.run_as.iter().flat_map(|run_as| &run_as.roles).chain(of_triggers);
    let gone = named.map(|role| &role.0).find(|role| !roles.contains(role))?;
    Some(format!("its author no longer has the role `{gone}`, with which it runs"))
}

/// Calls a function with all steps and their places.
fn visit<'s>(path: &str, steps: &'s [Step], found: &mut dyn FnMut(&str, &'s Step)) {
    for (index, step) in steps.iter().enumerate() {
        let at = format!("{path}/{index}");
        found(&at, step);
        for list in step.lists() {
            let mut below = at.clone();
            for key in &list.keys {
                below.push('/');
                match key {
                    ListKey::Key(name) => below.push_str(&name.replace('~', "~0").replace('/', "~1")),
                    ListKey::Index(index) => below.push_str(&index.to_string()),
                }
            }
            visit(&below, list.steps, found);
        }
    }
}
