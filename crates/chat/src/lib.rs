#![doc = include_str!("../README.md")]

mod admin;
mod alive;
mod attached;
mod audit;
mod change;
mod clock;
mod conversations;
mod ending;
mod errors;
mod events;
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
mod live;
mod mask;
mod order;
mod page;
mod places;
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
mod settle;
mod share;
mod sink;
mod sniff;
mod standing;
mod steps;
mod telemetry;
mod to_prompt;
mod to_wire;
mod tree;
mod trial;
mod turns;
mod watch;

pub use alive::kept_alive;
pub use clock::Clock;
pub use export::{Exported, ExportedMessage, FORMAT};
pub use files::{FileBounds, NewUpload};
pub use hooks::{Hook, Hooks};
pub use quota::{Quota, QuotaSpan};
pub use readiness::Storage;
pub use retention::{Retention, RetentionRule, Swept};
pub use routine::RoutineUse;
pub use share::SharedCopy;
pub use steps::ConversationUsage;
pub use telemetry::{Backlog, RunFacts, Telemetry, ToolEnd, Trace, trace, traced};
pub use trial::{Trial, TrialRequest};

use bytes::Bytes;
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
use wire::change::{Change, Changed};
use wire::events::GrantedEvents;
use wire::invoke::{Invocation, InvocationList, InvokeRequest};
use wire::order::ListFilter;
use wire::{EndReason, UserError};

/// How long a run is believed to be driven without a sign of life.
pub(crate) const LEASE: Duration = Duration::from_secs(15);

/// Submissions that are looked at at once. Each costs some milliseconds, so beyond it nobody would be answered in time; who comes then is
/// told so at once.
const MAX_LOOKED_AT: usize = 512;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The owner of all rows that the call may see. Who is not signed in has one, too, that nobody else has.
    pub user_id: String,
    /// What he is called, if that is known.
    pub name: Option<String>,
    /// Whether he is signed in.
    pub is_authenticated: bool,
    /// What he is, in the config's words. Without meaning as long as he is not signed in.
    pub roles: Vec<String>,
    /// What the site says on which the chat stands, if it signs tokens.
    pub vouched: Option<Arc<Vouched>>,
    /// What he came with, where it may be passed on for him.
    pub bearer: Option<Bearer>,
}

/// The token that a user came with. It is for who is asked on his behalf; nothing shows or stores it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bearer(Arc<str>);

impl Bearer {
    /// A token without the word before it.
    pub fn new(token: &str) -> Self {
        Self(token.into())
    }

    /// The token itself, for a header of a request.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bearer(..)")
    }
}

/// What a site vouches for beside who its user is: no browser can change it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Vouched {
    /// What instructions and endpoints may read of the user's business there.
    pub inputs: Map<String, Value>,
    /// The only page on which he may ask.
    pub page_id: Option<String>,
    /// The only agent that he may ask.
    pub agent_id: Option<String>,
}

impl Caller {
    /// Somebody of whom no more is known than that he is signed in.
    pub fn signed_in(user_id: impl Into<String>) -> Self {
        Self { is_authenticated: true, ..Self::visitor(user_id) }
    }

    /// Somebody who is not signed in.
    pub fn visitor(user_id: impl Into<String>) -> Self {
        let user_id = user_id.into();
        Self { user_id, name: None, is_authenticated: false, roles: Vec::new(), vouched: None, bearer: None }
    }

    /// What a config may read of him with `_user`: `id`, `name` and `roles`, and what is vouched for as `inputs`.
    pub fn facts(&self) -> Value {
        let roles: &[String] = if self.is_authenticated { &self.roles } else { &[] };
        let mut facts = json!({ "id": self.user_id, "name": self.name, "roles": roles });
        if let Some(inputs) = self.inputs() {
            facts["inputs"] = Value::Object(inputs.clone());
        }
        facts
    }

    /// What a site vouches for, if it does.
    pub fn inputs(&self) -> Option<&Map<String, Value>> {
        self.vouched.as_ref().map(|vouched| &vouched.inputs).filter(|inputs| !inputs.is_empty())
    }

    /// Lets him use a page, as far as a site has narrowed that.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn may_use_page(&self, page_id: &str) -> Result<(), UserError> {
        let only = self.vouched.as_ref().and_then(|vouched| vouched.page_id.as_deref());
        is_meant(only, page_id, "This token is for another page.")
    }

    /// Lets him ask an agent, as far as a site has narrowed that.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn may_ask_agent(&self, agent_id: &str) -> Result<(), UserError> {
        let only = self.vouched.as_ref().and_then(|vouched| vouched.agent_id.as_deref());
        is_meant(only, agent_id, "This token is for another agent.")
    }
}

