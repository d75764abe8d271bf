//! Gives an agent its tools, and tells its model about the workspace.

use crate::results::{self, RefusedResults};
use crate::section::ShellLevel;
use crate::store::{self, Conversation};
use crate::tools::{self, AgentWorkspace};
use contract::{NoteQuery, RunScope, SourceTools, Tool, ToolError, ToolSource};
use futures::future::BoxFuture;
use std::collections::HashMap;
use std::sync::Arc;

const CONTEXT: &str = "You have a workspace of files for this conversation: /workspace for your own files, /uploads with what the user attached \
     (read-only), and /outputs for results. Relative paths are in /workspace. Write what the user is to get to /outputs, and show it with \
     present_files.";
const WITHOUT_PRESENTING: &str = "You have a workspace of files for this conversation: /workspace for your own files, /uploads with what the \
     user attached (read-only), and /outputs for results. Relative paths are in /workspace.";

/// The source for an agent.
pub(crate) struct WorkspaceSource {
    of: AgentWorkspace,
    agent_id: String,
    /// The tools of the agent that the user asked, and those of a sub-agent.
    own: Vec<Arc<dyn Tool>>,
    below: Vec<Arc<dyn Tool>>,
    /// The levels at which the agents of the config with a workspace run commands.
    levels: HashMap<String, ShellLevel>,
    refused: RefusedResults,
}

impl WorkspaceSource {
    pub(crate) fn new(of: AgentWorkspace, agent_id: &str, levels: HashMap<String, ShellLevel>) -> Self {
        let (own, below) = (tools::tools(&of, true), tools::tools(&of, false));
        Self { of, agent_id: agent_id.to_owned(), own, below, levels, refused: RefusedResults::default() }
    }

    /// Returns the tools of a sub-agent. Its commands run at its own level or that of the agent of the conversation,
    /// whichever is stricter, so that an agent gets around its level through none that it calls.
    fn below(&self, conversation_agent: &str) -> Vec<Arc<dyn Tool>> {
        match self.levels.get(conversation_agent) {
            Some(level) if *level < self.of.level() => tools::tools(&self.of.at_level(*level), false),
            _ => self.below.clone(),
        }
    }
}

impl ToolSource for WorkspaceSource {
    fn name(&self) -> &str {
        "workspace"
    }

    fn tools<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        Box::pin(async move {
            // Runs outside of conversations have no files.
            if scope.conversation_id.is_empty() {
                return Ok(SourceTools::default());
            }
            let of = Conversation { owner: scope.user_id.clone(), id: scope.conversation_id.clone() };
            let agent = store::agent_of(&self.of.all.store, &of).await.map_err(|error| {
                tracing::error!(%error, "the agent of a conversation cannot be read");
                ToolError::new("The files cannot be reached right now.")
            })?;
            Ok(match agent {
                None => SourceTools::default(),
                // A copy of the agent that it has delegated to is a sub-agent, too.
                Some(agent) if agent == self.agent_id && scope.agent_id == self.agent_id => {
                    SourceTools { tools: self.own.clone(), context: Some(CONTEXT.to_owned()), ..SourceTools::default() }
                }
                Some(agent) => SourceTools {
                    tools: self.below(&agent),
                    context: Some(WITHOUT_PRESENTING.to_owned()),
                    ..SourceTools::default()
                },
            })
        })
    }

    fn note<'a>(&'a self, asked: NoteQuery<'a>) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let is_saved = self.of.settings.save_results && !asked.scope.conversation_id.is_empty();
            if !is_saved {
                return None;
            }
            results::save(&self.of.open(asked.scope), &self.refused, &asked).await
        })
    }
}
