//! Handles a submission: checks it, stores it, and starts a run. Only the user's own text is
//! trusted: ids are looked up together with their owner, and decisions are recorded in the server's
//! own messages.

use crate::admission::permits::{PermitError, RunPermit};
use crate::files::attachments;
use crate::ids::{check_id, new_id};
use crate::record::audit::{self, RunContext};
use crate::record::telemetry;
use crate::run::hooks::HookObserver;
use crate::run::{exposure, start, to_prompt};
use crate::stream::live::{LiveRun, RunIdentity};
use crate::stream::{remote, watch};
use crate::submit::{pending_calls, standing_approvals};
use crate::upkeep::recover;
use crate::{AgentRequest, Caller, Frames, Hooks, Inner, SendResponse, SubmissionLimits, errors};
use agent::{PendingCall, TurnUsage};
use faults::Point;
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use store::{AuditEntry, BeginRun, BeginRunOutcome, Conversation, NewGrant, NewMessage, StoredMessage};
use wire::api::{Answer, MessageMetadata, SendRequest, Submission};
use wire::{ErrorCode, Role, TextPart, ToolPart, UiMessage, UiPart, UserError};

/// The maximum size of a browser tool's output in bytes of JSON.
const MAX_OUTPUT_BYTES: usize = 256 * 1024;
/// The maximum number of messages that a client may import into a new conversation.
const MAX_HISTORY: usize = 500;
/// The maximum number of switches.
const MAX_SWITCHES: usize = 50;
/// The maximum length of a switch's key in bytes.
const MAX_SWITCH_KEY: usize = 64;
/// The maximum length of a title in characters.
const MAX_TITLE: usize = 60;
/// The prompt for continuing an interrupted answer.
const GO_ON: &str = "Your answer was cut off. Go on from where it stopped, without repeating anything.";

/// The effect of a submission on the conversation.
struct SubmissionPlan {
    /// The idempotency key.
    key: String,
    insert: Vec<NewMessage>,
    update: Vec<UiMessage>,
    /// The assistant message that the run writes, in its initial state.
    message: UiMessage,
    /// Whether the message has content already.
    continues: bool,
    /// The messages that the model reads before `message`.
    history: Vec<UiMessage>,
    /// Whether the model must be asked to continue.
    go_on: bool,
    title: String,
    /// The audit entries of calls that end with the submission.
    audit: Vec<AuditEntry>,
    /// The calls that the user decided on, and those to repeat, which the run handles first.
    pending: Vec<PendingCall>,
    /// The standing approvals that the submission creates.
    grants: Vec<NewGrant>,
    /// The usage of the turn before it waited for the user.
    earlier: TurnUsage,
}

impl SubmissionPlan {
    /// Moves the decisions from the message to the pending calls of the new run, together with
    /// interrupted calls that need no decision.
    fn with_pending_calls(mut self) -> Self {
        self.pending = pending_calls::decided_calls(&self.message);
        self.pending.extend(pending_calls::reopen_interrupted(&mut self.message));
        pending_calls::forget_suspended(&mut self.message, &self.pending);
        self.earlier = pending_calls::stored_usage(&self.message);
        Self { update: vec![self.message.clone()], ..self }
    }
}

impl Inner {
    /// See [`crate::Chat::send`]. A panic is a bug; it must not leave an open run without a task
    /// behind, because the conversation would stay busy until the server restarts.
    pub(crate) async fn send_to_end(
        self: &Arc<Self>,
        caller: &Caller,
        request: SendRequest,
    ) -> Result<SendResponse, UserError> {
        let (run_id, conversation_id) = (new_id(), request.conversation_id.clone());
        match AssertUnwindSafe(self.send(caller, request, run_id.clone())).catch_unwind().await {
            Ok(result) => result,
            Err(_) => {
                let live = self.registry.get(&caller.user_id, &conversation_id);
                if live.is_none_or(|live| live.identity.run_id != run_id) {
                    recover::close_own(&self.store, |run| run.run_id == run_id).await;
                }
                Err(errors::internal())
            }
        }
    }

