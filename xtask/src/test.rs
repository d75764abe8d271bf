//! `cargo xtask test`: formatting, lints, all Rust tests and the journeys in the browser.
//!
//! The features `ssr` and `hydrate` of `app` exclude each other, so cargo must never enable both at
//! once: the packages of the server and those of the WASM client are built by separate commands.

use crate::cargo::cargo;
use crate::step::{step, summary};
use crate::{browser, tools};
use anyhow::Result;
use xshell::Shell;

/// Cargo arguments for what runs on this machine: everything except `frontend`, with `app` for the
/// server.
const SERVER_ARGUMENTS: &[&str] = &["--workspace", "--exclude", "frontend", "--features", "app/ssr"];

/// Cargo arguments for what runs in the browser, including the crates that it shares with the
/// server.
const CLIENT_ARGUMENTS: &[&str] = &[
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
    tools::ensure_wasm_target(shell)?;
    tools::ensure_rust_components(shell)?;
    tools::find_or_install_chromium(shell)?;
    tools::ensure_postgres(shell)?;
    tools::ensure_npm_packages(shell)?;
    tools::ensure_python_packages(shell)?;
    step("check the formatting", || Ok(cargo(shell).args(["fmt", "--all", "--check"]).run()?))?;
    step("lint the server", || lint(shell, SERVER_ARGUMENTS, &["--all-targets"]))?;
    step("lint the WASM client", || lint(shell, CLIENT_ARGUMENTS, &["--lib"]))?;
    test(shell)?;
    browser::journeys(shell)?;
    summary();
    Ok(())
}

fn lint(shell: &Shell, half: &[&str], targets: &[&str]) -> Result<()> {
    Ok(cargo(shell).arg("clippy").args(half).args(targets).args(["--", "-D", "warnings"]).run()?)
}

/// Runs the Rust tests, with nextest if it is installed. Nextest skips documentation tests, so they
/// are run separately.
fn test(shell: &Shell) -> Result<()> {
    if !tools::has_nextest(shell) {
        return step("run the tests", || {
            Ok(cargo(shell).args(["test", "--no-fail-fast"]).args(SERVER_ARGUMENTS).run()?)
        });
    }
    step("run the tests", || {
        Ok(cargo(shell).args(["nextest", "run", "--no-fail-fast"]).args(SERVER_ARGUMENTS).run()?)
    })?;
    // The other tests with a database run on SQLite and PostgreSQL in one run.
    step("run the tests of the chat on PostgreSQL", || {
        let on_postgres =
            cargo(shell).env("CHATWRIGHT_TEST_STORE", "postgres").args(["nextest", "run", "--no-fail-fast"]);
        Ok(on_postgres.args(SERVER_ARGUMENTS).args(["-E", "package(chat) & kind(test)"]).run()?)
    })?;
    step("run the documentation tests", || Ok(cargo(shell).args(["test", "--doc"]).args(SERVER_ARGUMENTS).run()?))
}