fn is_meant(only: Option<&str>, wanted: &str, refusal: &str) -> Result<(), UserError> {
    match only {
        Some(only) if only != wanted => Err(UserError::new(wire::ErrorCode::Forbidden, refusal)),
        _ => Ok(()),
    }
}

/// Whole server-sent events (`id: EPOCH.SEQ\ndata: {chunk}\n\n`), perhaps several in one piece; the last one is
/// `data: [DONE]\n\n`. A stream that ends without it was cut short and may be watched again from its last id.
pub type Frames = BoxStream<'static, Bytes>;

/// A submission was accepted.
pub struct Sent {
    /// The run that answers; empty when answers were kept and others are still missing.
    pub run_id: String,
    /// The assistant message that it writes.
    pub message_id: String,
    /// Its stream.
    pub frames: Frames,
}

/// Where the agents come from: the config, as it is at this moment.
pub trait Agents: Send + Sync + 'static {
    /// The agent for one turn, ready to run.
    ///
    /// # Errors
    /// Not found, not allowed, or not available; in words for the user.
    fn agent(&self, request: &AgentRequest<'_>) -> Result<Arc<agent::Agent>, UserError>;

    /// Who is told about this turn; nobody without hooks.
    fn hooks(&self, _request: &AgentRequest<'_>) -> Option<Arc<dyn Hooks>> {
        None
    }

    /// What the caller may use; each holds.
    fn quotas(&self, _caller: &Caller) -> Vec<Quota> {
        Vec::new()
    }

    /// How much at once.
    fn bounds(&self, _caller: &Caller) -> Bounds {
        Bounds::default()
    }

    /// How long things are kept.
    fn retention(&self) -> Retention {
        Retention::default()
    }

    /// The agent as it is on no page.
    ///
    /// # Errors
    /// As [`Agents::agent`].
    fn by_id(&self, caller: &Caller, id: &str) -> Result<Arc<agent::Agent>, UserError>;
}

/// How much a user may have written at once, and send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Answers that are written for him at the same time, on this server.
    pub runs: usize,
    /// Bytes of a message's text.
    pub text_bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { runs: usize::MAX, text_bytes: 256 * 1024 }
    }
}

/// What an agent may depend on.
#[derive(Clone, Copy, Debug)]
pub struct AgentRequest<'a> {
    /// Who asks.
    pub caller: &'a Caller,
    /// The page on which the chat stands.
    pub page_id: &'a str,
    /// The chat on the page, by the id of its block, if the client names it.
    pub block_id: Option<&'a str>,
    /// The agent.
    pub agent_id: &'a str,
    /// The conversation.
    pub conversation_id: &'a str,
    /// The page's shared state at this moment.
    pub shared_state: &'a Map<String, Value>,
    /// The page's query string.
    pub url_query: &'a Map<String, Value>,
    /// The switches of the composer, `true` or `false`.
    pub switches: &'a Map<String, Value>,
}

