//! What the steps need from outside: there, installed, or named with the way to get it.

use crate::step::step;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use xshell::{Shell, cmd};

/// Where Chromium is found, in this order; `CHROMIUM` names another.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome"];

/// The target of the browser's half.
pub(crate) fn wasm_target(shell: &Shell) -> Result<()> {
    let sysroot = cmd!(shell, "rustc --print sysroot").quiet().read()?;
    if PathBuf::from(sysroot).join("lib/rustlib/wasm32-unknown-unknown/lib").exists() {
        return Ok(());
    }
    step("add the wasm target", || {
        let added = cmd!(shell, "rustup target add wasm32-unknown-unknown").run();
        added.context("rustup adds the target; get it from https://rustup.rs")
    })
}

/// A Chromium to test with: the one that is there, or installed where we may.
pub(crate) fn chromium(shell: &Shell) -> Result<PathBuf> {
    if let Some(found) = find_chromium(shell) {
        return Ok(found);
    }
    let is_root = cmd!(shell, "id -u").quiet().read().is_ok_and(|id| id == "0");
    if !is_root || cmd!(shell, "apt-get --version").quiet().ignore_stdout().run().is_err() {
        bail!(
            "no Chromium was found; install one (Debian: `apt-get install chromium fonts-dejavu-core`) or name it in CHROMIUM"
        );
    }
    step("install Chromium", || {
        let _front = shell.push_env("DEBIAN_FRONTEND", "noninteractive");
        cmd!(shell, "apt-get update -qq").run()?;
        Ok(cmd!(shell, "apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core")
            .ignore_stdout()
            .run()?)
    })?;
    find_chromium(shell).context("Chromium was installed and yet is not there")
}

fn find_chromium(shell: &Shell) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Some(named.into());
    }
    BROWSERS.iter().find_map(|name| cmd!(shell, "which {name}").quiet().ignore_stderr().read().ok()).map(PathBuf::from)
}

/// The packages of the browser tests.
pub(crate) fn npm_packages(shell: &Shell) -> Result<()> {
    if cmd!(shell, "npm --version").quiet().ignore_stdout().run().is_err() {
        bail!("npm was not found; it comes with Node, from https://nodejs.org");
    }
    let lock = shell.read_file("end2end/package-lock.json")?;
    let stamp = "end2end/node_modules/.installed";
    if shell.read_file(stamp).is_ok_and(|known| known == lock) {
        return Ok(());
    }
    step("install the packages of the browser tests", || {
        let _folder = shell.push_dir("end2end");
        let _skip = shell.push_env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
        cmd!(shell, "npm ci --no-audit --no-fund").run()?;
        Ok(())
    })?;
    Ok(shell.write_file(stamp, lock)?)
}

/// Whether nextest is there; `cargo test` does as well, only slower.
pub(crate) fn has_nextest(shell: &Shell) -> bool {
    cmd!(shell, "cargo nextest --version").quiet().ignore_stdout().ignore_stderr().run().is_ok()
}
