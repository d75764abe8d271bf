//! Definitions that are stored over the API, beside those of the config: versions in the database,
//! checked as the config is, and added to it. A workflow of the config takes precedence.

mod diff;
mod rights;
mod routes;
mod save;
mod table;
#[cfg(test)]
mod tests;
mod yaml;

pub(crate) use diff::{DiffLine, DiffSide, LineChange, diff};
pub(crate) use routes::routes;
pub(crate) use save::{delete, disable_unentitled, roll_back, save};
pub(crate) use table::{AuthorState, StoredVersion, StoredWorkflow, find, list, version, versions};
pub(crate) use yaml::{definition_yaml, read_definition, section_yaml};

use config::{AccessRule, Config, Section};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::Text;
use workflow_definition::{StepKind, TriggerKind, Workflow, Workflows};

/// Why a definition is not used any more whose author is deleted.
const AUTHOR_DELETED: &str = "its author, who was no administrator, was deleted";

/// Why a definition is not used any more whose author was disabled.
const AUTHOR_DISABLED: &str = "its author, who is no administrator, was disabled";

/// The users who may store definitions of workflows over the API, beside administrators. Their definitions
/// say with `runAs` which of their own roles the steps have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct WorkflowEditors {
    /// The roles.
    #[schemars(length(min = 1))]
    pub(crate) roles: Vec<Text>,
}

impl Section for WorkflowEditors {
    const KEY: &'static str = "workflowEditors";

    fn roles(&self) -> Vec<&str> {
        self.roles.iter().map(|role| role.0.as_str()).collect()
    }

    fn access_rules(&self) -> Vec<&AccessRule> {
        Vec::new()
    }
}

/// Adds the stored definitions to a config that it does not contradict.
pub(crate) fn with_stored(mut config: Config, stored: &[StoredWorkflow]) -> Config {
    let mut all = config.section::<Workflows>().cloned().unwrap_or_default();
    for row in stored.iter().filter(|row| row.is_enabled) {
        match usable(row, &all, &config) {
            Ok(workflow) => all.0.push(workflow),
            Err(why) => tracing::warn!(workflow = row.id, why, "skipped a stored workflow"),
        }
    }
    if !all.0.is_empty() {
        config.set_section(all);
    }
    config
}

/// Returns the workflow that the config itself has under this id.
pub(crate) fn in_config<'c>(config: &'c Config, id: &str) -> Option<&'c Workflow> {
    config.section::<Workflows>()?.get(id).filter(|workflow| workflow.at.is_some())
}

/// Returns the workflows that the config itself has.
pub(crate) fn own_workflows(config: &Config) -> Workflows {
    let all = config.section::<Workflows>().map_or(&[][..], |all| &all.0);
    Workflows(all.iter().filter(|workflow| workflow.at.is_some()).cloned().collect())
}

/// Returns why an enabled definition is not in use beside the config and its own workflows; `None` if it
/// is.
pub(crate) fn why_unused(row: &StoredWorkflow, own: &Workflows, config: &Config) -> Option<String> {
    usable(row, own, config).err()
}

/// Returns the workflow, if the config allows it. Whatever else can be wrong was checked when it was
/// stored; a run that meets it fails with the cause.
fn usable(row: &StoredWorkflow, all: &Workflows, config: &Config) -> Result<Workflow, String> {
    if all.get(&row.id).is_some() {
        return Err(format!("the config has a workflow `{}`, too, which is used instead", row.id));
    }
    match row.author_state {
        AuthorState::Deleted => return Err(AUTHOR_DELETED.to_owned()),
        AuthorState::Disabled => return Err(AUTHOR_DISABLED.to_owned()),
        AuthorState::Active | AuthorState::Unlimited => {}
    }
    let workflow: Workflow =
        serde_json::from_value(row.definition.clone()).map_err(|_| "it cannot be read any more".to_owned())?;
    // The config may name approvers since the definition was stored.
    if row.author_state == AuthorState::Active
        && let Some(problem) = rights::unapproved(&workflow, config).pop()
    {
        return Err(problem.message);
    }
    let mut missing = None;
    workflow.for_each_step(&mut |step| {
        let (what, id, is_there) = match &step.kind {
            StepKind::Agent(step) => ("agent", &step.agent_id.0, config.agents.contains_key(&step.agent_id.0)),
            StepKind::Tool(step) => ("agent", &step.agent_id.0, config.agents.contains_key(&step.agent_id.0)),
            StepKind::Endpoint(step) => {
                ("endpoint", &step.endpoint_id.0, config.endpoints.contains_key(&step.endpoint_id.0))
            }
            _ => return,
        };
        if !is_there {
            missing = Some(format!("there is no {what} `{id}` any more"));
        }
    });
    for trigger in &workflow.triggers {
        if let TriggerKind::Webhook(webhook) = &trigger.kind
            && !config.connections.contains_key(&webhook.connection_id.0)
        {
            missing = Some(format!("there is no connection `{}` any more", webhook.connection_id.0));
        }
    }
    missing.map_or(Ok(workflow), Err)
}
