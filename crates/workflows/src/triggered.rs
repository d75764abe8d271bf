//! Runs that no user's request starts: what the capability of triggers needs.

use crate::engine::wake;
use crate::input;
use crate::store::{self, NewRun, RunCaller, RunState};
use crate::stored;
use ::store::sql::Db;
use ::store::{Store, StoreError};
use config::Config;
use jobs::{Due, Jobs};
use serde_json::Value;
use settings::Quota;
use std::collections::HashMap;
use workflow_definition::{Trigger, Workflow, Workflows};

/// A workflow that has triggers.
#[derive(Clone, Debug)]
pub struct TriggeredWorkflow {
    /// The workflow.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its triggers.
    pub triggers: Vec<Trigger>,
}

/// A run to start.
#[derive(Clone, Debug)]
pub struct TriggeredRun {
    /// The workflow.
    pub workflow_id: String,
    /// The input, which [`check_input`] has accepted.
    pub input: Value,
    /// The user to whom the run belongs.
    pub user_id: String,
    /// The roles of the steps, unless the workflow says them.
    pub roles: Vec<String>,
    /// The workflows whose events led to this run, from the first one.
    pub causes: Vec<String>,
    /// Unix time in milliseconds.
    pub now: i64,
}

/// The outcome of starting a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartOutcome {
    /// The run with this id has started.
    Started(String),
    /// The user has too many runs that have not ended.
    Full,
    /// The config has no such workflow.
    Unknown,
}

/// How a run has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// With an output.
    Done,
    /// With an error.
    Failed(String),
    /// It was stopped.
    Stopped,
    /// It was deleted.
    Gone,
}

/// Returns the id of the user to whom the runs of a trigger belong. Ids of other users contain no `:`.
pub fn trigger_user_id(workflow_id: &str, trigger_id: &str) -> String {
    format!("trigger:{workflow_id}/{trigger_id}")
}

/// Returns the user who has saved the definition of a workflow; `None` for one of the config's files.
///
/// # Errors
/// The database failed.
pub async fn author(store: &Store, config: &Config, workflow_id: &str) -> Result<Option<String>, StoreError> {
    if stored::in_config(config, workflow_id).is_some() {
        return Ok(None);
    }
    Ok(stored::find(store, workflow_id).await?.map(|definition| definition.author))
}

/// Returns whether a user id is that of a trigger.
pub(crate) fn is_trigger_user(user_id: &str) -> bool {
    user_id.starts_with("trigger:")
}

/// Returns the quotas that a config gives the trigger to which a user id belongs; none for other users.
pub fn trigger_quotas(config: &Config, user_id: &str) -> Vec<Quota> {
    let Some(key) = user_id.strip_prefix("trigger:") else { return Vec::new() };
    let all = config.section::<Workflows>().map_or(&[][..], |all| &all.0);
    let of_workflow = |workflow: &'_ Workflow| {
        let is_it = |trigger: &&Trigger| {
            key.strip_prefix(&*workflow.id.0).and_then(|rest| rest.strip_prefix('/')) == Some(&*trigger.id.0)
        };
        workflow.triggers.iter().find(is_it).and_then(Trigger::quota)
    };
    all.iter().filter_map(of_workflow).collect()
}

/// Returns the workflows of a config that have triggers.
pub fn triggered_workflows(config: &Config) -> Vec<TriggeredWorkflow> {
    let all = config.section::<Workflows>().map_or(&[][..], |all| &all.0);
    let triggered = all.iter().filter(|workflow| !workflow.triggers.is_empty());
    triggered
        .map(|workflow| TriggeredWorkflow {
            id: workflow.id.0.clone(),
            title: workflow.title().to_owned(),
            triggers: workflow.triggers.clone(),
        })
        .collect()
}

/// Checks the input of a run.
///
/// # Errors
/// The problem of the input, in one line.
pub async fn check_input(config: &Config, workflow_id: &str, input: &Value) -> Result<(), String> {
    match find(config, workflow_id) {
        Some(workflow) => input::check(workflow, input).await.map_err(|error| {
            let path = error.path.as_deref().and_then(|path| path.strip_prefix("/input")).unwrap_or_default();
            if path.is_empty() { error.message } else { format!("{path}: {}", error.message) }
        }),
        None => Err(format!("There is no workflow `{workflow_id}` any more.")),
    }
}

/// Starts a run in a transaction.
///
/// # Errors
/// The database failed.
pub async fn start_in(
    db: &mut Db,
    jobs: &Jobs,
    config: &Config,
    run: TriggeredRun,
) -> Result<StartOutcome, StoreError> {
    let TriggeredRun { workflow_id, input, user_id, roles, causes, now } = run;
    let Some(workflow) = find(config, &workflow_id).cloned() else { return Ok(StartOutcome::Unknown) };
    let roles = workflow.own_roles().unwrap_or(roles);
    let new = NewRun {
        id: crate::new_id(),
        owner: user_id,
        limits: workflow.limits,
        workflow,
        parent: None,
        ancestors: Vec::new(),
        key_base: String::new(),
        rerun_of: None,
        causes,
        caller: RunCaller { name: None, is_authenticated: true, roles },
        input,
        now,
    };
    if !store::insert_run(db, &new).await? {
        return Ok(StartOutcome::Full);
    }
    wake(jobs, db, &new.id, &new.owner, Due::Now).await?;
    Ok(StartOutcome::Started(new.id))
}

/// Returns how these runs have ended; those that have not are left out.
///
/// # Errors
/// The database failed.
pub async fn ends(store: &Store, run_ids: Vec<String>) -> Result<HashMap<String, RunEnd>, StoreError> {
    let mut states = store::states(store, run_ids.clone()).await?;
    let end = |id: String| {
        let end = match states.remove(&id) {
            None => RunEnd::Gone,
            Some((RunState::Done, _)) => RunEnd::Done,
            Some((RunState::Stopped, _)) => RunEnd::Stopped,
            Some((RunState::Failed, error)) => RunEnd::Failed(error.map(|error| error.message).unwrap_or_default()),
            Some((RunState::Running | RunState::Waiting, _)) => return None,
        };
        Some((id, end))
    };
    Ok(run_ids.into_iter().filter_map(end).collect())
}

fn find<'c>(config: &'c Config, id: &str) -> Option<&'c Workflow> {
    config.section::<Workflows>()?.get(id)
}
