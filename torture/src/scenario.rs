//! Scenarios, their options, their test environment and their outcome.

use crate::checker::{self, Facts};
use crate::client::Client;
use crate::history::History;
use crate::ledger::Ledger;
use crate::provider::Provider;
use crate::server::{PROXY_AUTH, Server, Setup};
use crate::stored::DatabaseContents;
use anyhow::{Context, Result};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tempfile::TempDir;

/// How thorough a run is. Tier 2 has ten times the kills and also runs the builds with a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    /// For a merge.
    One,
    /// For a nightly run.
    Two,
}

/// The options of a run.
#[derive(Clone)]
pub(crate) struct RunOptions {
    /// The server binary with the fault points of `crates/faults`.
    pub(crate) binary: PathBuf,
    /// The seed of all schedules.
    pub(crate) seed: u64,
    /// How thorough the run is.
    pub(crate) tier: Tier,
    /// The folder for histories.
    pub(crate) folder: PathBuf,
    /// The duration in seconds of scenarios that run for a given time; by default it depends on the
    /// tier.
    pub(crate) seconds: Option<u64>,
}

impl RunOptions {
    /// Returns the duration: the requested one, or else one of the given seconds for tier 1 and
    /// tier 2.
    pub(crate) fn duration(&self, merge: u64, night: u64) -> Duration {
        let by_tier = if self.tier == Tier::One { merge } else { night };
        Duration::from_secs(self.seconds.unwrap_or(by_tier))
    }

    /// Returns the factor for time limits. A debug build is ten times as slow, so it is only tested
    /// for correct behavior and not for speed.
    pub(crate) fn time_factor(&self) -> f64 {
        if self.is_debug() { 20.0 } else { 1.0 }
    }

    /// Returns the divisor for the amount of load: a debug build gets a tenth of it.
    pub(crate) fn load_divisor(&self) -> u32 {
        if self.is_debug() { 10 } else { 1 }
    }

    /// Returns whether the binary is not optimized, so that measured times mean little.
    pub(crate) fn is_debug(&self) -> bool {
        !self.binary.components().any(|part| part.as_os_str() == "release")
    }
}

/// A named scenario.
pub(crate) struct Scenario {
    /// The name for `--only` and the scorecard.
    pub(crate) name: &'static str,
    /// Runs it.
    pub(crate) run: for<'a> fn(&'a RunOptions) -> BoxFuture<'a, Result<Outcome>>,
}

/// The outcome of a scenario.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Outcome {
    /// The number of faults, attacks or streams.
    pub(crate) injected: u64,
    /// The violated invariants and limits.
    pub(crate) violations: Vec<String>,
    /// The worst measured values, as text.
    pub(crate) worst: String,
    /// Why it cannot run on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) skipped: Option<String>,
}

impl Outcome {
    /// Returns the outcome of a scenario that cannot run on this machine.
    pub(crate) fn skipped(why: &str) -> Self {
        Self { skipped: Some(why.to_owned()), ..Self::default() }
    }

    /// Adds a violation if a condition does not hold.
    pub(crate) fn expect(&mut self, holds: bool, otherwise: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(otherwise());
        }
    }
}

/// The provider's API key, which must not appear anywhere.
const SECRET: &str = "secret-of-the-torture";

/// The test environment of one database: the provider, the ledger, the history and the server's
/// setup.
pub(crate) struct Testbed {
    pub(crate) provider: Provider,
    pub(crate) ledger: Ledger,
    pub(crate) history: History,
    pub(crate) setup: Setup,
    _folder: TempDir,
}

impl Testbed {
    /// Creates a new environment.
    pub(crate) async fn new(options: &RunOptions, name: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (provider, ledger) = (Provider::start().await?, Ledger::start(folder.path()).await?);
        let history = History::create(options.folder.join(format!("{name}.jsonl")))?;
        let setup = Setup {
            binary: options.binary.clone(),
            folder: folder.path().to_owned(),
            model: provider.base.clone(),
            ledger: ledger.origin.clone(),
            ledger_timeout: 5_000,
            database: None,
            variables: Vec::new(),
            launcher: Vec::new(),
            gated: "Records a line after an approval.",
            limits: "",
            auth: PROXY_AUTH,
            has_titles: false,
            has_peer: false,
            agent_keys: "",
            workflows: "",
        };
        Ok(Self { provider, ledger, history, setup, _folder: folder })
    }

    /// Returns a client for a user.
    pub(crate) fn client(&self, server: &Server, user: &str) -> Result<Client> {
        Client::new(&server.origin, user, &self.history)
    }

    /// Checks the database, which no server may have open; returns the violations.
    pub(crate) async fn check(&self) -> Result<Vec<String>> {
        self.check_file(&self.setup.database_file()).await
    }

    /// Like [`Testbed::check`], for a copy of the database.
    pub(crate) async fn check_file(&self, file: &Path) -> Result<Vec<String>> {
        self.check_contents(&DatabaseContents::read(file).await?)
    }

    /// Like [`Testbed::check`], for a PostgreSQL database.
    pub(crate) async fn check_postgres(&self, url: &str) -> Result<Vec<String>> {
        self.check_contents(&DatabaseContents::read_postgres(url).await?)
    }

    fn check_contents(&self, stored: &DatabaseContents) -> Result<Vec<String>> {
        let (ops, effects) = (self.history.read()?, self.ledger.counts());
        let (log, sunk) = (self.setup.log(), self.provider.sinkhole_requests.load(Relaxed));
        let allowed = [address(&self.provider.base)?, address(&self.ledger.origin)?];
        let facts = Facts {
            ops: &ops,
            effects: &effects,
            stored,
            log: &log,
            secret: SECRET,
            allowed: &allowed,
            sinkhole_requests: sunk,
        };
        Ok(checker::check(&facts))
    }
}

/// Returns the address of a URL.
fn address(url: &str) -> Result<SocketAddr> {
    let host = url.strip_prefix("http://").and_then(|rest| rest.split('/').next());
    Ok(host.with_context(|| format!("{url} has no host"))?.parse()?)
}