    async fn send(
        self: &Arc<Self>,
        caller: &Caller,
        mut request: SendRequest,
        run_id: String,
    ) -> Result<SendResponse, UserError> {
        faults::point(Point::SendReceived);
        let bounds = self.agents.submission_limits(caller);
        check(&request, &bounds)?;
        // Checked before anything is read, so that a submission over the limit costs next to
        // nothing. Decisions may only be stored, which needs no permit.
        if !matches!(request.submission, Submission::Answers { .. }) {
            self.check_capacity()?;
        }
        if let Submission::Message { message, .. } = &mut request.submission {
            attachments::resolve_files(&self.store, &caller.user_id, message).await.map_err(errors::store_error)?;
        }
        let agent = self.agents.agent(&AgentRequest::new(caller, &request)).await?;
        let hooks = self.agents.hooks(&AgentRequest::new(caller, &request));
        // Held until the run has started, so that what is read below does not change: of two
        // concurrent decisions, one is recorded.
        let _turn =
            self.conversation_locks.lock(&self.store, &request.conversation_id).await.map_err(errors::store_error)?;
        let conversation =
            self.store.conversation(&caller.user_id, &request.conversation_id).await.map_err(errors::store_error)?;
        // The conversation's approvals, audit log and runs refer to one agent, so no other agent
        // may answer in it.
        if conversation.as_ref().is_some_and(|known| known.summary.agent_id != request.agent_id) {
            return Err(errors::other_agent());
        }
        let mut branch = match &conversation {
            Some(_) => {
                self.store.branch(&caller.user_id, &request.conversation_id).await.map_err(errors::store_error)?
            }
            None => Vec::new(),
        };
        if let (Some(last), Some(_)) = (branch.last_mut(), &conversation) {
            let expired = self.expire(caller, &request.agent_id, &request.conversation_id, last).await;
            expired.map_err(errors::store_error)?;
        }
        let is_repeated = match &request.submission {
            Submission::Message { message, .. } => branch.iter().any(|known| known.id == message.id),
            _ => false,
        };
        // A repeated message only joins its run.
        if !is_repeated {
            let is_message = matches!(request.submission, Submission::Message { .. } | Submission::Regenerate { .. });
            self.check_quotas(caller, is_message, agent.unpriced_model()).await?;
        }
        let subject = |message_id: &str| RunContext {
            user_id: caller.user_id.clone(),
            agent_id: request.agent_id.clone(),
            conversation_id: request.conversation_id.clone(),
            message_id: message_id.to_owned(),
            run_id: run_id.clone(),
        };
        // Everything but an answer leaves the pending calls of the newest message undecided.
        let left =
            branch.last().map(|last| audit::passed_over(&subject(&last.id), &last.message, wire::message::PASSED_OVER));
        let left = left.unwrap_or_default();
        // The user may return to that branch, so its pending calls are closed.
        let closed = branch.last().and_then(left_behind);
        let close =
            |plan: SubmissionPlan| SubmissionPlan { update: with_closed(plan.update, closed), audit: left, ..plan };
        let plan = match &request.submission {
            Submission::Message { message, replaces, history } => self
                .plan_message(caller, &request, conversation.as_ref(), branch, message, replaces.as_deref(), history)
                .await
                .map(close)?,
            Submission::Regenerate { message_id } => plan_regenerate(branch, message_id.as_deref()).map(close)?,
            Submission::Answers { answers } => {
                let plan = plan_answers(branch, answers, &agent.id, &request.conversation_id)?;
                let audit = audit::answered(&subject(&plan.message.id), &plan.message, answers);
                if plan.message.tools().any(pending_calls::is_pending) {
                    return self.keep_answers(caller, &request.conversation_id, plan, audit).await;
                }
                SubmissionPlan { audit, ..plan.with_pending_calls() }
            }
            Submission::Continue => plan_continue(branch)?,
        };
        // Of many copies of one submission at once, one takes a permit. Joining takes none of the
        // user's permits.
        let place = self.acquire_permit(caller, if is_repeated { usize::MAX } else { bounds.runs })?;
        self.begin(caller, request, (run_id, place), agent, hooks, plan).await
    }

