#![doc = include_str!("../README.md")]

mod admin;
mod attachments;
mod audit;
mod change;
mod clock;
mod conversation_locks;
mod conversations;
mod ending;
mod errors;
mod expiry;
mod export;
mod exposure;
mod file_name;
mod files;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod histories;
mod hooks;
mod import;
mod invoke;
mod journal;
mod keep_alive;
mod live;
mod mask;
mod memory;
mod memory_turns;
mod organize;
mod page_events;
mod page_size;
mod pending_calls;
mod permits;
mod purge;
mod quota;
mod readiness;
mod recover;
mod remote;
mod replica;
mod retention;
mod routine;
mod run;
mod send;
mod share;
mod sink;
mod sniff;
mod standing_approvals;
mod steps;
mod telemetry;
mod to_prompt;
mod to_wire;
mod tree;
mod trial;
mod watch;

pub use clock::Clock;
pub use export::{ExportedConversation, ExportedMessage, FORMAT};
pub use files::{FileLimits, NewUpload};
pub use hooks::{HookEvent, Hooks};
pub use keep_alive::with_keep_alive;
pub use memory::{MemoryLevel, MemoryProbe, MemoryStatus, MemoryUse};
pub use readiness::StoreHealth;
pub use retention::{RetentionRule, SweepResult, invocations_due_before};
pub use routine::RoutineMeters;
pub use settings::{Quota, QuotaPeriod, Retention};
pub use share::SharedSnapshot;
pub use steps::ConversationUsage;
pub use telemetry::{Backlog, RunFacts, Telemetry, ToolEnd, Trace, current_trace, traced};
pub use trial::{TrialRequest, TrialResult};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::{Store, StoreError};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use tracing::Instrument;
use wire::api::{ConversationList, ConversationView, SendRequest, StandingApprovals};
use wire::change::{ChangeResult, MessageChange};
use wire::invoke::{Invocation, InvocationList, InvokeRequest};
use wire::organize::ListFilter;
use wire::page_events::GrantedEvents;
use wire::{EndReason, UserError};

/// How long a run without a heartbeat is considered alive.
pub(crate) const LEASE: Duration = Duration::from_secs(15);

/// The maximum number of submissions that are processed at once. Each takes some milliseconds, so
/// with more of them nobody would get a timely response; further ones are refused at once.
const MAX_LOOKED_AT: usize = 512;

/// The user on whose behalf a request is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The owner of all rows that the request may access. Visitors have an id of their own, too.
    pub user_id: String,
    /// The display name, if known.
    pub name: Option<String>,
    /// Whether the user is signed in.
    pub is_authenticated: bool,
    /// The roles, as named in the config. Ignored unless the user is signed in.
    pub roles: Vec<String>,
    /// The claims of the embedding site, if it signs tokens.
    pub site_claims: Option<Arc<SiteClaims>>,
    /// The user's token, if it may be passed on to other services.
    pub bearer: Option<Bearer>,
}

/// The token of a user. It is only sent to services that are called on the user's behalf, and is
/// neither displayed nor stored.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bearer(Arc<str>);

impl Bearer {
    /// Wraps a token, without the scheme name before it.
    pub fn new(token: &str) -> Self {
        Self(token.into())
    }

    /// Returns the token, for a request header.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bearer(..)")
    }
}

/// What an embedding site signs in addition to the user's identity; the browser cannot change it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SiteClaims {
    /// Data about the user that instructions and endpoints may read.
    pub inputs: Map<String, Value>,
    /// The only page that the user may use.
    pub page_id: Option<String>,
    /// The only agent that the user may use.
    pub agent_id: Option<String>,
}

impl Caller {
    /// Returns a signed-in user without a profile.
    pub fn signed_in(user_id: impl Into<String>) -> Self {
        Self { is_authenticated: true, ..Self::visitor(user_id) }
    }

    /// Returns a visitor who is not signed in.
    pub fn visitor(user_id: impl Into<String>) -> Self {
        let user_id = user_id.into();
        Self { user_id, name: None, is_authenticated: false, roles: Vec::new(), site_claims: None, bearer: None }
    }

