//! `cargo xtask bench`: measures performance.

use crate::browser;
use crate::build::{self, Profile};
use crate::cargo::cargo;
use crate::step::step;
use anyhow::Result;
use std::path::PathBuf;
use xshell::{Shell, cmd};

/// Measures the release build of the server.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    build::run(shell, Profile::Release)?;
    step("build the load client", || Ok(cargo(shell).args(["build", "--package", "bench", "--release"]).run()?))?;
    step("measure", || Ok(cmd!(shell, "target/release/bench target/release/chatwright").run()?))
}

/// Measures the lists of the admin console over a large database.
pub(crate) fn admin(shell: &Shell) -> Result<()> {
    build::run(shell, Profile::Release)?;
    step("build the load client", || Ok(cargo(shell).args(["build", "--package", "bench", "--release"]).run()?))?;
    step("measure", || Ok(cmd!(shell, "target/release/bench admin target/release/chatwright").run()?))
}

/// Measures workflows, queued runs, webhooks and the queue, on SQLite and PostgreSQL.
pub(crate) fn workflows(shell: &Shell) -> Result<()> {
    build::run(shell, Profile::Release)?;
    step("build the load client", || Ok(cargo(shell).args(["build", "--package", "bench", "--release"]).run()?))?;
    step("measure workflows", || Ok(cmd!(shell, "target/release/bench workflows target/release/chatwright").run()?))?;
    step("measure the queue", || {
        Ok(cargo(shell).args(["run", "--release", "--package", "jobs", "--example", "queue_bench"]).run()?)
    })
}

/// Measures a conversation of 2,000 turns that is kept within its context.
pub(crate) fn conversation(shell: &Shell) -> Result<()> {
    build::run(shell, Profile::Release)?;
    step("build the load client", || Ok(cargo(shell).args(["build", "--package", "bench", "--release"]).run()?))?;
    step("measure", || Ok(cmd!(shell, "target/release/bench conversation target/release/chatwright").run()?))
}

/// Measures an evaluation of 1,000 cases.
pub(crate) fn evaluation(shell: &Shell) -> Result<()> {
    build::run(shell, Profile::Release)?;
    step("build the load client", || Ok(cargo(shell).args(["build", "--package", "bench", "--release"]).run()?))?;
    step("measure", || Ok(cmd!(shell, "target/release/bench evaluation target/release/chatwright").run()?))
}

/// Measures how long scripts take to start at each level of the shell.
pub(crate) fn scripts(shell: &Shell) -> Result<()> {
    build::run(shell, Profile::Release)?;
    step("build the load client", || Ok(cargo(shell).args(["build", "--package", "bench", "--release"]).run()?))?;
    step("measure", || Ok(cmd!(shell, "target/release/bench shell target/release/chatwright").run()?))
}

/// Measures searches and the reading of documents, on the collections in these folders, too.
pub(crate) fn retrieval(shell: &Shell, folders: &[PathBuf]) -> Result<()> {
    build::run(shell, Profile::Release)?;
    step("build the load client", || Ok(cargo(shell).args(["build", "--package", "bench", "--release"]).run()?))?;
    step("measure the rankings", || {
        let example = ["run", "--release", "--package", "retrieval", "--example", "measure", "--"];
        Ok(cargo(shell).args(example).args(folders).run()?)
    })?;
    step("measure the server", || {
        Ok(cmd!(shell, "target/release/bench retrieval target/release/chatwright {folders...}").run()?)
    })
}

/// Measures the page of the release build in the browser.
pub(crate) fn page(shell: &Shell) -> Result<()> {
    build::run(shell, Profile::Release)?;
    let _binary = shell.push_env("CHATWRIGHT_BINARY", shell.current_dir().join("target/release/chatwright"));
    browser::bench(shell)
}
