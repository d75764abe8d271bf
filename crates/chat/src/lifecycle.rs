//! The life of a chat, from opening the store to closing it.

use crate::admission::permits::RunPermits;
use crate::admission::quota_locks::QuotaLocks;
use crate::events::LifecycleObserver;
use crate::files::attachments::{AttachmentReader, AttachmentTexts};
use crate::history::folder_links::{FolderLinks, FolderPage};
use crate::outside;
use crate::outside::running;
use crate::run::title::Titles;
use crate::stream::journal::Journal;
use crate::stream::live::RunRegistry;
use crate::submit::conversation_locks::ConversationLocks;
use crate::upkeep::readiness::Readiness;
use crate::upkeep::recovered::RecoveryReports;
use crate::upkeep::retention::Sweeper;
use crate::upkeep::{LEASE, jobs as upkeep_jobs, recover, replica};
use crate::{AgentRequest, AgentSource, Backlog, Chat, Clock, Inner, StoreHealth, Telemetry, now};
use jobs::{Jobs, Workers};
use std::sync::Arc;
use std::time::Duration;
use store::{Store, StoreError};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wire::UserError;

/// The maximum number of submissions that are processed at once. Each takes some milliseconds, so
/// with more of them nobody would get a timely response; further ones are refused at once.
const MAX_LOOKED_AT: usize = 512;

impl Chat {
    /// Recovers the runs of a dead server, begins to run jobs, and starts accepting submissions.
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
        Self::open_with_workers(clock, Workers::new(Jobs::new(store)), agents, max_runs).await
    }

    /// Opens the chat on the database of a queue, and starts the workers.
    ///
    /// # Errors
    /// The same as [`Chat::open`].
    pub async fn open_with_workers(
        clock: Clock,
        workers: Workers,
        agents: Arc<dyn AgentSource>,
        max_runs: usize,
    ) -> Result<Self, StoreError> {
        let store = workers.jobs().store().clone();
        store.heartbeat(LEASE).await?;
        let recovery = RecoveryReports::default();
        recover::recover(&store, &recovery).await?;
        store.abandon_invocations(running::ABANDONED, now()).await?;
        let registry = Arc::new(RunRegistry::default());
        let journal = Journal::start(store.clone(), registry.clone());
        let (events, telemetry) = (recovery.events.clone(), recovery.telemetry.clone());
        let replica = replica::start(store.clone(), registry.clone(), recovery.clone());
        let sweeper = Sweeper {
            store: store.clone(),
            agents: agents.clone(),
            clock: clock.clone(),
            telemetry: telemetry.clone(),
            events: events.clone(),
        };
        let titles = Titles::default();
        upkeep_jobs::add_handlers(&workers, &sweeper);
        workers.add(titles.handler(agents.clone()));
        workers.start();
        let (tasks, stopping) = (TaskTracker::new(), CancellationToken::new());
        let chat = Self {
            inner: Arc::new(Inner {
                store,
                agents,
                registry,
                journal,
                conversation_locks: ConversationLocks::default(),
                known_messages: events.known_messages.clone(),
                quota_locks: QuotaLocks::default(),
                invocations: Arc::default(),
                workers,
                titles,
                replica,
                readiness: Readiness::default(),
                sweeper,
                tasks,
                stopping,
                submissions: Arc::new(Semaphore::new(MAX_LOOKED_AT)),
                run_permits: RunPermits::new(max_runs),
                memory: Arc::default(),
                clock,
                attachment_texts: AttachmentTexts::default(),
                telemetry,
                events,
                recovery,
                folder_links: FolderLinks::default(),
            }),
        };
        outside::add_handlers(&chat.inner.workers, &chat.inner);
        Ok(chat)
    }

    /// Returns the agent of a request, ready to run, as a message to it would get it.
    ///
    /// # Errors
    /// The agent does not exist, is not allowed or not available.
    pub async fn agent(&self, request: &AgentRequest<'_>) -> Result<Arc<agent::Agent>, UserError> {
        self.inner.agents.agent(request).await
    }

    /// Returns the queue of background work.
    pub fn jobs(&self) -> &Jobs {
        self.inner.workers.jobs()
    }

    /// Returns what runs the jobs, to add handlers.
    pub fn workers(&self) -> &Workers {
        &self.inner.workers
    }

    /// Returns the number of active runs.
    pub fn active_runs(&self) -> usize {
        self.inner.registry.len()
    }

    /// Sets the receiver of telemetry. Only the first call has an effect; runs that have started
    /// already report nothing, those that recovery closed before are reported at once.
    pub fn set_telemetry(&self, telemetry: Arc<dyn Telemetry>) {
        self.inner.recovery.set_telemetry(telemetry);
    }

    /// Sets what reads attached documents that models do not read themselves. Only the first call has
    /// an effect; without one, models are told that such a file cannot be read.
    pub fn set_attachment_reader(&self, reader: Arc<dyn AttachmentReader>) {
        self.inner.attachment_texts.set_reader(reader);
    }

    /// Sets the receiver of what happens to runs, conversations and users. Only the first call has an
    /// effect.
    pub fn set_observer(&self, observer: Arc<dyn LifecycleObserver>) {
        self.inner.recovery.set_observer(observer);
    }

    /// Sets what returns the page about a folder, to which lists of folders link. Only the first call has an effect.
    pub fn set_folder_page(&self, page: FolderPage) {
        self.inner.folder_links.set(page);
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

    /// Refuses new submissions, gives active runs `patience` to end, then stops them. Their
    /// texts so far are stored.
    pub async fn shutdown(&self, patience: Duration) {
        self.drain(patience).await;
        self.close().await;
    }

    /// The first half of [`Chat::shutdown`]; stored data can still be read afterwards.
    pub async fn drain(&self, patience: Duration) {
        self.inner.tasks.close();
        let end_runs = async {
            if tokio::time::timeout(patience, self.inner.tasks.wait()).await.is_err() {
                self.inner.stopping.cancel();
                // A stopped run ends within a second and then stores its message.
                let _ = tokio::time::timeout(Duration::from_secs(5), self.inner.tasks.wait()).await;
            }
        };
        tokio::join!(end_runs, self.inner.workers.shutdown(patience));
    }

    /// The second half of [`Chat::shutdown`]; nothing can be read or stored afterwards.
    pub async fn close(&self) {
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