    /// Returns what a config may read with `_user`: `id`, `name` and `roles`, and the site's claims
    /// as `inputs`.
    pub fn facts(&self) -> Value {
        let roles: &[String] = if self.is_authenticated { &self.roles } else { &[] };
        let mut facts = json!({ "id": self.user_id, "name": self.name, "roles": roles });
        if let Some(inputs) = self.inputs() {
            facts["inputs"] = Value::Object(inputs.clone());
        }
        facts
    }

    /// Returns the inputs that the embedding site has signed, if any.
    pub fn inputs(&self) -> Option<&Map<String, Value>> {
        self.site_claims.as_ref().map(|vouched| &vouched.inputs).filter(|inputs| !inputs.is_empty())
    }

    /// Checks that the site's claims allow a page.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn check_page(&self, page_id: &str) -> Result<(), UserError> {
        let only = self.site_claims.as_ref().and_then(|vouched| vouched.page_id.as_deref());
        is_meant(only, page_id, "This token is for another page.")
    }

    /// Checks that the site's claims allow an agent.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn check_agent(&self, agent_id: &str) -> Result<(), UserError> {
        let only = self.site_claims.as_ref().and_then(|vouched| vouched.agent_id.as_deref());
        is_meant(only, agent_id, "This token is for another agent.")
    }
}

fn is_meant(only: Option<&str>, wanted: &str, refusal: &str) -> Result<(), UserError> {
    match only {
        Some(only) if only != wanted => Err(UserError::new(wire::ErrorCode::Forbidden, refusal)),
        _ => Ok(()),
    }
}

/// A stream of server-sent events (`id: EPOCH.SEQ\ndata: {chunk}\n\n`). Each item contains one or
/// more whole events; the last event is `data: [DONE]\n\n`. A stream that ends without it was cut
/// off and can be resumed after its last id.
pub type Frames = BoxStream<'static, Bytes>;

/// The response to an accepted submission.
pub struct SendResponse {
    /// The run that answers; empty if answers were stored and others are still missing.
    pub run_id: String,
    /// The assistant message that the run writes.
    pub message_id: String,
    /// The run's stream.
    pub frames: Frames,
}

/// The source of agents: the current config.
pub trait AgentSource: Send + Sync + 'static {
    /// Returns the agent for one turn, ready to run. Asynchronous, because operators in its
    /// properties may take time to evaluate. Dropping the future cancels the evaluation.
    ///
    /// # Errors
    /// The agent does not exist, is not allowed or not available; the error is for the user.
    fn agent<'a>(&'a self, request: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<agent::Agent>, UserError>>;

    /// Returns the hooks of this turn, if any.
    fn hooks(&self, _request: &AgentRequest<'_>) -> Option<Arc<dyn Hooks>> {
        None
    }

    /// Returns the caller's quotas, all of which apply.
    fn quotas(&self, _caller: &Caller) -> Vec<Quota> {
        Vec::new()
    }

    /// Returns the caller's limits.
    fn submission_limits(&self, _caller: &Caller) -> SubmissionLimits {
        SubmissionLimits::default()
    }

    /// Returns the retention settings.
    fn retention(&self) -> Retention {
        Retention::default()
    }

    /// Returns an agent outside of any page.
    ///
    /// # Errors
    /// The same as [`AgentSource::agent`].
    fn by_id<'a>(&'a self, caller: &'a Caller, id: &'a str) -> BoxFuture<'a, Result<Arc<agent::Agent>, UserError>>;
}

/// Limits on a user's submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmissionLimits {
    /// The maximum number of concurrent runs of the user on this server.
    pub runs: usize,
    /// The maximum size of a message's text in bytes.
    pub text_bytes: usize,
}

impl Default for SubmissionLimits {
    fn default() -> Self {
        Self { runs: usize::MAX, text_bytes: 256 * 1024 }
    }
}

/// What an agent's configuration may depend on.
#[derive(Clone, Copy, Debug)]
pub struct AgentRequest<'a> {
    /// The caller.
    pub caller: &'a Caller,
    /// The page that shows the chat.
    pub page_id: &'a str,
    /// The id of the chat's block on the page, if the client sent it.
    pub block_id: Option<&'a str>,
    /// The agent.
    pub agent_id: &'a str,
    /// The conversation.
    pub conversation_id: &'a str,
    /// The current shared state of the page.
    pub shared_state: &'a Map<String, Value>,
    /// The page's query string.
    pub url_query: &'a Map<String, Value>,
    /// The states of the composer's switches, `true` or `false`.
    pub switches: &'a Map<String, Value>,
}

