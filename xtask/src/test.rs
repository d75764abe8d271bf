//! `cargo xtask test`: format, lints, every Rust test, the browser's journeys.
//!
//! `app` has two halves whose features exclude each other, so cargo must never see both at once: everything that runs on the
//! server is one group of packages, everything that runs in the browser another.

use crate::cargo::cargo;
use crate::step::{step, summary};
use crate::{browser, tools};
use anyhow::Result;
use xshell::Shell;

/// What is built for this machine: all but the browser's entry, `app` as the server has it.
const SERVER_HALF: &[&str] = &["--workspace", "--exclude", "frontend", "--features", "app/ssr"];

/// What the browser runs, down to the rooms that it shares with the server.
const BROWSER_HALF: &[&str] = &[
    "--package",
    "frontend",
    "--package",
    "app",
    "--package",
    "wire",
    "--package",
    "sse",
    "--package",
    "operators",
    "--package",
    "rust-page",
    "--no-default-features",
    "--features",
    "app/hydrate,rust-page/hydrate",
    "--target",
    "wasm32-unknown-unknown",
];

/// Runs every check and test.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    tools::wasm_target(shell)?;
    tools::rust_components(shell)?;
    tools::chromium(shell)?;
    tools::postgres(shell)?;
    tools::npm_packages(shell)?;
    tools::python_packages(shell)?;
    step("format", || Ok(cargo(shell).args(["fmt", "--all", "--check"]).run()?))?;
    step("lints of the server's half", || lint(shell, SERVER_HALF, &["--all-targets"]))?;
    step("lints of the browser's half", || lint(shell, BROWSER_HALF, &["--lib"]))?;
    test(shell)?;
    browser::journeys(shell)?;
    summary();
    Ok(())
}

fn lint(shell: &Shell, half: &[&str], targets: &[&str]) -> Result<()> {
    Ok(cargo(shell).arg("clippy").args(half).args(targets).args(["--", "-D", "warnings"]).run()?)
}

/// Nextest where it is there, which leaves out the tests in documentation; `cargo test` runs those too.
fn test(shell: &Shell) -> Result<()> {
    if !tools::has_nextest(shell) {
        return step("tests", || Ok(cargo(shell).args(["test", "--no-fail-fast"]).args(SERVER_HALF).run()?));
    }
    step("tests", || Ok(cargo(shell).args(["nextest", "run", "--no-fail-fast"]).args(SERVER_HALF).run()?))?;
    // The other tests run on both by themselves.
    step("the chat on PostgreSQL", || {
        let on_postgres =
            cargo(shell).env("CHATWRIGHT_TEST_STORE", "postgres").args(["nextest", "run", "--no-fail-fast"]);
        Ok(on_postgres.args(SERVER_HALF).args(["-E", "package(chat) & kind(test)"]).run()?)
    })?;
    step("tests in documentation", || Ok(cargo(shell).args(["test", "--doc"]).args(SERVER_HALF).run()?))
}
