//! Handles a submission: checks it, stores it, and starts a run. Only the user's own text is
//! trusted: ids are looked up together with their owner, and decisions are recorded in the server's
//! own messages.

use crate::admission::quota_locks::QuotaPass;
use crate::errors::Result;
use crate::files::attachments;
use crate::ids::new_id;
use crate::record::audit::{self, RunContext};
use crate::submit::SentSubmission;
use crate::submit::begin::AcceptedSubmission;
use crate::submit::branch::{Branch, known};
use crate::submit::check::check;
use crate::submit::metadata;
use crate::submit::origin::TextOrigin;
use crate::submit::plan::{self, SubmissionPlan};
use crate::submit::preset;
use crate::upkeep::recover;
use crate::{AgentRequest, Caller, Frontend, Inner, SendResponse, errors};
use agent::Agent;
use faults::Point;
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use store::StoredMessage;
use wire::api::{SendRequest, Submission};
use wire::message::PASSED_OVER;
use wire::{Role, UserError};

/// Returns whether a program has written the message of a submission.
fn is_of_program(submission: &Submission) -> bool {
    matches!(submission, Submission::Message { message, .. } if TextOrigin::from_message(message) == TextOrigin::Program)
}

/// Returns whether what a submission answers depends on which summary is the newest before it.
fn leaves_branch(submission: &Submission) -> bool {
    matches!(submission, Submission::Regenerate { .. } | Submission::Message { replaces: Some(_), .. })
}

impl Inner {
    /// See [`crate::Chat::send`]. A panic is a bug; it must not leave an open run without a task
    /// behind, because the conversation would stay busy until the server restarts.
    pub(crate) async fn send_to_end(
        self: &Arc<Self>,
        caller: &Caller,
        submission: SentSubmission,
    ) -> Result<SendResponse> {
        let (run_id, conversation_id) = (new_id(), submission.request.conversation_id.clone());
        match AssertUnwindSafe(self.send(caller, submission, run_id.clone())).catch_unwind().await {
            Ok(result) => result,
            Err(_) => {
                let live = self.registry.get(&caller.user_id, &conversation_id);
                if live.is_none_or(|live| live.identity.run_id != run_id) {
                    recover::close_own(&self.store, &self.recovery, |run| run.run_id == run_id).await;
                }
                Err(errors::internal().into())
            }
        }
    }

    async fn send(
        self: &Arc<Self>,
        caller: &Caller,
        submission: SentSubmission,
        run_id: String,
    ) -> Result<SendResponse> {
        let SentSubmission { mut request, frontend, after, audit: entries } = submission;
        faults::point(Point::SendReceived);
        let limits = self.agents.submission_limits(caller);
        check(&request, &limits)?;
        // Checked before anything is read, so that a submission over the limit costs next to
        // nothing. Decisions may only be stored, which needs no permit.
        if !matches!(request.submission, Submission::Answers { .. }) {
            self.check_capacity()?;
        }
        if let Submission::Message { message, .. } = &mut request.submission {
            attachments::resolve_files(&self.store, &caller.user_id, message).await?;
        }
        self.complete_options(caller, &mut request).await?;
        let asked = AgentRequest { has_own_frontend: frontend.is_some(), ..AgentRequest::new(caller, &request) };
        let mut agent = self.agents.agent(&asked).await?;
        if let Some(frontend) = &frontend {
            agent = frontend.apply(agent)?;
        }
        let hooks = self.agents.hooks(&asked);
        // Held until the run has started, so that what is read below does not change: of two
        // concurrent decisions, one is recorded.
        let _turn = self.conversation_locks.lock(&self.store, &request.conversation_id).await?;
        // Hooks and recordings have all messages with their files, and a route is chosen by them.
        let reads_whole = hooks.is_some() || agent.recorder.is_some() || !agent.routes.is_empty();
        let reads_whole = reads_whole || leaves_branch(&request.submission);
        let branch = self.current_branch(caller, &request, reads_whole).await?;
        let is_repeated = match (&request.submission, &branch) {
            (Submission::Message { message, .. }, Some(branch)) => branch.has(&message.id),
            _ => false,
        };
        // A repeated message is in the conversation already.
        if let Some(after) = after.filter(|_| !is_repeated)
            && branch.as_ref().is_none_or(|branch| !branch.ends_well_with(&after))
        {
            return Err(errors::gone_on().into());
        }
        let (covered, branch) = match branch {
            // The messages before the repeated one may be covered.
            Some(branch) if is_repeated => (None, Some(branch.decode_whole().await?)),
            Some(Branch { covered, messages }) => (covered, Some(messages)),
            None => (None, None),
        };
        // A repeated message only joins its run.
        let mut pass = if is_repeated {
            QuotaPass::UNLIMITED
        } else {
            let is_message = matches!(request.submission, Submission::Message { .. } | Submission::Regenerate { .. });
            self.check_quotas(caller, is_message, agent.unpriced_model()).await?
        };
        let plan = self
            .plan(caller, &request, frontend.as_ref(), branch, &agent, &run_id)
            .await?
            .with_choice(&request.options);
        // The pass itself is held until the message is stored.
        let mut plan = SubmissionPlan { covered, quota_warning: pass.warning.take(), ..plan };
        plan.audit.extend(entries);
        if plan.is_waiting() {
            return self.keep_answers(caller, &request.conversation_id, plan).await;
        }
        // Of many copies of one submission at once, one takes a permit. Joining takes none of the
        // user's permits.
        let permit = self.acquire_permit(caller, if is_repeated { usize::MAX } else { limits.runs })?;
        let title_agent = if plan.is_new { self.agents.title_agent(&asked, &agent) } else { None };
        let title_agent = title_agent.filter(|titles| !titles.is_for_users || !is_of_program(&request.submission));
        self.begin(caller, AcceptedSubmission { request, run_id, agent, hooks, title_agent, plan, permit }).await
    }