impl<'a> AgentRequest<'a> {
    fn new(caller: &'a Caller, request: &'a SendRequest) -> Self {
        Self {
            caller,
            page_id: &request.page_id,
            block_id: request.block_id.as_deref(),
            agent_id: &request.agent_id,
            conversation_id: &request.conversation_id,
            shared_state: &request.shared_state,
            url_query: &request.url_query,
            switches: &request.switches,
        }
    }
}

/// The facade of this crate; a cheap handle.
#[derive(Clone)]
pub struct Chat {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    store: Store,
    agents: Arc<dyn AgentSource>,
    registry: Arc<live::RunRegistry>,
    journal: journal::Journal,
    conversation_locks: conversation_locks::ConversationLocks,
    invocations: Arc<invoke::Invocations>,
    purge: AbortOnDropHandle<()>,
    /// The background tasks of a server that shares its database with others.
    replica: Option<AbortOnDropHandle<()>>,
    readiness: readiness::Readiness,
    sweeper: retention::Sweeper,
    tasks: TaskTracker,
    stopping: CancellationToken,
    /// A permit for each submission that is being processed.
    submissions: Arc<Semaphore>,
    /// A permit for each run.
    run_permits: permits::RunPermits,
    memory: Arc<memory::MemoryGuard>,
    clock: Clock,
    telemetry: Arc<OnceLock<Arc<dyn Telemetry>>>,
}

