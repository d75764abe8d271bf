//! Begins the run that answers a submission, or joins one that the same submission started earlier.

use crate::admission::permits::RunPermit;
use crate::errors::Result;
use crate::files::attachments::FileReader;
use crate::record::audit::RunContext;
use crate::record::telemetry;
use crate::run::hooks::HookObserver;
use crate::run::start::{self, RunStart};
use crate::stream::live::{LiveRun, RunIdentity};
use crate::stream::{remote, watch};
use crate::submit::compaction;
use crate::submit::plan::SubmissionPlan;
use crate::{Caller, Frames, Hooks, Inner, SendResponse, TitleAgent, errors};
use agent::{Agent, ContextInput, EarlierMessages, ExposureState};
use contract::{Message, RunScope};
use faults::Point;
use std::sync::Arc;
use store::{AuditEntry, BeginRun, BeginRunOutcome};
use transcript::{context, exposure, pending_calls, to_prompt};
use wire::api::SendRequest;
use wire::{Role, UiMessage, UiPart, UserError};

/// A submission that has passed all checks.
pub(crate) struct AcceptedSubmission {
    pub(crate) request: SendRequest,
    /// The id of the run that will answer it.
    pub(crate) run_id: String,
    pub(crate) agent: Arc<Agent>,
    pub(crate) hooks: Option<Arc<dyn Hooks>>,
    /// Names the conversation, if it is new.
    pub(crate) title_agent: Option<TitleAgent>,
    pub(crate) plan: SubmissionPlan,
    pub(crate) permit: RunPermit,
}

impl Inner {
    /// Stores the submission and starts its run.
    pub(crate) async fn begin(self: &Arc<Self>, caller: &Caller, accepted: AcceptedSubmission) -> Result<SendResponse> {
        let AcceptedSubmission { request, run_id, agent, hooks, title_agent, mut plan, permit } = accepted;
        // Read before the run starts, so that a failure of the store leaves nothing behind.
        let mut prompt = self.prompt(caller, &agent, &plan).await?;
        if plan.covered.is_some() && !prompt.follows_summary {
            plan = plan.with_whole_history();
            prompt = self.prompt(caller, &agent, &plan).await?;
        }
        let Prompt { messages: prompt, own_from, mut context, .. } = prompt;
        if context.compaction.is_some() && !context.has_open_turns(&prompt) {
            return Err(compaction::nothing_to_summarize().into());
        }
        // A summary on demand is no turn of the agent, so hooks are not called.
        let hooks = hooks.filter(|_| context.compaction.is_none());
        let covered = plan.covered.take();
        let before = covered.as_ref().map(|covered| covered.exposure.clone()).unwrap_or_default();
        let seen = exposure::after(before, plan.history.iter().chain([&plan.message]));
        context.earlier = covered.map(EarlierMessages::new);
        let now = crate::now();
        let begin = BeginRun {
            conversation_id: request.conversation_id.clone(),
            page_id: request.page_id.clone(),
            agent_id: request.agent_id,
            title: plan.title,
            submission_key: plan.key,
            insert: plan.insert,
            update: plan.update,
            message_id: plan.message.id.clone(),
            run_id: run_id.clone(),
            now,
            lease_until: now + crate::upkeep::LEASE.as_millis() as i64,
            audit: plan.audit,
            grants: plan.grants,
        };
        faults::point(Point::SendChecked);
        let begun = self.store.begin_run(&caller.user_id, begin).await?;
        faults::point(Point::SendStored);
        match begun {
            BeginRunOutcome::Busy { .. } => Err(errors::busy().into()),
            BeginRunOutcome::Duplicate { run_id, message_id, .. } => {
                self.join(caller, &request.conversation_id, run_id, message_id).await
            }
            BeginRunOutcome::Started { epoch } => {
                let identity = RunIdentity {
                    run_id: run_id.clone(),
                    conversation_id: request.conversation_id,
                    owner: caller.user_id.clone(),
                    message_id: plan.message.id.clone(),
                    epoch,
                };
                let grants = self.grants(caller, &identity.conversation_id);
                let pending = self.with_grants(&plan.message, plan.pending, &agent.id, &grants).await;
                let subject = RunContext::for_run(&identity, &agent.id);
                let question = plan.history.last().filter(|_| plan.is_new);
                let title = title_agent.zip(question).and_then(|(title_agent, question)| {
                    let about = (caller, request.page_id.as_str(), subject);
                    self.titles.start((&self.workers, &self.tasks), title_agent, about, question)
                });
                let is_file = |part: &UiPart| matches!(part, UiPart::File(_));
                let has_files = plan.history.last().is_some_and(|asked| asked.parts.iter().any(is_file));
                let hooks = hooks.map(|hooks| HookObserver::new(hooks, plan.history, &agent));
                let message_id = plan.message.id.clone();
                let live = LiveRun::new(identity, plan.message, plan.continues, self.stopping.child_token());
                let live = Arc::new(live);
                start::start(
                    self,
                    live.clone(),
                    RunStart {
                        agent,
                        page_id: request.page_id,
                        scope: RunScope {
                            plan_mode: request.options.plan_mode,
                            documents: request.options.documents,
                            libraries: request.options.libraries.map(Into::into),
                            web: request.options.web,
                            has_files,
                            // Chats name themselves, and other clients do not show what a tool asks.
                            shows_questions: request.block_id.is_some(),
                            ..caller.scope()
                        },
                        hooks,
                        title,
                        prompt,
                        own_from,
                        context,
                        pending,
                        grants: Arc::new(grants),
                        seen: ExposureState::from(seen),
                        earlier: plan.earlier,
                        quota_warning: plan.quota_warning,
                        trace: telemetry::current_trace(),
                    },
                    permit,
                );
                // The sender has the message so far, so only new events follow.
                Ok(SendResponse { run_id, message_id, frames: watch::stream_after_start(self.store.clone(), live) })
            }
        }
    }

