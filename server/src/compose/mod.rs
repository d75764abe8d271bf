//! The composition root: turns the checked config into running objects. It is the only module that
//! depends on every crate.

mod agents;
mod current;
mod endpoints;
mod history;
mod models;
mod pages;
mod replayed;
mod retained;
mod served_agent;
mod sources;
mod user_tokens;

pub(crate) use current::CurrentConfig;
pub(crate) use endpoints::usage_caller;
pub(crate) use history::{ConfigStatus, LoadSummary};
pub(crate) use models::list::{ListedModel, ModelList};
pub(crate) use models::model_to_try;
pub(crate) use pages::workflow_pages::WorkflowPages;
pub(crate) use replayed::ReplayedConfig;
pub(crate) use served_agent::{ServedTools, ToolList};
pub(crate) use sources::sources;

use crate::Site;
use crate::capabilities::{config_language, database_schema};
use auth::password::SignInState;
use auth::{AuthState, auth_state};
use capability::{Context, Job};
use chat::{Chat, Clock};
use config::{Config, Limits, LoadAttempt};
use jobs::{Jobs, Workers};
use secrecy::ExposeSecret;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The time for shutting down after the drain timeout: stopping and storing runs, and closing
/// connections. A server that starts on the same file waits for as long.
const SHUTDOWN_TIME: Duration = Duration::from_secs(7);

/// The files of the demo config.
const DEMO_FILES: &[(&str, &str)] = &[
    ("chatwright.yaml", include_str!("../../../examples/demo/chatwright.yaml")),
    ("knowledge.sql", include_str!("../../../examples/demo/knowledge.sql")),
    ("on-call.md", include_str!("../../../examples/demo/on-call.md")),
    ("escalation.md", include_str!("../../../examples/demo/escalation.md")),
    ("goodwill.md", include_str!("../../../examples/demo/goodwill.md")),
];

/// The state that the routes need.
pub(crate) struct Composition {
    pub(crate) chat: Chat,
    /// The current config as running objects.
    pub(crate) current: Arc<CurrentConfig>,
    pub(crate) limits: Limits,
    /// For the admin console; all other routes use the chat.
    pub(crate) store: Store,
}

/// Which background work of capabilities runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackgroundWork {
    All,
    /// The work for which answers wait. Schedules, channels and the search for events do not run.
    OfAnswers,
}

/// Reads the config at `path`, or the embedded demo without one.
pub(crate) fn load_config(path: Option<&Path>) -> LoadAttempt {
    match path {
        Some(path) => config_language().read_path(path, &config::ProcessEnv),
        None => config_language().read_embedded(DEMO_FILES, &config::ProcessEnv),
    }
}

/// Returns why the commands of agents may not run on a server whose files are where they are, and what to do.
pub(crate) fn shell_place_problem(config: &Config, path: Option<&Path>, database: &str) -> Option<String> {
    let database = config.store.as_ref().map_or(database, |url| url.expose_secret());
    let file = Store::database_file(database).ok().flatten();
    workspace::shell_place_problem(config, path.into_iter().chain(file.as_deref()))
}

impl Composition {
    /// Builds everything. `database` is the URL of the store, unless the config has one; `address`
    /// is where the server listens; `site` has the pages that are written in Rust.
    pub(crate) async fn new(
        config: Config,
        read: LoadSummary,
        database: &str,
        address: Option<SocketAddr>,
        site: Site,
    ) -> anyhow::Result<Self> {
        let limits = config.limits.clone();
        let url = config.store.as_ref().map_or(database, |url| url.expose_secret());
        auth_state::check_listen_address(address, &config.auth.mode)?;
        let since = format!("since {:.0}", jiff::Timestamp::now());
        let (folder, store) =
            (Store::folder(url)?, database_schema().open(url, &since, limits.drain + SHUTDOWN_TIME).await?);
        let auth_state = AuthState { address, folder, store: store.clone(), sign_in: SignInState::default() };
        let workers = Workers::new(Jobs::new(store.clone()));
        let current = Arc::new(CurrentConfig::new(config, read, auth_state, workers.jobs().clone(), site).await?);
        let chat = Chat::open_with_workers(Clock::default(), workers, current.clone(), limits.runs).await?;
        current.meter_with(&chat);
        chat.set_observer(Arc::new(current.capabilities().clone()));
        Ok(Self { chat, current, limits, store })
    }

    /// Starts the background work of capabilities: all of it, or only what answers wait for. The repeated work of each
    /// server ends when `stop` is cancelled, and the returned tasks are that work; the queue ends with the chat.
    pub(crate) fn start_jobs(&self, work: BackgroundWork, stop: &CancellationToken) -> TaskTracker {
        let repeated = TaskTracker::new();
        let (context, capabilities) = (self.context(), self.current.capabilities());
        let mut jobs = capabilities.answer_jobs(&context);
        if work == BackgroundWork::All {
            jobs.extend(capabilities.jobs(&context));
        }
        for job in jobs {
            match job {
                Job::Queued(handler) => self.chat.workers().add(handler),
                Job::OnEachServer(job) => drop(repeated.spawn(job.repeat(stop.clone()))),
            }
        }
        repeated.close();
        repeated
    }

    /// Returns what the routes and the background work of capabilities use.
    pub(crate) fn context(&self) -> Context {
        Context { store: self.store.clone(), chat: self.chat.clone(), current: self.current.clone() }
    }
}
