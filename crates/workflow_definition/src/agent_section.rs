//! The key `workflows` of an agent: which workflows it may start.

use crate::{Step, StepKind, Workflow, Workflows};
use config::{Config, PathStep, Section, SectionPlace, SectionProblems};
use contract::{Annotations, Confirm, DeclaredAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::{Id, ToolName};
use std::collections::HashSet;

/// The workflows that the agent may start. Each is a tool; its run goes on in the background, and the
/// conversation gets the result when it ends.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct AgentWorkflows(#[schemars(length(min = 1, max = 50))] pub Vec<WorkflowEntry>);

/// A workflow that an agent may start: its id, or a mapping.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum WorkflowEntry {
    /// The id of a workflow of the config.
    Short(Id),
    /// The workflow, and how it is started.
    Long(WorkflowTool),
}

/// A workflow that an agent may start.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowTool {
    /// The id of the workflow.
    pub id: Id,
    /// Whether it is a definition that is stored over the API, so that the config does not know its id.
    #[serde(default)]
    pub stored: bool,
    /// The name of the tool. Default: the id.
    #[serde(default)]
    pub name: Option<ToolName>,
    /// Lets the user approve each start.
    #[serde(default)]
    pub confirm: Option<ConfirmForm>,
    /// The action when the run has ended. Default: `tell`.
    #[serde(default)]
    pub when_done: WhenDone,
    /// The annotations of a run, which say what it does with data.
    #[serde(flatten)]
    pub annotations: DeclaredAnnotations,
}

/// Whether the user approves each start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ConfirmForm {
    /// Whether approval is required.
    Plain(bool),
    /// Approval is required, with these settings.
    Terms(Confirm),
}

/// The action when the run has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WhenDone {
    /// The conversation gets the result, which the agent reads in its next turn.
    #[default]
    Tell,
    /// The agent goes on at once from the result.
    Continue,
}

impl WorkflowEntry {
    /// Returns the long form.
    pub fn tool(&self) -> WorkflowTool {
        match self {
            Self::Long(tool) => tool.clone(),
            Self::Short(id) => WorkflowTool {
                id: id.clone(),
                stored: false,
                name: None,
                confirm: None,
                when_done: WhenDone::Tell,
                annotations: DeclaredAnnotations::default(),
            },
        }
    }
}

impl WorkflowTool {
    /// Returns the name of the tool.
    pub fn name(&self) -> &str {
        self.name.as_ref().map_or(&self.id.0, |name| &name.0)
    }

    /// Returns how the user approves each start, if so.
    pub fn confirm(&self) -> Option<Confirm> {
        match self.confirm? {
            ConfirmForm::Plain(false) => None,
            ConfirmForm::Plain(true) => Some(Confirm::default()),
            ConfirmForm::Terms(terms) => Some(terms),
        }
    }

    /// Returns what a run does with data: what is declared, and otherwise what its steps may do. A start is
    /// recognized when it is repeated.
    pub fn annotations(&self, workflow: &Workflow, all: &Workflows) -> Annotations {
        let reaches_out = reaches_out(workflow, all, &mut HashSet::new());
        Annotations {
            reads_private: self.annotations.reads_private.unwrap_or(reaches_out),
            returns_untrusted: self.annotations.returns_untrusted.unwrap_or(reaches_out),
            egress: self.annotations.egress.unwrap_or(reaches_out),
            idempotent: true,
            reads_only: self.annotations.reads_only.unwrap_or_default(),
        }
    }
}

/// Returns whether a run may read or change something beside its input: it calls agents, tools or endpoints,
/// asks people, or waits for events.
fn reaches_out<'w>(workflow: &'w Workflow, all: &'w Workflows, seen: &mut HashSet<&'w str>) -> bool {
    fn any<'w>(steps: &'w [Step], all: &'w Workflows, seen: &mut HashSet<&'w str>) -> bool {
        steps.iter().any(|step| {
            let itself = match &step.kind {
                StepKind::Agent(_) | StepKind::Tool(_) | StepKind::Endpoint(_) | StepKind::Human(_) => true,
                StepKind::Wait(wait) => wait.event.is_some(),
                StepKind::Workflow(child) => {
                    all.get(&child.workflow_id.0).is_none_or(|child| reaches_out(child, all, seen))
                }
                _ => false,
            };
            itself || step.lists().any(|list| any(list.steps, all, seen))
        })
    }
    seen.insert(&workflow.id.0) && any(&workflow.steps, all, seen)
}

impl Section for AgentWorkflows {
    const KEY: &'static str = "workflows";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let mut names = HashSet::new();
        for (index, entry) in self.0.iter().enumerate() {
            let tool = entry.tool();
            let place = |key| match entry {
                WorkflowEntry::Short(_) => vec![PathStep::Index(index)],
                WorkflowEntry::Long(_) => vec![PathStep::Index(index), PathStep::Key(key)],
            };
            if !tool.stored {
                problems.check_entry::<Workflows>(&place("id"), "workflow", &tool.id.0);
            }
            let name = tool.name().to_owned();
            if !contract::is_name(&name) {
                let help = Some("give it a `name` of at most 64 letters, digits, `_` or `-`".to_owned());
                problems.error(&place("id"), format!("a tool cannot have the name `{name}`"), help);
            }
            if !names.insert(name.clone()) {
                let help = Some("give one of them another `name`".to_owned());
                problems.error(&place("name"), format!("this agent has two workflows with the name `{name}`"), help);
            }
        }
    }

    fn tool_names(&self) -> Vec<String> {
        self.0.iter().map(|entry| entry.tool().name().to_owned()).collect()
    }
}

/// Warns of workflows that an agent starts although its model cannot know what they are for.
pub(crate) fn check_descriptions(all: &Workflows, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
    for agent in config.agents.values() {
        let Some(AgentWorkflows(entries)) = agent.section() else { continue };
        for tool in entries.iter().map(WorkflowEntry::tool) {
            let found = all.0.iter().position(|workflow| workflow.id.0 == tool.id.0);
            if let Some(index) = found.filter(|index| all.0[*index].description.is_none()) {
                let message = format!("the agent `{}` starts this workflow, which has no `description`", agent.id);
                let help = Some("add it: the model chooses tools by it".to_owned());
                problems.warning(&[PathStep::Index(index)], message, help);
            }
        }
    }
}
