//! Loads a config and starts its agents.

use super::{Chatwright, HAS_HELPERS, PAGE, Running};
use crate::attachments::DocumentReader;
use crate::capabilities::{self, config_language};
use crate::compose::{BackgroundWork, Composition, LoadSummary};
use crate::{Site, compose};
use capability::Definition;
use config::{AccessRule, Diagnostic, LoadAttempt, MAIN_FILE, ProcessEnv, Severity};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// A database that lasts as long as the agents run.
const IN_MEMORY: &str = "sqlite::memory:";

/// The settings with which agents are started.
#[derive(Clone, Debug)]
pub struct Builder {
    source: Source,
    database: Option<String>,
    capabilities: &'static [Definition],
    work: BackgroundWork,
}

#[derive(Clone, Debug)]
enum Source {
    Path(PathBuf),
    Text(String),
}

/// Why the agents could not be started.
#[derive(Debug)]
pub enum StartError {
    /// The config has errors: all of them, each with its position.
    Config(Vec<Diagnostic>),
    /// The capabilities, the database or a connection cannot be used.
    Other(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(problems) => f.write_str(&config::render(problems)),
            Self::Other(cause) => f.write_str(cause),
        }
    }
}

impl std::error::Error for StartError {}

impl Builder {
    /// Uses the config at a path: a YAML file, or a folder with `chatwright.yaml`. Its secrets are
    /// read from the environment.
    pub fn from_path(path: impl Into<PathBuf>) -> Self {
        Self::new(Source::Path(path.into()))
    }

    /// Uses a config that is given as its text. It can include no files.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self::new(Source::Text(text.into()))
    }

    fn new(source: Source) -> Self {
        Self { source, database: None, capabilities: &[], work: BackgroundWork::OfAnswers }
    }

    /// Keeps conversations in this database: `sqlite://PATH` or
    /// `postgres://USER:PASSWORD@HOST/DATABASE`. An SQLite file has one program at a time.
    #[must_use]
    pub fn database(self, url: impl Into<String>) -> Self {
        Self { database: Some(url.into()), ..self }
    }

    /// Adds capabilities that are written in Rust. Those of the first start of a process hold for all
    /// further ones.
    #[must_use]
    pub fn capabilities(self, capabilities: &'static [Definition]) -> Self {
        Self { capabilities, ..self }
    }

    /// Also runs the background work of the config, as a server does: schedules and triggers start
    /// workflows, workflows go on after waiting, memories are extracted, folders are followed. Without it
    /// nothing happens but what the program asks for, and what other work is enqueued waits in the database.
    #[must_use]
    pub fn background_work(self) -> Self {
        Self { work: BackgroundWork::All, ..self }
    }

    /// Loads the config and starts its agents, on the runtime of the caller.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn start(self) -> Result<Chatwright, StartError> {
        let other = |error: &dyn fmt::Display| StartError::Other(error.to_string());
        if !HAS_HELPERS.load(Ordering::Relaxed) {
            child_process::disable_own_program();
        }
        let site = Site { files: |_| None, pages: &[], blocks: &[], capabilities: self.capabilities };
        capabilities::add(site).map_err(StartError::Other)?;
        let (attempt, path) = self.source.load().await?;
        let (read, files) = (LoadSummary::from_attempt(&attempt), attempt.files.clone());
        let (mut config, warnings) = attempt.outcome.map_err(|problems| {
            let is_error = |problem: &Diagnostic| problem.severity == Severity::Error;
            StartError::Config(problems.into_iter().filter(is_error).collect())
        })?;
        warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        let database = self.database.as_deref().unwrap_or(IN_MEMORY);
        config.store = None;
        if let Some(problem) = compose::shell_place_problem(&config, path.as_deref(), database) {
            return Err(StartError::Other(problem));
        }
        add_page(&mut config);
        let composition = Composition::new(config, read, database, None, site).await.map_err(|error| other(&error))?;
        composition.chat.set_attachment_reader(Arc::new(DocumentReader::default()));
        let stop = CancellationToken::new();
        let jobs = composition.start_jobs(self.work, &stop);
        Ok(Chatwright { running: Arc::new(Running { composition, jobs, stop, runtime: Handle::current(), files }) })
    }
}

impl Source {
    /// Reads the config. Returns also where it is.
    async fn load(self) -> Result<(LoadAttempt, Option<PathBuf>), StartError> {
        match self {
            Self::Text(text) => Ok((config_language().read_embedded(&[(MAIN_FILE, &text)], &ProcessEnv), None)),
            Self::Path(path) => {
                let read = path.clone();
                let task = tokio::task::spawn_blocking(move || compose::load_config(Some(&read)));
                let attempt = task.await.map_err(|_| StartError::Other("the config could not be read".to_owned()))?;
                Ok((attempt, Some(path)))
            }
        }
    }
}

/// Adds a page without blocks for agents that are on no page: every conversation belongs to a page.
fn add_page(config: &mut config::Config) {
    if config.pages.iter().all(|page| page.definition.id != PAGE) {
        let definition =
            wire::page::Page { id: PAGE.to_owned(), title: None, events: Default::default(), blocks: Vec::new() };
        config.pages.push(config::Page { definition, auth: AccessRule::Public, client_tools: Vec::new() });
    }
}
