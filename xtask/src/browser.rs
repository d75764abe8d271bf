//! Playwright runs: the journeys in Chromium, the main ones in other browsers, the screenshots and the page benchmark.

use crate::build;
use crate::cargo::cargo;
use crate::step::step;
use crate::tools::{self, OtherBrowser};
use anyhow::Result;
use std::path::PathBuf;
use xshell::{Shell, cmd};

/// Cargo arguments for the servers of the journeys, and for the data generator and the database of
/// those of the admin console. The tests have built all that they consist of, with the module that the server's
/// own tests use: see `test.rs`.
pub(crate) const PROGRAMS: &[&str] = &[
    "--package",
    "server",
    "--package",
    "rust-page",
    "--package",
    "extended",
    "--package",
    "bench",
    "--package",
    "test_postgres",
    "--features",
    "server/full,server/testing",
];

/// Builds the programs of the journeys and runs them.
///
/// They use the site of a release, as users do; it must have been built already. Its WASM has a seventh of the size of the one for
/// development, with which the journeys take a third longer. The examples use the site for development, with its checks.
///
/// The journeys of the examples and those that take minutes run only if the run is thorough.
pub(crate) fn journeys(shell: &Shell, is_thorough: bool) -> Result<()> {
    let _thorough = is_thorough.then(|| shell.push_env("THOROUGH", "1"));
    if is_thorough {
        build::EXAMPLES.into_iter().try_for_each(|package| build::example_site(shell, package))?;
    }
    step("build the programs of the journeys", || Ok(cargo(shell).arg("build").args(PROGRAMS).run()?))?;
    step("run the journeys in the browser", || playwright(shell, "playwright.config.ts"))
}

/// Checks the types of the journeys.
pub(crate) fn type_check(shell: &Shell) -> Result<()> {
    step("type-check the journeys", || {
        let _folder = shell.push_dir("end2end");
        Ok(cmd!(shell, "npx --no-install tsc").run()?)
    })
}

/// Runs the main journeys in the browsers besides Chromium that are there, after [`journeys`], which builds what they need.
pub(crate) fn main_journeys(shell: &Shell, others: &[(&OtherBrowser, PathBuf)]) -> Result<()> {
    if others.is_empty() {
        return Ok(());
    }
    let _browsers = others.iter().map(|(browser, path)| shell.push_env(browser.variable, path)).collect::<Vec<_>>();
    let names = others.iter().map(|(browser, _)| browser.name).collect::<Vec<_>>().join(" and ");
    step(&format!("run the main journeys in {names}"), || {
        let _folder = shell.push_dir("end2end");
        Ok(cmd!(shell, "npx --no-install playwright test --config browsers.config.ts").run()?)
    })
}

/// Takes the README's screenshot and those of the demo's states.
pub(crate) fn screenshots(shell: &Shell) -> Result<()> {
    tools::ensure_npm_packages(shell)?;
    build::debug(shell, false)?;
    step("take the screenshots", || playwright(shell, "screenshots.config.ts"))
}

/// Measures the page in the browser.
pub(crate) fn bench(shell: &Shell) -> Result<()> {
    tools::ensure_npm_packages(shell)?;
    step("measure the page in the browser", || playwright(shell, "bench.config.ts"))
}

/// Measures every screen in the browser, on a server with many conversations.
pub(crate) fn screens(shell: &Shell) -> Result<()> {
    tools::ensure_npm_packages(shell)?;
    step("measure every screen in the browser", || playwright(shell, "screens.config.ts"))
}

fn playwright(shell: &Shell, config: &str) -> Result<()> {
    let _browser = shell.push_env("CHROMIUM", tools::find_or_install_chromium(shell)?);
    let _folder = shell.push_dir("end2end");
    Ok(cmd!(shell, "npx --no-install playwright test --config {config}").run()?)
}