    /// Returns what the model reads of a plan's messages, with the content of files.
    async fn prompt(&self, caller: &Caller, agent: &Agent, plan: &SubmissionPlan) -> Result<Prompt> {
        let files = FileReader {
            store: &self.store,
            texts: &self.attachment_texts,
            owner: &caller.user_id,
            are_searched: agent.searches_attachments,
        };
        let read = files.with_files(&plan.history).await?;
        Ok(prompt(&read, plan, agent.page_context.as_deref()))
    }

    /// Returns the stream of a run that this submission started earlier.
    async fn join(
        &self,
        caller: &Caller,
        conversation_id: &str,
        run_id: String,
        message_id: String,
    ) -> Result<SendResponse> {
        let live = self.registry.get(&caller.user_id, conversation_id).filter(|live| live.identity.run_id == run_id);
        let frames = match live {
            Some(live) => watch::stream_whole(self.store.clone(), live),
            None => self.join_remote_or_ended(caller, conversation_id, &run_id, &message_id).await?,
        };
        Ok(SendResponse { run_id, message_id, frames })
    }

    /// Returns the stream of a run on another server, or of one that has ended.
    async fn join_remote_or_ended(
        &self,
        caller: &Caller,
        conversation_id: &str,
        run_id: &str,
        message_id: &str,
    ) -> Result<Frames> {
        let known = self.store.conversation(&caller.user_id, conversation_id).await?;
        let remote = known.and_then(|known| remote::active_run(&self.store, &caller.user_id, &known));
        if let Some(run) = remote.filter(|run| run.run_id == run_id) {
            return self.whole_remote(run).await;
        }
        let messages = self.store.messages(&caller.user_id, conversation_id).await?;
        let message = messages.into_iter().find(|stored| stored.id == message_id);
        Ok(watch::stream_ended(&message.ok_or_else(UserError::not_found)?.message))
    }

    /// Stores answers without starting a run, while other calls still wait.
    pub(crate) async fn keep_answers(
        &self,
        caller: &Caller,
        conversation_id: &str,
        plan: SubmissionPlan,
    ) -> Result<SendResponse> {
        let SubmissionPlan { message, grants, audit, .. } = plan;
        let run_id = self.store.last_run(&caller.user_id, conversation_id).await?;
        let run_id = run_id.unwrap_or_default();
        let audit = audit.into_iter().map(|entry| AuditEntry { run_id: run_id.clone(), ..entry }).collect();
        let kept =
            self.store.update_message_with_grants(&caller.user_id, conversation_id, message.clone(), audit, grants);
        kept.await?;
        Ok(SendResponse {
            run_id: String::new(),
            message_id: message.id.clone(),
            frames: watch::stream_ended(&message),
        })
    }
}

/// The messages with which a run begins.
struct Prompt {
    /// The history, and then the content of the message.
    messages: Vec<Arc<Message>>,
    /// The index at which the message starts.
    own_from: usize,
    /// The part of them that the model reads.
    context: ContextInput,
    /// Whether the history begins with a message of the user, in front of which the model reads the summary of the
    /// covered messages.
    follows_summary: bool,
}

/// Returns the prompt of a plan. The loop adds the results of decided calls.
fn prompt(history: &[UiMessage], plan: &SubmissionPlan, page: Option<&str>) -> Prompt {
    // A summary that is continued begins anew after the pieces that are done.
    let own = (plan.continues && plan.compaction.is_none()).then_some(&plan.message);
    let covered = plan.covered.as_ref();
    let answer = covered.and_then(|covered| covered.answer.as_ref());
    let (messages, ends) = to_prompt::to_prompt_after(answer, history.iter().chain(own), pending_calls::is_decided);
    let own_from = history.len().checked_sub(1).and_then(|last| ends.get(last)).copied().unwrap_or_default();
    let known = covered.map(|covered| covered.context());
    let context = context::input(known, history, &plan.message, &ends, page, crate::now());
    let measured = context.measured.or_else(|| covered?.measured());
    let context = ContextInput { compaction: plan.compaction.clone(), measured, ..context };
    let first = history.iter().zip(&ends).find(|(_, end)| **end > 0);
    let begins_turn = first.is_some_and(|(first, _)| first.role == Role::User);
    let follows_summary = begins_turn && context.projection.covers_earlier;
    Prompt { messages, own_from, context, follows_summary }
}