impl Chat {
    /// Recovers the runs of a dead server, purges deleted data, and starts accepting submissions.
    /// `max_runs` is the maximum number of concurrent runs in this process; further ones are
    /// refused with 503.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub async fn open(store: Store, agents: Arc<dyn AgentSource>, max_runs: usize) -> Result<Self, StoreError> {
        Self::open_with_clock(Clock::default(), store, agents, max_runs).await
    }

    /// Opens the chat with another clock than the system's.
    ///
    /// # Errors
    /// The same as [`Chat::open`].
    pub async fn open_with_clock(
        clock: Clock,
        store: Store,
        agents: Arc<dyn AgentSource>,
        max_runs: usize,
    ) -> Result<Self, StoreError> {
        store.heartbeat(LEASE).await?;
        recover::recover(&store).await?;
        store.abandon_invocations(invoke::ABANDONED, now()).await?;
        let registry = Arc::new(live::RunRegistry::default());
        let journal = journal::Journal::start(store.clone(), registry.clone());
        purge::purge(&store, now()).await?;
        files::purge(&store, now()).await?;
        let replica = replica::start(store.clone(), registry.clone());
        let telemetry = Arc::new(OnceLock::new());
        let sweeper = retention::Sweeper {
            store: store.clone(),
            agents: agents.clone(),
            clock: clock.clone(),
            telemetry: telemetry.clone(),
        };
        let purge = purge::start(store.clone(), sweeper.clone());
        let (tasks, stopping) = (TaskTracker::new(), CancellationToken::new());
        Ok(Self {
            inner: Arc::new(Inner {
                store,
                agents,
                registry,
                journal,
                conversation_locks: conversation_locks::ConversationLocks::default(),
                invocations: Arc::default(),
                purge,
                replica,
                readiness: readiness::Readiness::default(),
                sweeper,
                tasks,
                stopping,
                submissions: Arc::new(Semaphore::new(MAX_LOOKED_AT)),
                run_permits: permits::RunPermits::new(max_runs),
                memory: Arc::default(),
                clock,
                telemetry,
            }),
        })
    }

    /// Accepts a submission and starts the run that answers it. The stream contains what is new: a
    /// whole new message, or only the continuation of an existing one.
    ///
    /// # Errors
    /// 404 for an agent or a conversation that the caller may not access, 409 while a run is
    /// active, 413 and 422 for an invalid submission, 503 when full, short of memory or draining.
    pub async fn send(&self, caller: &Caller, request: SendRequest) -> Result<SendResponse, UserError> {
        let place = self.inner.submissions.clone().try_acquire_owned().map_err(|_| errors::server_full(2))?;
        // In a task of its own, so that a caller who disconnects leaves no half-started run.
        let (inner, caller) = (self.inner.clone(), caller.clone());
        let task = async move {
            let sent = inner.send_to_end(&caller, request).await;
            drop(place);
            sent
        };
        let task = self.inner.tasks.spawn(in_trace(task));
        task.await.unwrap_or_else(|_| Err(errors::internal()))
    }

    /// Returns the stream of the conversation's active run; `None` if there is none. Without a
    /// cursor it contains the whole message, including the parts that earlier runs wrote. A cursor
    /// is the `id` of an event; one that cannot be resumed yields `data-gap`.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn watch(
        &self,
        caller: &Caller,
        conversation_id: &str,
        after: Option<&str>,
    ) -> Result<Option<Frames>, UserError> {
        let store = self.inner.store.clone();
        let Some(run) = self.inner.registry.get(&caller.user_id, conversation_id) else {
            let known = store.conversation(&caller.user_id, conversation_id).await.map_err(errors::store_error)?;
            let known = known.ok_or_else(UserError::not_found)?;
            let Some(run) = remote::active_run(&store, &caller.user_id, &known) else { return Ok(None) };
            return self.inner.watch_remote(run, after).await.map(Some);
        };
        Ok(Some(match after {
            None => watch::stream_whole(store, run),
            Some(cursor) => watch::stream_after(store, run, watch::EventCursor::parse(cursor)),
        }))
    }

    /// Stops the active run, if there is one. What was written stays.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn stop(&self, caller: &Caller, conversation_id: &str) -> Result<(), UserError> {
        if let Some(run) = self.inner.registry.get(&caller.user_id, conversation_id) {
            run.stop(EndReason::StoppedByUser);
            return Ok(());
        }
        let store = &self.inner.store;
        let known = store.conversation(&caller.user_id, conversation_id).await.map_err(errors::store_error)?;
        if remote::active_run(store, &caller.user_id, &known.ok_or_else(UserError::not_found)?).is_some() {
            let stop = store.request_stop(&caller.user_id, Some(conversation_id), EndReason::StoppedByUser);
            stop.await.map_err(errors::store_error)?;
        }
        Ok(())
    }

    /// Lists the caller's conversations: pinned ones first, each group newest first, at most
    /// `limit` (1 to 100). `cursor` is the `next` of an earlier page.
    ///
    /// # Errors
    /// 400 for an invalid cursor.
    pub async fn conversations(
        &self,
        caller: &Caller,
        filter: ListFilter,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<ConversationList, UserError> {
        self.inner.conversations(caller, filter, limit, cursor).await
    }

    /// Returns a conversation, including a message that is still being generated, as far as it
    /// exists.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn conversation(&self, caller: &Caller, id: &str) -> Result<ConversationView, UserError> {
        self.inner.conversation(caller, id).await
    }

    /// Returns the usage of a conversation: the totals, including inactive branches, and the last
    /// 500 model requests.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn usage(&self, caller: &Caller, id: &str) -> Result<ConversationUsage, UserError> {
        self.inner.usage(caller, id).await
    }

    /// Returns the caller's standing approvals, newest first.
    ///
    /// # Errors
    /// 503 if the store fails.
    pub async fn standing_approvals(&self, caller: &Caller) -> Result<StandingApprovals, UserError> {
        self.inner.standing_approvals(caller).await
    }

    /// Revokes a standing approval: from the next call on, the user is asked again.
    ///
    /// # Errors
    /// 404 for one that the caller does not own.
    pub async fn revoke(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        self.inner.revoke(caller, id).await
    }

    /// Changes a conversation without a run: switches branches, deletes, rates or copies.
    ///
    /// # Errors
    /// 404 for a conversation or a message that the caller does not own, 409 while a run is active
    /// that the change affects, 422 for feedback that is too long.
    pub async fn revise(&self, caller: &Caller, id: &str, change: MessageChange) -> Result<ChangeResult, UserError> {
        self.inner.revise(caller, id, change).await
    }

    /// Claims events of an answer for one page of the caller, by keys that are derived from the
    /// answer. Returns the keys that no other page has claimed. `by` is a random id; a claim can be
    /// repeated with the same id. Nothing is granted later than 10 minutes after the end of the
    /// answer.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own, 422 for too many keys or invalid ids.
    pub async fn claim_events(
        &self,
        caller: &Caller,
        conversation_id: String,
        message_id: String,
        keys: Vec<String>,
        by: String,
    ) -> Result<GrantedEvents, UserError> {
        self.inner.claim_events(caller, conversation_id, message_id, keys, by).await
    }

    /// Invokes an agent once, without its tools, and stores the answer. A caller who disconnects
    /// finds it in the list.
    ///
    /// # Errors
    /// 404 for an agent that the caller may not use, 413 and 422 for an invalid request, 503 when
    /// full, short of memory or draining. A failure of the model is reported in the invocation.
    pub async fn invoke(&self, caller: &Caller, request: InvokeRequest) -> Result<Invocation, UserError> {
        if self.inner.tasks.is_closed() {
            return Err(errors::draining());
        }
        let (inner, caller) = (self.inner.clone(), caller.clone());
        let task = self.inner.tasks.spawn(in_trace(async move { inner.invoke(&caller, request).await }));
        task.await.unwrap_or_else(|_| Err(errors::internal()))
    }

    /// Returns the caller's invocations, newest first, at most `limit` (1 to 100).
    ///
    /// # Errors
    /// 503 if the store fails.
    pub async fn invocations(&self, caller: &Caller, limit: u32) -> Result<InvocationList, UserError> {
        let items = self.inner.store.invocations(&caller.user_id, limit.max(1)).await.map_err(errors::store_error)?;
        Ok(InvocationList { items })
    }

    /// Returns one invocation.
    ///
    /// # Errors
    /// 404 for one that the caller does not own.
    pub async fn invocation(&self, caller: &Caller, id: &str) -> Result<Invocation, UserError> {
        let found = self.inner.store.invocation(&caller.user_id, id).await.map_err(errors::store_error)?;
        found.ok_or_else(UserError::not_found)
    }

    /// Returns the number of active runs.
    pub fn active_runs(&self) -> usize {
        self.inner.registry.len()
    }

    /// Sets the receiver of telemetry. Only the first call has an effect; runs that have started
    /// already report nothing.
    pub fn set_telemetry(&self, telemetry: Arc<dyn Telemetry>) {
        // A receiver that is already set stays.
        let _ = self.inner.telemetry.set(telemetry);
    }

    /// Returns the backlog of the journal and the database.
    pub fn backlog(&self) -> Backlog {
        let runs = self.inner.registry.all();
        let behind = runs.iter().map(|run| run.journal_lag());
        let (events, lag) =
            behind.fold((0, Duration::ZERO), |(all, most), (events, lag)| (all + events, most.max(lag)));
        Backlog { events, lag, writes: self.inner.store.queued_writes() }
    }

    /// Returns whether submissions are refused because the server is shutting down.
    pub fn is_draining(&self) -> bool {
        self.inner.tasks.is_closed()
    }

    /// Returns the health of the store, as of the last two seconds.
    pub async fn storage(&self) -> StoreHealth {
        self.inner.readiness.check(&self.inner.store).await
    }

    /// Refuses new submissions, gives active runs `patience` to end, then stops them. What they
    /// wrote is stored.
    pub async fn shutdown(&self, patience: Duration) {
        self.drain(patience).await;
        self.close().await;
    }

    /// The first half of [`Chat::shutdown`]; stored data can still be read afterwards.
    pub async fn drain(&self, patience: Duration) {
        self.inner.tasks.close();
        if tokio::time::timeout(patience, self.inner.tasks.wait()).await.is_err() {
            self.inner.stopping.cancel();
            // A stopped run ends within a second and then stores its message.
            let _ = tokio::time::timeout(Duration::from_secs(5), self.inner.tasks.wait()).await;
        }
    }

    /// The second half of [`Chat::shutdown`]; nothing can be read or stored afterwards.
    pub async fn close(&self) {
        self.inner.purge.abort();
        self.inner.memory.close();
        if let Some(replica) = &self.inner.replica {
            replica.abort();
        }
        // Otherwise the other servers would wait until the lease expires.
        if let Err(error) = self.inner.store.leave().await {
            tracing::warn!(%error, "the other servers could not be notified of the shutdown");
        }
        self.inner.store.close().await;
    }
}

/// Runs a task in the trace of the request that started it, for logs and telemetry.
fn in_trace<F: Future + Send>(work: F) -> impl Future<Output = F::Output> + Send {
    let trace = current_trace();
    let work = async move {
        match trace {
            Some(trace) => traced(trace, work).await,
            None => work.await,
        }
    };
    work.in_current_span()
}

/// Returns Unix time in milliseconds.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
