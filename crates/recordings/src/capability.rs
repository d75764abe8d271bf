//! The capability: records the runs of agents that have `record`.

use crate::console::{self, Console};
use crate::format::{Header, RequestInput};
use crate::record::{self, Budget, Session};
use crate::section::{RecordKey, Recordings};
use crate::store;
use ::capability::{Capability, Context, Definition, Job};
use ::store::Store;
use agent::{Agent, RecordedRun, RunOutcome, RunRecorder, RunRecording, TurnInput};
use chat::AgentRequest;
use config::{Config, SectionType};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use web::admin::Section;
use web::times::now_millis;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<RecordKey>(), SectionType::of::<Recordings>()],
    tables: Some(store::TABLES),
    start: Some(|host| Ok(Arc::new(Recorder::new(host.store.clone())))),
    ..Definition::new("recordings")
};

/// The memory that the recordings of a server may take until they are stored, in bytes.
const MAX_MEMORY: usize = 256 * 1024 * 1024;
/// The number of recordings that may wait to be stored.
const MAX_WAITING: usize = 32;
/// The interval at which old recordings are deleted.
const PURGE_INTERVAL: Duration = Duration::from_secs(10 * 60);

/// The capability of a running server.
struct Recorder {
    store: Store,
    budget: Arc<Budget>,
    /// The permits of the recordings that wait to be stored.
    writes: Arc<Semaphore>,
}

impl Recorder {
    fn new(store: Store) -> Self {
        Self { store, budget: Budget::new(MAX_MEMORY), writes: Arc::new(Semaphore::new(MAX_WAITING)) }
    }
}

/// Returns the limits of the config.
fn limits(config: &Config) -> Recordings {
    config.section::<Recordings>().copied().unwrap_or_default()
}

impl Capability for Recorder {
    fn recorder(
        &self,
        config: &Config,
        agent: &config::Agent,
        request: &AgentRequest<'_>,
    ) -> Option<Arc<dyn RunRecorder>> {
        // Runs that are not recorded must not be slowed down.
        if !agent.section::<RecordKey>()?.records(request.conversation_id) {
            return None;
        }
        Some(Arc::new(AgentRecorder {
            store: self.store.clone(),
            budget: self.budget.clone(),
            writes: self.writes.clone(),
            run_bytes: limits(config).run_bytes(),
            config: format!("{:016x}", config.fingerprint),
            input: RequestInput::from(request),
        }))
    }

    fn console(&self, context: &Context) -> Option<Section> {
        Some(console::section(Console::new(context.clone())))
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let context = context.clone();
        vec![Job::recurring("recordings.purge", PURGE_INTERVAL, move || {
            let context = context.clone();
            async move {
                let limits = limits(&context.current.config());
                let before = now_millis() - i64::try_from(limits.keep().as_millis()).unwrap_or(i64::MAX);
                let deleted = store::purge(&context.store, before, limits.total_bytes()).await?;
                if deleted > 0 {
                    tracing::info!(deleted, "old recordings of runs were deleted");
                }
                Ok(())
            }
        })]
    }
}

impl From<&AgentRequest<'_>> for RequestInput {
    fn from(request: &AgentRequest<'_>) -> Self {
        let masked = |map: &serde_json::Map<String, serde_json::Value>| match contract::mask_secrets(
            &serde_json::Value::Object(map.clone()),
        ) {
            serde_json::Value::Object(map) => map,
            _ => serde_json::Map::new(),
        };
        Self {
            page_id: request.page_id.to_owned(),
            block_id: request.block_id.map(str::to_owned),
            shared_state: masked(request.shared_state),
            url_query: masked(request.url_query),
            switches: request.switches.clone(),
            options: request.options.clone(),
        }
    }
}

/// Records the runs that a request starts.
struct AgentRecorder {
    store: Store,
    budget: Arc<Budget>,
    writes: Arc<Semaphore>,
    run_bytes: usize,
    config: String,
    input: RequestInput,
}

impl RunRecorder for AgentRecorder {
    fn begin(&self, agent: &Agent, turn: &mut TurnInput) -> Option<RecordedRun> {
        let scope = &turn.scope;
        // Runs outside of conversations are not recorded: there is no conversation with which they
        // would be deleted.
        if scope.conversation_id.is_empty() || scope.run_id.is_empty() {
            return None;
        }
        let session = Session::new(self.budget.clone(), self.run_bytes);
        let header = record::header(agent, turn, &self.config, self.input.clone());
        let user_id = scope.user_id.clone();
        let agent = record::begin(&session, agent, turn);
        let (store, writes) = (self.store.clone(), self.writes.clone());
        Some(RecordedRun { agent, recording: Box::new(StoredRecording { session, header, user_id, store, writes }) })
    }
}

/// A recording that is stored at its end.
struct StoredRecording {
    session: Arc<Session>,
    header: Header,
    user_id: String,
    store: Store,
    writes: Arc<Semaphore>,
}

impl RunRecording for StoredRecording {
    fn finish(self: Box<Self>, outcome: &RunOutcome) {
        let Self { session, header, user_id, store, writes } = *self;
        record::finish(&session, outcome);
        let run = header.run_id.clone();
        let Some(recording) = session.take(header) else {
            count("too-large");
            tracing::warn!(run, "the run was not recorded: its recording became too large");
            return;
        };
        let Ok(permit) = writes.try_acquire_owned() else {
            count("failed");
            tracing::warn!(run, "the run was not recorded: too many recordings wait to be stored");
            return;
        };
        // The answer does not wait for it.
        tokio::spawn(async move {
            match store::insert(&store, user_id, recording).await {
                Ok(true) => count("stored"),
                Ok(false) => count("refused"),
                Err(error) => {
                    count("failed");
                    tracing::error!(run, %error, "the run was not recorded");
                }
            }
            // The memory of the recording counts until it is stored.
            drop((session, permit));
        });
    }
}

fn count(outcome: &'static str) {
    metrics::counter!("chatwright_recordings_total", "outcome" => outcome).increment(1);
}
