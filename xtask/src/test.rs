//! `cargo xtask test`: format, lints, every Rust test, the browser's journeys.
//!
//! `app` has two halves whose features exclude each other, so cargo must never see both at once: the rooms and the
//! server's half are one run, the browser's half another.

use crate::build::{self, Profile};
use crate::step::step;
use crate::tools;
use anyhow::Result;
use xshell::{Shell, cmd};

/// Everything that is built for this machine; `server` brings `app` with `ssr`.
const HOST: &[&str] = &[
    "wire",
    "sse",
    "operators",
    "contract",
    "agent",
    "providers",
    "tools",
    "endpoints",
    "store",
    "chat",
    "config",
    "server",
    "bench",
    "xtask",
];

/// Runs every check and test.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    tools::wasm_target(shell)?;
    let browser = tools::chromium(shell)?;
    tools::npm_packages(shell)?;
    step("format", || Ok(cmd!(shell, "cargo fmt --all --check").run()?))?;
    step("lints of the server's half", || lint_host(shell))?;
    step("lints of the browser's half", || lint_browser(shell))?;
    build::run(shell, Profile::Debug)?;
    step("tests of the server's half", || test_host(shell))?;
    let _browser = shell.push_env("CHROMIUM", browser);
    step("journeys in the browser", || {
        let _folder = shell.push_dir("end2end");
        Ok(cmd!(shell, "npx playwright test").run()?)
    })
}

/// Takes the README's picture and those of the demo's states.
pub(crate) fn screenshots(shell: &Shell) -> Result<()> {
    let browser = tools::chromium(shell)?;
    tools::npm_packages(shell)?;
    build::run(shell, Profile::Debug)?;
    let _browser = shell.push_env("CHROMIUM", browser);
    step("take the pictures", || {
        let _folder = shell.push_dir("end2end");
        Ok(cmd!(shell, "npx playwright test --config screenshots.config.ts").run()?)
    })
}

fn packages() -> Vec<&'static str> {
    HOST.iter().flat_map(|name| ["--package", name]).collect()
}

fn lint_host(shell: &Shell) -> Result<()> {
    let packages = packages();
    cmd!(shell, "cargo clippy {packages...} --all-targets -- -D warnings").run()?;
    Ok(cmd!(shell, "cargo clippy --package app --features ssr --all-targets -- -D warnings").run()?)
}

fn lint_browser(shell: &Shell) -> Result<()> {
    Ok(cmd!(shell, "cargo clippy --package frontend --target wasm32-unknown-unknown -- -D warnings").run()?)
}

fn test_host(shell: &Shell) -> Result<()> {
    let packages = packages();
    let runner: &[&str] = if tools::has_nextest(shell) { &["nextest", "run"] } else { &["test"] };
    cmd!(shell, "cargo {runner...} {packages...}").run()?;
    Ok(cmd!(shell, "cargo {runner...} --package app --features ssr").run()?)
}
