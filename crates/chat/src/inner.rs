//! The state of a chat.

use crate::admission::memory::MemoryGuard;
use crate::admission::permits::RunPermits;
use crate::admission::quota_locks::QuotaLocks;
use crate::events::Events;
use crate::files::attachments::AttachmentTexts;
use crate::history::folder_links::FolderLinks;
use crate::outside::running::Invocations;
use crate::run::title::Titles;
use crate::stream::journal::Journal;
use crate::stream::live::RunRegistry;
use crate::submit::branch::known::KnownMessages;
use crate::submit::conversation_locks::ConversationLocks;
use crate::upkeep::readiness::Readiness;
use crate::upkeep::recovered::RecoveryReports;
use crate::upkeep::retention::Sweeper;
use crate::{AgentSource, Clock, Telemetry};
use jobs::Workers;
use std::sync::{Arc, OnceLock};
use store::Store;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// The state that all handles on a chat share.
pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) agents: Arc<dyn AgentSource>,
    pub(crate) registry: Arc<RunRegistry>,
    pub(crate) journal: Journal,
    pub(crate) conversation_locks: ConversationLocks,
    pub(crate) known_messages: Arc<KnownMessages>,
    pub(crate) quota_locks: QuotaLocks,
    pub(crate) invocations: Arc<Invocations>,
    /// Runs the jobs of the queue, of the chat and of others.
    pub(crate) workers: Workers,
    pub(crate) titles: Titles,
    /// The background tasks of a server that shares its database with others.
    pub(crate) replica: Option<AbortOnDropHandle<()>>,
    pub(crate) readiness: Readiness,
    pub(crate) sweeper: Sweeper,
    pub(crate) tasks: TaskTracker,
    pub(crate) stopping: CancellationToken,
    /// A permit for each submission that is being processed.
    pub(crate) submissions: Arc<Semaphore>,
    /// A permit for each run.
    pub(crate) run_permits: RunPermits,
    pub(crate) memory: Arc<MemoryGuard>,
    pub(crate) clock: Clock,
    pub(crate) attachment_texts: AttachmentTexts,
    pub(crate) telemetry: Arc<OnceLock<Arc<dyn Telemetry>>>,
    pub(crate) events: Events,
    /// Reports the runs that recovery closes.
    pub(crate) recovery: RecoveryReports,
    pub(crate) folder_links: FolderLinks,
}