impl<'a> AgentRequest<'a> {
    fn of(caller: &'a Caller, request: &'a SendRequest) -> Self {
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

/// The facade; a cheap handle.
#[derive(Clone)]
pub struct Chat {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    store: Store,
    agents: Arc<dyn Agents>,
    registry: Arc<live::Registry>,
    journal: journal::Journal,
    turns: turns::Turns,
    invocations: invoke::Invocations,
    purge: AbortOnDropHandle<()>,
    /// Where there may be other servers.
    replica: Option<AbortOnDropHandle<()>>,
    readiness: readiness::Readiness,
    sweeper: retention::Sweeper,
    tasks: TaskTracker,
    stopping: CancellationToken,
    /// A place for each submission that is looked at.
    desk: Arc<Semaphore>,
    /// A place for each run.
    places: places::Places,
    clock: Clock,
    telemetry: Arc<OnceLock<Arc<dyn Telemetry>>>,
}

impl Chat {
    /// Closes what a dead server left open and takes away what was deleted, then opens the doors. `max_runs` bounds the runs of this process; more are
    /// answered with 503.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub async fn open(store: Store, agents: Arc<dyn Agents>, max_runs: usize) -> Result<Self, StoreError> {
        Self::open_at(Clock::default(), store, agents, max_runs).await
    }

    /// The same by another clock than the world's.
    ///
    /// # Errors
    /// As [`Chat::open`].
    pub async fn open_at(
        clock: Clock,
        store: Store,
        agents: Arc<dyn Agents>,
        max_runs: usize,
    ) -> Result<Self, StoreError> {
        store.beat(LEASE).await?;
        recover::recover(&store).await?;
        store.abandon_invocations(invoke::ABANDONED, now()).await?;
        let registry = Arc::new(live::Registry::default());
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
                turns: turns::Turns::default(),
                invocations: invoke::Invocations::default(),
                purge,
                replica,
                readiness: readiness::Readiness::default(),
                sweeper,
                tasks,
                stopping,
                desk: Arc::new(Semaphore::new(MAX_LOOKED_AT)),
                places: places::Places::new(max_runs),
                clock,
                telemetry,
            }),
        })
    }

    /// Accepts a submission and starts the run that answers it. The stream holds what is new: all of a new message, only
    /// the continuation of one that goes on.
    ///
    /// # Errors
    /// 404 for an agent or a conversation that is not the caller's, 409 while a run is active, 413 and 422 for what is
    /// wrong with the submission, 503 when full or draining.
    pub async fn send(&self, caller: &Caller, request: SendRequest) -> Result<Sent, UserError> {
        let place = self.inner.desk.clone().try_acquire_owned().map_err(|_| errors::full(2))?;
        // In a task of its own: a caller who hangs up must not leave a half-begun run (D3).
        let (inner, caller) = (self.inner.clone(), caller.clone());
        let task = async move {
            let sent = inner.send_to_end(&caller, request).await;
            drop(place);
            sent
        };
        let task = self.inner.tasks.spawn(in_trace(task));
        task.await.unwrap_or_else(|_| Err(errors::internal()))
    }

    /// The stream of the conversation's active run; none when none is active. Without a cursor it starts from the start
    /// and gives the message whole, also what an earlier run wrote of it. A cursor is an event's `id`; one that cannot be
    /// continued yields `data-gap`.
    ///
    /// # Errors
    /// 404 for a conversation that is not the caller's.
    pub async fn watch(
        &self,
        caller: &Caller,
        conversation_id: &str,
        after: Option<&str>,
    ) -> Result<Option<Frames>, UserError> {
        let store = self.inner.store.clone();
        let Some(run) = self.inner.registry.get(&caller.user_id, conversation_id) else {
            let known = store.conversation(&caller.user_id, conversation_id).await.map_err(errors::of_store)?;
            let known = known.ok_or_else(UserError::not_found)?;
            let Some(run) = remote::of(&store, &caller.user_id, &known) else { return Ok(None) };
            return self.inner.watch_remote(run, after).await.map(Some);
        };
        Ok(Some(match after {
            None => watch::whole(store, run),
            Some(cursor) => watch::after(store, run, watch::Cursor::parse(cursor)),
        }))
    }

    /// Ends the active run; nothing happens when there is none. What was written stays.
    ///
    /// # Errors
    /// 404 for a conversation that is not the caller's.
    pub async fn stop(&self, caller: &Caller, conversation_id: &str) -> Result<(), UserError> {
        if let Some(run) = self.inner.registry.get(&caller.user_id, conversation_id) {
            run.stop(EndReason::StoppedByUser);
            return Ok(());
        }
        let store = &self.inner.store;
        let known = store.conversation(&caller.user_id, conversation_id).await.map_err(errors::of_store)?;
        if remote::of(store, &caller.user_id, &known.ok_or_else(UserError::not_found)?).is_some() {
            let stop = store.request_stop(&caller.user_id, Some(conversation_id), EndReason::StoppedByUser);
            stop.await.map_err(errors::of_store)?;
        }
        Ok(())
    }

    /// The caller's conversations, the pinned ones first, each kind newest first, at most `limit` (1 to 100) at once; `cursor` is an
    /// earlier answer's `next`.
    ///
    /// # Errors
    /// 400 for a cursor that is not ours.
    pub async fn conversations(
        &self,
        caller: &Caller,
        filter: ListFilter,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<ConversationList, UserError> {
        self.inner.conversations(caller, filter, limit, cursor).await
    }

    /// One conversation as it stands, the message that is being written as far as it has come.
    ///
    /// # Errors
    /// 404 for a conversation that is not the caller's.
    pub async fn conversation(&self, caller: &Caller, id: &str) -> Result<ConversationView, UserError> {
        self.inner.conversation(caller, id).await
    }

    /// What a conversation took: its sums, those of branches that are no longer shown included, and its last 500 requests to models.
    ///
    /// # Errors
    /// 404 for a conversation that is not the caller's.
    pub async fn usage(&self, caller: &Caller, id: &str) -> Result<ConversationUsage, UserError> {
        self.inner.usage(caller, id).await
    }

    /// The caller's standing approvals, newest first.
    ///
    /// # Errors
    /// 503 when the store fails.
    pub async fn standing_approvals(&self, caller: &Caller) -> Result<StandingApprovals, UserError> {
        self.inner.standing_approvals(caller).await
    }

    /// Takes a standing approval back: from the next call on, the user is asked again.
    ///
    /// # Errors
    /// 404 for one that is not the caller's.
    pub async fn revoke(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        self.inner.revoke(caller, id).await
    }

    /// Changes what is in a conversation without asking the agent anything: another branch, a deletion, a judgement, a copy.
    ///
    /// # Errors
    /// 404 for a conversation or a message that is not the caller's, 409 while an answer is being written that it concerns, 422 for
    /// a judgement that is too long.
    pub async fn revise(&self, caller: &Caller, id: &str, change: Change) -> Result<Changed, UserError> {
        self.inner.revise(caller, id, change).await
    }

    /// Claims events of an answer for one page of the caller's, by keys that follow from the
    /// answer. Answers with those that no other page has claimed. `by` is a random id; with the
    /// same one, the same claim can be made again. Nothing is granted 10 minutes after the answer
    /// has ended.
    ///
    /// # Errors
    /// 404 for a conversation that is not the caller's, 422 for too many keys, or ids that are
    /// none.
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

    /// Asks an agent once, without its tools, and keeps the answer. A caller who hangs up finds it in the list.
    ///
    /// # Errors
    /// 404 for an agent that is not the caller's, 413 and 422 for the question, 503 when full or draining. A model that fails
    /// is no error here: the answer says so.
    pub async fn invoke(&self, caller: &Caller, request: InvokeRequest) -> Result<Invocation, UserError> {
        if self.inner.tasks.is_closed() {
            return Err(errors::draining());
        }
        let (inner, caller) = (self.inner.clone(), caller.clone());
        let task = self.inner.tasks.spawn(in_trace(async move { inner.invoke(&caller, request).await }));
        task.await.unwrap_or_else(|_| Err(errors::internal()))
    }

    /// The caller's invocations, newest first, at most `limit` (1 to 100).
    ///
    /// # Errors
    /// 503 when the store fails.
    pub async fn invocations(&self, caller: &Caller, limit: u32) -> Result<InvocationList, UserError> {
        let items = self.inner.store.invocations(&caller.user_id, limit.max(1)).await.map_err(errors::of_store)?;
        Ok(InvocationList { items })
    }

    /// One invocation.
    ///
    /// # Errors
    /// 404 for one that is not the caller's.
    pub async fn invocation(&self, caller: &Caller, id: &str) -> Result<Invocation, UserError> {
        let found = self.inner.store.invocation(&caller.user_id, id).await.map_err(errors::of_store)?;
        found.ok_or_else(UserError::not_found)
    }

    /// How many runs are active.
    pub fn active_runs(&self) -> usize {
        self.inner.registry.len()
    }

    /// Has what runs do told to somebody. Only the first call counts; runs that have begun tell nothing.
    pub fn tell(&self, telemetry: Arc<dyn Telemetry>) {
        // Whoever is told already stays.
        let _ = self.inner.telemetry.set(telemetry);
    }

    /// What is told and not stored yet.
    pub fn backlog(&self) -> Backlog {
        let runs = self.inner.registry.all();
        let behind = runs.iter().map(|run| run.behind());
        let (events, lag) =
            behind.fold((0, Duration::ZERO), |(all, most), (events, lag)| (all + events, most.max(lag)));
        Backlog { events, lag, writes: self.inner.store.queued() }
    }

    /// Whether submissions are no longer taken.
    pub fn is_draining(&self) -> bool {
        self.inner.tasks.is_closed()
    }

    /// Whether the store reads and writes, as of the last two seconds.
    pub async fn storage(&self) -> Storage {
        self.inner.readiness.check(&self.inner.store).await
    }

    /// Takes no more submissions, gives active runs `patience` to end, then stops them. What they wrote is stored.
    pub async fn shutdown(&self, patience: Duration) {
        self.drain(patience).await;
        self.close().await;
    }

    /// The first half of [`Chat::shutdown`]: what is stored can still be read.
    pub async fn drain(&self, patience: Duration) {
        self.inner.tasks.close();
        if tokio::time::timeout(patience, self.inner.tasks.wait()).await.is_err() {
            self.inner.stopping.cancel();
            // A stopped run ends within a second and then stores its message.
            let _ = tokio::time::timeout(Duration::from_secs(5), self.inner.tasks.wait()).await;
        }
    }

    /// The second half: nothing is stored or read any more.
    pub async fn close(&self) {
        self.inner.purge.abort();
        if let Some(replica) = &self.inner.replica {
            replica.abort();
        }
        // Otherwise the others wait for the lease to end.
        if let Err(error) = self.inner.store.leave().await {
            tracing::warn!(%error, "the other servers could not be told that this one goes");
        }
        self.inner.store.close().await;
    }
}

/// A task of its own goes on in the trace of the request that started it, in the logs and elsewhere.
fn in_trace<F: Future + Send>(work: F) -> impl Future<Output = F::Output> + Send {
    let trace = trace();
    let work = async move {
        match trace {
            Some(trace) => traced(trace, work).await,
            None => work.await,
        }
    };
    work.in_current_span()
}

/// Unix time in milliseconds.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
