//! Playwright runs: the journeys, the screenshots and the page benchmark.

use crate::build::{self, Profile};
use crate::cargo::cargo;
use crate::step::step;
use crate::tools;
use anyhow::Result;
use xshell::{Shell, cmd};

/// Builds what the journeys need and runs them.
pub(crate) fn journeys(shell: &Shell) -> Result<()> {
    build::run(shell, Profile::Debug)?;
    build::rust_page(shell)?;
    step("build the data generator for the journeys of the admin console", || {
        Ok(cargo(shell).args(["build", "--package", "bench", "--package", "test_postgres"]).run()?)
    })?;
    step("type-check the journeys", || {
        let _folder = shell.push_dir("end2end");
        Ok(cmd!(shell, "npx --no-install tsc").run()?)
    })?;
    step("run the journeys in the browser", || playwright(shell, "playwright.config.ts"))
}

/// Takes the README's screenshot and those of the demo's states.
pub(crate) fn screenshots(shell: &Shell) -> Result<()> {
    tools::ensure_npm_packages(shell)?;
    build::run(shell, Profile::Debug)?;
    step("take the screenshots", || playwright(shell, "screenshots.config.ts"))
}

/// Measures the page in the browser.
pub(crate) fn bench(shell: &Shell) -> Result<()> {
    tools::ensure_npm_packages(shell)?;
    step("measure the page in the browser", || playwright(shell, "bench.config.ts"))
}

fn playwright(shell: &Shell, config: &str) -> Result<()> {
    let _browser = shell.push_env("CHROMIUM", tools::find_or_install_chromium(shell)?);
    let _folder = shell.push_dir("end2end");
    Ok(cmd!(shell, "npx --no-install playwright test --config {config}").run()?)
}