    async fn begin(
        self: &Arc<Self>,
        caller: &Caller,
        request: SendRequest,
        (run_id, place): (String, RunPermit),
        agent: Arc<agent::Agent>,
        hooks: Option<Arc<dyn Hooks>>,
        plan: SubmissionPlan,
    ) -> Result<SendResponse, UserError> {
        // Read before the run starts, so that a failure of the store leaves nothing behind.
        let read =
            attachments::with_files(&self.store, &caller.user_id, &plan.history).await.map_err(errors::store_error)?;
        let (prompt, own_from) = prompt(&read, &plan.message, plan.continues, plan.go_on);
        drop(read);
        let seen = exposure::for_branch(plan.history.iter().chain([&plan.message]));
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
        let begun = self.store.begin_run(&caller.user_id, begin).await.map_err(errors::store_error)?;
        faults::point(Point::SendStored);
        match begun {
            BeginRunOutcome::Busy { .. } => Err(errors::busy()),
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
                let observer = hooks.map(|hooks| HookObserver::new(hooks, plan.history, &agent));
                let message_id = plan.message.id.clone();
                let live = LiveRun::new(identity, plan.message, plan.continues, self.stopping.child_token());
                let live = Arc::new(live);
                start::start(
                    self,
                    live.clone(),
                    start::RunStart {
                        agent,
                        page_id: request.page_id,
                        token: caller.bearer.clone(),
                        observer,
                        prompt,
                        own_from,
                        pending,
                        grants: Arc::new(grants),
                        seen,
                        earlier: plan.earlier,
                        trace: telemetry::current_trace(),
                    },
                    place,
                );
                // The sender has the message so far, so only new events follow.
                Ok(SendResponse { run_id, message_id, frames: watch::stream_after_start(self.store.clone(), live) })
            }
        }
    }

    /// Returns a permit for another run of the caller, who may have `most`, unless the server is
    /// draining or full.
    fn acquire_permit(&self, caller: &Caller, most: usize) -> Result<RunPermit, UserError> {
        self.check_capacity()?;
        self.run_permits.acquire(&caller.user_id, most, self.memory.is_short()).map_err(|refusal| match refusal {
            PermitError::Full => errors::server_full(10),
            PermitError::UserFull => errors::too_many_runs(most),
            PermitError::NoMemory => self.memory.refuse(),
        })
    }

    /// Checks whether a run could start at all.
    fn check_capacity(&self) -> Result<(), UserError> {
        if self.stopping.is_cancelled() || self.tasks.is_closed() {
            return Err(errors::draining());
        }
        self.memory.admit(self.is_answering())?;
        if self.run_permits.has_free() { Ok(()) } else { Err(errors::server_full(10)) }
    }

    /// Returns whether any run or invocation is active.
    pub(crate) fn is_answering(&self) -> bool {
        self.run_permits.is_any_taken() || self.invocations.is_any_running()
    }

    /// Returns the stream of a run that this submission started earlier.
    async fn join(
        &self,
        caller: &Caller,
        conversation_id: &str,
        run_id: String,
        message_id: String,
    ) -> Result<SendResponse, UserError> {
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
    ) -> Result<Frames, UserError> {
        let known = self.store.conversation(&caller.user_id, conversation_id).await.map_err(errors::store_error)?;
        let remote = known.and_then(|known| remote::active_run(&self.store, &caller.user_id, &known));
        if let Some(run) = remote.filter(|run| run.run_id == run_id) {
            return self.whole_remote(run).await;
        }
        let messages = self.store.messages(&caller.user_id, conversation_id).await.map_err(errors::store_error)?;
        let message = messages.into_iter().find(|stored| stored.id == message_id);
        Ok(watch::stream_ended(&message.ok_or_else(UserError::not_found)?.message))
    }

    /// Stores answers without starting a run, while other calls still wait.
    async fn keep_answers(
        &self,
        caller: &Caller,
        conversation_id: &str,
        plan: SubmissionPlan,
        audit: Vec<AuditEntry>,
    ) -> Result<SendResponse, UserError> {
        let SubmissionPlan { message, grants, .. } = plan;
        let run_id = self.store.last_run(&caller.user_id, conversation_id).await.map_err(errors::store_error)?;
        let run_id = run_id.unwrap_or_default();
        let audit = audit.into_iter().map(|entry| AuditEntry { run_id: run_id.clone(), ..entry }).collect();
        let kept =
            self.store.update_message_with_grants(&caller.user_id, conversation_id, message.clone(), audit, grants);
        kept.await.map_err(errors::store_error)?;
        Ok(SendResponse {
            run_id: String::new(),
            message_id: message.id.clone(),
            frames: watch::stream_ended(&message),
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one submission, taken apart by its match")]
    async fn plan_message(
        &self,
        caller: &Caller,
        request: &SendRequest,
        conversation: Option<&Conversation>,
        mut branch: Vec<StoredMessage>,
        message: &UiMessage,
        replaces: Option<&str>,
        history: &[UiMessage],
    ) -> Result<SubmissionPlan, UserError> {
        let mut insert = Vec::new();
        if conversation.is_none() {
            import_history(history, &mut branch, &mut insert);
        }
        if let Some(replaced) = replaces {
            branch = self.before(caller, &request.conversation_id, replaced).await?;
        } else if branch.last().is_some_and(|last| last.id == message.id)
            || branch.iter().any(|known| known.id == message.id)
        {
            // A repeated message: the store returns the run that it started.
            branch.truncate(branch.iter().position(|known| known.id == message.id).unwrap_or(branch.len()));
        }
        let mut update = Vec::new();
        if let Some(last) = branch.last_mut()
            && last.message.role == Role::Assistant
            && pending_calls::supersede(&mut last.message)
        {
            update.push(last.message.clone());
        }
        let user = UiMessage { metadata: created_now(), ..sanitized(message) };
        let parent_id = branch.last().map(|last| last.id.clone());
        let answer = UiMessage { metadata: created_now(), ..UiMessage::new(new_id(), Role::Assistant) };
        insert.push(NewMessage { parent_id, message: user.clone() });
        insert.push(NewMessage { parent_id: Some(user.id.clone()), message: answer.clone() });
        let title = title_from(&user);
        let history = branch.into_iter().map(|stored| stored.message).chain([user]).collect();
        Ok(SubmissionPlan {
            key: format!("message:{}", message.id),
            insert,
            update,
            message: answer,
            continues: false,
            history,
            go_on: false,
            title,
            audit: Vec::new(),
            pending: Vec::new(),
            grants: Vec::new(),
            earlier: TurnUsage::default(),
        })
    }

    /// Returns the branch that ends before a user message, anywhere in the tree.
    async fn before(
        &self,
        caller: &Caller,
        conversation_id: &str,
        message_id: &str,
    ) -> Result<Vec<StoredMessage>, UserError> {
        if !self.tree(caller, conversation_id).await?.has(message_id) {
            return Err(UserError::not_found());
        }
        let all = self.store.messages(&caller.user_id, conversation_id).await.map_err(errors::store_error)?;
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

/// Returns the newest message of the branch with its pending calls closed, if it has any.
fn left_behind(last: &StoredMessage) -> Option<UiMessage> {
    let waits = last.message.role == Role::Assistant && last.message.tools().any(audit::is_open);
    let mut message = waits.then(|| last.message.clone())?;
    pending_calls::supersede(&mut message);
    Some(message)
}

fn with_closed(mut update: Vec<UiMessage>, closed: Option<UiMessage>) -> Vec<UiMessage> {
    let is_new = |closed: &UiMessage| update.iter().all(|message| message.id != closed.id);
    update.extend(closed.filter(is_new));
    update
}

fn plan_regenerate(mut branch: Vec<StoredMessage>, message_id: Option<&str>) -> Result<SubmissionPlan, UserError> {
    let at = match message_id {
        Some(id) => branch.iter().position(|stored| stored.id == id),
        None => branch.len().checked_sub(1),
    };
    let at = at.ok_or_else(UserError::not_found)?;
    // Regenerating at a user message answers that message; at an answer, the message before it.
    let keep = if branch[at].message.role == Role::User { at + 1 } else { at };
    branch.truncate(keep);
    let parent =
        branch.last().ok_or_else(|| UserError::invalid("/messageId", "There is no message to answer again."))?;
    let answer = UiMessage { metadata: created_now(), ..UiMessage::new(new_id(), Role::Assistant) };
    Ok(SubmissionPlan {
        key: format!("regenerate:{}", answer.id),
        insert: vec![NewMessage { parent_id: Some(parent.id.clone()), message: answer.clone() }],
        update: Vec::new(),
        message: answer,
        continues: false,
        title: String::new(),
        go_on: false,
        audit: Vec::new(),
        pending: Vec::new(),
        grants: Vec::new(),
        earlier: TurnUsage::default(),
        history: branch.into_iter().map(|stored| stored.message).collect(),
    })
}

/// Returns the newest assistant message and the messages before it.
fn newest_answer(mut branch: Vec<StoredMessage>) -> Result<(UiMessage, Vec<UiMessage>), UserError> {
    let last = branch.pop().filter(|last| last.message.role == Role::Assistant).ok_or_else(UserError::not_found)?;
    Ok((last.message, branch.into_iter().map(|stored| stored.message).collect()))
}

fn continuing(key: String, message: UiMessage, history: Vec<UiMessage>, go_on: bool) -> SubmissionPlan {
    SubmissionPlan {
        key,
        insert: Vec::new(),
        update: vec![message.clone()],
        message,
        continues: true,
        history,
        go_on,
        title: String::new(),
        audit: Vec::new(),
        pending: Vec::new(),
        grants: Vec::new(),
        earlier: TurnUsage::default(),
    }
}

fn plan_answers(
    branch: Vec<StoredMessage>,
    answers: &[Answer],
    agent_id: &str,
    conversation_id: &str,
) -> Result<SubmissionPlan, UserError> {
    if answers.is_empty() {
        return Err(UserError::invalid("/answers", "The list of answers is empty."));
    }
    let (mut message, history) = newest_answer(branch)?;
    let grants = standing_approvals::created_grants(&message, answers, agent_id, conversation_id);
    pending_calls::record_answers(&mut message, answers)?;
    let grants = grants?;
    standing_approvals::approve_covered(&mut message, &grants, agent_id);
    Ok(SubmissionPlan { grants, ..continuing(format!("answers:{}", new_id()), message, history, false) })
}

fn plan_continue(branch: Vec<StoredMessage>) -> Result<SubmissionPlan, UserError> {
    let (mut message, history) = newest_answer(branch)?;
    if message.tools().any(pending_calls::is_pending) {
        return Err(UserError::invalid("/submission", "Answer the open question first."));
    }
    let runs_again = message.tools().any(ToolPart::repeats_on_continue);
    if !runs_again {
        // The user asks for more, so the earlier usage of the turn does not count.
        pending_calls::remove_usage(&mut message);
    }
    let plan = continuing(format!("continue:{}", new_id()), message, history, !runs_again);
    // The model continues from the results of the repeated calls.
    Ok(if runs_again { plan.with_pending_calls() } else { plan })
}

/// Returns the prompt (the history, and then the content of the message) and the index at which the
/// message starts. The loop adds the results of decided calls.
fn prompt(
    history: &[UiMessage],
    message: &UiMessage,
    continues: bool,
    go_on: bool,
) -> (Vec<Arc<contract::Message>>, usize) {
    let mut messages = to_prompt::to_prompt(history, pending_calls::is_decided);
    let own_from = messages.len();
    if continues {
        messages.extend(to_prompt::to_prompt(std::slice::from_ref(message), pending_calls::is_decided));
    }
    if go_on {
        messages.push(Arc::new(contract::Message::User(vec![contract::UserPart::Text { text: GO_ON.to_owned() }])));
    }
    (messages, own_from)
}

/// Imports earlier messages into a new conversation, only their texts, so that no client can forge
/// a tool's result or a decision.
fn import_history(history: &[UiMessage], branch: &mut Vec<StoredMessage>, insert: &mut Vec<NewMessage>) {
    for message in history.iter().take(MAX_HISTORY).filter(|message| message.role != Role::System) {
        let mut kept = UiMessage { metadata: created_now(), ..UiMessage::new(new_id(), message.role) };
        kept.parts = message.parts.iter().filter_map(plain_text).collect();
        if kept.parts.is_empty() {
            continue;
        }
        let parent_id = branch.last().map(|last| last.id.clone());
        insert.push(NewMessage { parent_id: parent_id.clone(), message: kept.clone() });
        branch.push(StoredMessage { id: kept.id.clone(), parent_id, created_at: crate::now(), message: kept });
    }
}

fn plain_text(part: &UiPart) -> Option<UiPart> {
    match part {
        UiPart::Text(text) if !text.text.is_empty() => {
            Some(UiPart::Text(TextPart { text: text.text.clone(), ..TextPart::default() }))
        }
        _ => None,
    }
}

/// Keeps only the text and the files of a user's message.
fn sanitized(message: &UiMessage) -> UiMessage {
    let part = |part: &UiPart| match part {
        UiPart::File(file) => Some(UiPart::File(file.clone())),
        part => plain_text(part),
    };
    UiMessage {
        parts: message.parts.iter().filter_map(part).collect(),
        ..UiMessage::new(message.id.clone(), Role::User)
    }
}

fn created_now() -> Option<serde_json::Value> {
    serde_json::to_value(MessageMetadata { created_at: Some(crate::now()), ..MessageMetadata::default() }).ok()
}

/// Returns the first words of a message.
fn title_from(message: &UiMessage) -> String {
    let text = message.text();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return "New conversation".to_owned();
    }
    if line.chars().count() <= MAX_TITLE {
        return line;
    }
    let cut: String = line.chars().take(MAX_TITLE).collect();
    let words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{words}…")
}

/// Checks the limits of a submission.
fn check(request: &SendRequest, bounds: &SubmissionLimits) -> Result<(), UserError> {
    check_id("/conversationId", &request.conversation_id)?;
    let is_switch = |(key, value): (&String, &serde_json::Value)| key.len() <= MAX_SWITCH_KEY && value.is_boolean();
    if request.switches.len() > MAX_SWITCHES || !request.switches.iter().all(is_switch) {
        return Err(UserError::invalid("/switches", "A switch is `true` or `false`."));
    }
    match &request.submission {
        Submission::Message { message, .. } => check_message(message, bounds.text_bytes),
        Submission::Answers { answers } => check_answers(answers),
        Submission::Regenerate { .. } | Submission::Continue => Ok(()),
    }
}

fn check_message(message: &UiMessage, most: usize) -> Result<(), UserError> {
    check_id("/message/id", &message.id)?;
    if message.role != Role::User {
        return Err(UserError::invalid("/message/role", "Only the user's own messages can be sent."));
    }
    if sanitized(message).parts.is_empty() || (message.text().trim().is_empty() && !has_file(message)) {
        return Err(UserError::invalid("/message/parts", "The message is empty."));
    }
    if message.parts.iter().filter(|part| matches!(part, UiPart::File(_))).count() > attachments::MAX_FILES {
        let message = format!("A message has at most {} files.", attachments::MAX_FILES);
        return Err(UserError::invalid("/message/parts", message));
    }
    if message.text().len() > most {
        let message = format!("The message is too long: {} KB at most.", most / 1024);
        return Err(UserError::new(ErrorCode::TooLarge, message));
    }
    Ok(())
}

fn has_file(message: &UiMessage) -> bool {
    message.parts.iter().any(|part| matches!(part, UiPart::File(_)))
}

fn check_answers(answers: &[Answer]) -> Result<(), UserError> {
    let size = |answer: &Answer| match answer {
        Answer::Approval { reason, input, .. } => {
            reason.as_ref().map_or(0, String::len) + input.as_ref().map_or(0, |input| input.to_string().len())
        }
        Answer::Started { by, .. } => by.len(),
        Answer::Output { output, .. } => output.to_string().len(),
        Answer::Error { error_text, .. } => error_text.len(),
    };
    for (at, answer) in answers.iter().enumerate() {
        if let Answer::Started { by, .. } = answer {
            check_id(&format!("/answers/{at}/by"), by)?;
        }
    }
    match answers.iter().map(size).sum::<usize>() > MAX_OUTPUT_BYTES {
        true => Err(UserError::new(
            ErrorCode::TooLarge,
            format!("The answer is too long: {} KB at most.", MAX_OUTPUT_BYTES / 1024),
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_shortened_at_words() {
        let check = |text: &str, expected: &str| assert_eq!(title_from(&UiMessage::user("m", text)), expected);
        check("Hello", "Hello");
        check("  two\n\nlines  ", "two lines");
        check("", "New conversation");
        let long = "The quick brown fox jumps over the lazy dog and then runs away into the woods";
        check(long, "The quick brown fox jumps over the lazy dog and then runs…");
        check(&"x".repeat(80), &format!("{}…", "x".repeat(60)));
    }
}
