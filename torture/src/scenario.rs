//! What a scenario is, and what came of one.

use crate::checker::{self, Facts};
use crate::client::Client;
use crate::history::History;
use crate::ledger::Ledger;
use crate::provider::Provider;
use crate::server::{BY_PROXY, Server, Setup};
use crate::stored::Stored;
use anyhow::{Context, Result};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tempfile::TempDir;

/// Runs in which broken builds are tried as well have ten times the kills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    /// For a merge.
    One,
    /// For a night.
    Two,
}

/// What every scenario is given.
#[derive(Clone)]
pub(crate) struct Given {
    /// The binary with the points and defects of `crates/faults`.
    pub(crate) binary: PathBuf,
    /// Decides every schedule.
    pub(crate) seed: u64,
    /// How long, and how often.
    pub(crate) tier: Tier,
    /// Where histories are kept.
    pub(crate) folder: PathBuf,
    /// The defect that is built in, if one is.
    pub(crate) broken: Option<faults::Break>,
    /// How long those take that hold on for a while, unless they take as long as their tier says.
    pub(crate) seconds: Option<u64>,
}

impl Given {
    /// How long to hold on: what was asked for, else so many seconds for a merge and so many for a night.
    pub(crate) fn hold(&self, merge: u64, night: u64) -> Duration {
        let by_tier = if self.tier == Tier::One { merge } else { night };
        Duration::from_secs(self.seconds.unwrap_or(by_tier))
    }

    /// By how much times may be longer than for a release build. A debug build is ten times as slow, and is measured to see that nothing
    /// breaks, not how fast it is.
    pub(crate) fn slack(&self) -> f64 {
        if self.is_debug() { 20.0 } else { 1.0 }
    }

    /// By how much what comes and goes is slower than for a release build, which takes ten times as much of it.
    pub(crate) fn slowness(&self) -> u32 {
        if self.is_debug() { 10 } else { 1 }
    }

    /// Whether the binary is not optimised, so that figures of time mean little.
    pub(crate) fn is_debug(&self) -> bool {
        !self.binary.components().any(|part| part.as_os_str() == "release")
    }
}

/// A scenario by its name.
pub(crate) struct Scenario {
    /// As `--only` and the scorecard name it.
    pub(crate) name: &'static str,
    /// Does it.
    pub(crate) run: for<'a> fn(&'a Given) -> BoxFuture<'a, Result<Outcome>>,
}

/// What came of it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Outcome {
    /// How many faults, attacks or streams there were.
    pub(crate) injected: u64,
    /// What must never be, and was.
    pub(crate) violations: Vec<String>,
    /// The worst figure, in words.
    pub(crate) worst: String,
    /// Why it was not run on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) skipped: Option<String>,
}

impl Outcome {
    /// Of a scenario that this machine cannot run.
    pub(crate) fn skipped(why: &str) -> Self {
        Self { skipped: Some(why.to_owned()), ..Self::default() }
    }

    /// Notes what must not be.
    pub(crate) fn expect(&mut self, holds: bool, otherwise: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(otherwise());
        }
    }
}

/// The key of the provider, which must be nowhere.
const SECRET: &str = "secret-of-the-torture";

/// A world for one database: the model, the ledger, the history, the server's folder.
pub(crate) struct World {
    pub(crate) provider: Provider,
    pub(crate) ledger: Ledger,
    pub(crate) history: History,
    pub(crate) setup: Setup,
    _folder: TempDir,
}

impl World {
    /// A new one.
    pub(crate) async fn new(given: &Given, name: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (provider, ledger) = (Provider::start().await?, Ledger::start(folder.path()).await?);
        let history = History::create(given.folder.join(format!("{name}.jsonl")))?;
        let setup = Setup {
            binary: given.binary.clone(),
            folder: folder.path().to_owned(),
            model: provider.base.clone(),
            ledger: ledger.origin.clone(),
            database: None,
            variables: Vec::new(),
            launcher: Vec::new(),
            gated: "Enters a line after a yes.",
            limits: "",
            auth: BY_PROXY,
            has_peer: false,
        };
        let setup = given.broken.map_or(setup.clone(), |broken| setup.with("CHATWRIGHT_BROKEN", broken.name()));
        Ok(Self { provider, ledger, history, setup, _folder: folder })
    }

    /// A user at a server.
    pub(crate) fn client(&self, server: &Server, user: &str) -> Result<Client> {
        Client::new(&server.origin, user, &self.history)
    }

    /// What the checker finds when no server has the database open.
    pub(crate) async fn check(&self) -> Result<Vec<String>> {
        self.check_in(&self.setup.file()).await
    }

    /// The same with a copy of the database.
    pub(crate) async fn check_in(&self, file: &Path) -> Result<Vec<String>> {
        self.compare(&Stored::read(file).await?)
    }

    /// The same with a database of PostgreSQL.
    pub(crate) async fn check_postgres(&self, url: &str) -> Result<Vec<String>> {
        self.compare(&Stored::read_postgres(url).await?)
    }

    fn compare(&self, stored: &Stored) -> Result<Vec<String>> {
        let (ops, effects) = (self.history.read()?, self.ledger.counts());
        let (log, sunk) = (self.setup.log(), self.provider.sunk.load(Relaxed));
        let allowed = [address(&self.provider.base)?, address(&self.ledger.origin)?];
        let facts = Facts { ops: &ops, effects: &effects, stored, log: &log, secret: SECRET, allowed: &allowed, sunk };
        Ok(checker::check(&facts))
    }
}

/// Where a URL leads.
fn address(url: &str) -> Result<SocketAddr> {
    let host = url.strip_prefix("http://").and_then(|rest| rest.split('/').next());
    Ok(host.with_context(|| format!("{url} has no host"))?.parse()?)
}
