//! What runs in a real browser: the journeys, and the pictures.

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
    step("build what fills a database for the journey of the console", || {
        Ok(cargo(shell).args(["build", "--package", "bench", "--package", "test_postgres"]).run()?)
    })?;
    step("check the types of the journeys", || {
        let _folder = shell.push_dir("end2end");
        Ok(cmd!(shell, "npx --no-install tsc").run()?)
    })?;
    step("journeys in the browser", || playwright(shell, "playwright.config.ts"))
}

/// Takes the README's picture, and those of the demo's states.
pub(crate) fn screenshots(shell: &Shell) -> Result<()> {
    tools::npm_packages(shell)?;
    build::run(shell, Profile::Debug)?;
    step("take the pictures", || playwright(shell, "screenshots.config.ts"))
}

/// Measures what a page costs.
pub(crate) fn bench(shell: &Shell) -> Result<()> {
    tools::npm_packages(shell)?;
    step("measure the page", || playwright(shell, "bench.config.ts"))
}

fn playwright(shell: &Shell, config: &str) -> Result<()> {
    let _browser = shell.push_env("CHROMIUM", tools::chromium(shell)?);
    let _folder = shell.push_dir("end2end");
    Ok(cmd!(shell, "npx --no-install playwright test --config {config}").run()?)
}