    /// Returns the conversation's active branch, with expired requests closed; `None` for a new conversation. With
    /// `is_whole`, no message is covered by a summary.
    pub(super) async fn current_branch(
        &self,
        caller: &Caller,
        request: &SendRequest,
        is_whole: bool,
    ) -> Result<Option<Branch>> {
        let (user_id, id) = (&caller.user_id, &request.conversation_id);
        let Some(conversation) = self.store.conversation(user_id, id).await? else { return Ok(None) };
        // The conversation's approvals, audit log and runs refer to one agent, so no other agent
        // may answer in it.
        if conversation.summary.agent_id != request.agent_id {
            return Err(errors::other_agent().into());
        }
        let mut branch = if is_whole {
            Branch::from(self.store.branch(user_id, id).await?)
        } else {
            let room = if self.memory.is_short() { 0 } else { known::ROOM };
            self.known_messages.branch(&self.store, user_id, id, room).await?
        };
        if let Some(last) = branch.messages.last_mut() {
            self.expire(caller, &request.agent_id, id, last).await?;
        }
        Ok(Some(branch))
    }

    /// Plans what the submission changes. `branch` is the active one, `None` in a new conversation.
    async fn plan(
        &self,
        caller: &Caller,
        request: &SendRequest,
        frontend: Option<&Frontend>,
        branch: Option<Vec<StoredMessage>>,
        agent: &Agent,
        run_id: &str,
    ) -> Result<SubmissionPlan> {
        let subject = |message_id: &str| RunContext {
            user_id: caller.user_id.clone(),
            agent_id: request.agent_id.clone(),
            conversation_id: request.conversation_id.clone(),
            message_id: message_id.to_owned(),
            run_id: run_id.to_owned(),
        };
        let is_unknown = branch.is_none();
        let mut branch = branch.unwrap_or_default();
        let is_new = branch.is_empty();
        let results = match frontend {
            Some(frontend) => frontend.record_results(&mut branch, request, subject)?,
            None => None,
        };
        // Everything but an answer leaves the pending calls of the newest message undecided.
        let undecided = branch.last().map(|last| audit::passed_over(&subject(&last.id), &last.message, PASSED_OVER));
        let left = branch.last().and_then(plan::left_behind);
        let plan = match &request.submission {
            Submission::Message { message, replaces, history } => {
                metadata::check(message)?;
                let branch = match replaces {
                    Some(replaced) => self.before(caller, &request.conversation_id, replaced).await?,
                    // The message may be a repeated one: the store returns the run that it started.
                    None => branch.into_iter().take_while(|known| known.id != message.id).collect(),
                };
                let preset = if is_unknown {
                    preset::preset_messages(&self.store, &caller.user_id, history, &message.id).await?
                } else {
                    Vec::new()
                };
                let plan = plan::plan_message(branch, message, preset);
                SubmissionPlan { is_new, ..plan }
            }
            Submission::Regenerate { message_id } => plan::plan_regenerate(branch, message_id.as_deref())?,
            Submission::Answers { answers } => {
                let plan = plan::plan_answers(branch, answers, &agent.id, &request.conversation_id)?;
                let audit = audit::answered(&subject(&plan.message.id), &plan.message, answers);
                let plan = SubmissionPlan { audit, ..plan };
                return Ok(if plan.is_waiting() { plan } else { plan.with_pending_calls() });
            }
            Submission::Continue => return Ok(plan::plan_continue(branch, &agent.settings.context)?),
        };
        let plan = plan.with_compaction(&agent.settings.context)?;
        let (answered, entries) = results.unzip();
        let audit = entries.into_iter().chain(undecided).flatten().collect();
        Ok(plan.leaving(left.or(answered), audit))
    }

    /// Returns the branch that ends before a user message, anywhere in the tree.
    async fn before(&self, caller: &Caller, conversation_id: &str, message_id: &str) -> Result<Vec<StoredMessage>> {
        if !self.tree(caller, conversation_id).await?.has(message_id) {
            return Err(UserError::not_found().into());
        }
        let all = self.store.messages(&caller.user_id, conversation_id).await?;
        let found = |id: &str| all.iter().find(|stored| stored.id == id);
        let replaced = found(message_id).filter(|stored| stored.message.role == Role::User);
        let mut parent = replaced.ok_or_else(UserError::not_found)?.parent_id.clone();
        let mut branch = Vec::new();
        // Parents are older than their children, so the loop ends; the limit also protects against
        // a damaged row.
        while let (Some(stored), true) = (parent.as_deref().and_then(found), branch.len() <= all.len()) {
            branch.push(stored.clone());
            parent = stored.parent_id.clone();
        }
        branch.reverse();
        Ok(branch)
    }
}
