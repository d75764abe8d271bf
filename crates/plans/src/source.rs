//! Gives an agent the tool, and tells its model about the plan.

use crate::notes;
use crate::section::{PlanMode, PlanSettings};
use crate::store::{self, StoredPlan};
use crate::tool::{WriteTodos, conversation};
use ::store::{Store, StoreError};
use contract::{NoteQuery, RunScope, SourceTools, ToolError, ToolSource};
use futures::future::BoxFuture;
use std::sync::Arc;

const INSTRUCTIONS: &str = "You plan your work. For a task that needs several steps, call write_todos with all steps before you begin. Mark a step \
     as in_progress when you begin it and as completed as soon as it is done, before the next one. Add steps that turn out \
     to be needed, and remove those that are not. The user sees the plan and may change it; you are told then, and go on \
     with the changed plan. Answer a simple question without a plan.";

const WITH_APPROVAL: &str =
    "The user approves the steps of the plan. Before that, do not call tools that change something.";

/// The source for an agent.
pub(crate) struct PlanSource {
    store: Store,
    agent_id: String,
    settings: PlanSettings,
    tool: Arc<WriteTodos>,
}

impl PlanSource {
    pub(crate) fn new(store: &Store, agent_id: &str, settings: PlanSettings) -> Self {
        let tool = Arc::new(WriteTodos::new(store.clone(), settings.approve));
        Self { store: store.clone(), agent_id: agent_id.to_owned(), settings, tool }
    }

    /// Returns the plan of the conversation if the agent plans in this run; `Some(None)` if it has not
    /// written one yet. A sub-agent has no plan of its own: the one of the conversation is its caller's.
    async fn plan(&self, scope: &RunScope) -> Result<Option<Option<StoredPlan>>, StoreError> {
        let is_off = self.settings.mode == PlanMode::Optional && scope.plan_mode == Some(false);
        if scope.conversation_id.is_empty() || scope.agent_id != self.agent_id || is_off {
            return Ok(None);
        }
        let agent = store::find_agent(&self.store, conversation(scope)).await?;
        if agent.as_deref() != Some(&self.agent_id) {
            return Ok(None);
        }
        let known = store::current(&self.store, conversation(scope)).await?;
        // Programs do not say what the user has chosen. An agent that has a plan goes on with it.
        let is_on = self.settings.mode == PlanMode::Always || scope.plan_mode == Some(true) || known.is_some();
        Ok(is_on.then_some(known))
    }
}

impl ToolSource for PlanSource {
    fn name(&self) -> &str {
        "plan"
    }

    fn tools<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        Box::pin(async move {
            let plan = self.plan(scope).await.map_err(|error| {
                tracing::error!(%error, "the plan of a conversation cannot be read");
                ToolError::new("The plan cannot be read right now.")
            })?;
            if plan.is_none() {
                return Ok(SourceTools::default());
            }
            let context =
                if self.settings.approve { format!("{INSTRUCTIONS} {WITH_APPROVAL}") } else { INSTRUCTIONS.to_owned() };
            Ok(SourceTools { tools: vec![self.tool.clone()], context: Some(context), ..SourceTools::default() })
        })
    }

    fn note<'a>(&'a self, query: NoteQuery<'a>) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let NoteQuery { scope, messages, .. } = query;
            let note = async {
                let Some(Some(known)) = self.plan(scope).await? else { return Ok(None) };
                let note = notes::note(&known, messages);
                if !known.is_read {
                    store::mark_read(&self.store, conversation(scope), known).await?;
                }
                Ok::<_, StoreError>(note)
            };
            note.await.unwrap_or_else(|error| {
                tracing::error!(%error, "the plan of a conversation cannot be read");
                None
            })
        })
    }
}
