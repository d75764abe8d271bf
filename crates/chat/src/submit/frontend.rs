//! Submissions from frontends that are not pages of the config: what such a frontend brings along
//! for the run that answers.

use crate::outside::program_tools::{self, ProgramTool};
use crate::record::audit::{self, RunContext};
use crate::submit::check::check_answers;
use agent::Agent;
use contract::{Annotations, Execution, Tool, ToolSpec};
use std::sync::Arc;
use store::{AuditEntry, StoredMessage};
use transcript::pending_calls;
use wire::api::{Answer, SendRequest, Submission};
use wire::page::UPDATE_PAGE_STATE;
use wire::question::ASK_USER;
use wire::{UiMessage, UserError};

/// The context of a frontend that is not a page of the config. The page of its request only says where the
/// conversation is listed: the agent gets neither the tools of that page nor its declared fields. All of the
/// shared state of the request is the frontend's.
#[derive(Clone, Debug, Default)]
pub struct Frontend {
    /// The tools that it runs itself. A call of one ends the run; its result comes as an answer.
    pub tools: Vec<ToolSpec>,
    /// Instructions beside those of the agent.
    pub instructions: Option<String>,
    /// The notes that the agent reads with the user's message.
    pub context: Option<String>,
    /// The results of open calls that come together with a new message.
    pub results: Vec<Answer>,
}

impl Frontend {
    /// Adds what it brings to the agent.
    ///
    /// # Errors
    /// 422 for a tool that cannot be offered beside those of the agent, 413 for results that are too large.
    pub(super) fn apply(&self, agent: Arc<Agent>) -> Result<Arc<Agent>, UserError> {
        check_answers(&self.results)?;
        program_tools::check(&self.tools, &agent)?;
        let mut agent = Arc::unwrap_or_clone(agent);
        // Nobody would run the tools of a page.
        agent.tools.retain(|tool| {
            let spec = tool.spec();
            spec.execution == Execution::Server || [ASK_USER, UPDATE_PAGE_STATE].contains(&spec.name.as_str())
        });
        let taken = |spec: &&ToolSpec| agent.tools.iter().any(|own| own.spec().name == spec.name);
        if let Some(at) = self.tools.iter().position(|spec| taken(&spec)) {
            let message = format!("The agent already has a tool `{}`.", self.tools[at].name);
            return Err(UserError::invalid(format!("/tools/{at}/name"), message));
        }
        agent.tools.extend(self.tools.iter().cloned().map(frontend_tool));
        if let Some(instructions) = &self.instructions {
            program_tools::add_instructions(&mut agent, instructions);
        }
        if let Some(context) = &self.context {
            agent.page_context = Some(match agent.page_context {
                Some(before) => format!("{before}\n\n{context}"),
                None => context.clone(),
            });
        }
        Ok(Arc::new(agent))
    }

    /// Records the results that come with a message in the newest answer of the branch. Returns that answer and
    /// the audit entries of the calls; nothing if the message is there already.
    ///
    /// # Errors
    /// 422 for the result of a call that does not wait for it.
    pub(super) fn record_results(
        &self,
        branch: &mut [StoredMessage],
        request: &SendRequest,
        subject: impl FnOnce(&str) -> RunContext,
    ) -> Result<Option<(UiMessage, Vec<AuditEntry>)>, UserError> {
        let Submission::Message { message: new, .. } = &request.submission else { return Ok(None) };
        if self.results.is_empty() || branch.iter().any(|known| known.id == new.id) {
            return Ok(None);
        }
        let last = branch.last_mut().ok_or_else(UserError::not_found)?;
        pending_calls::record_results(&mut last.message, &self.results, crate::now())?;
        let entries = audit::answered(&subject(&last.id), &last.message, &self.results);
        Ok(Some((last.message.clone(), entries)))
    }
}

/// Where the results of its tools come from is not known, so they count as private and as text from outside.
fn frontend_tool(spec: ToolSpec) -> Arc<dyn Tool> {
    let annotations = Annotations { reads_private: true, returns_untrusted: true, ..spec.annotations };
    ProgramTool::shared(ToolSpec { annotations, ..spec })
}
