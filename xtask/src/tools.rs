//! What the steps need from outside: there, installed, or named with the way to get it.

use crate::cargo::cargo;
use crate::step::step;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use xshell::{Shell, cmd};

/// Where Chromium is found, in this order; the variable `CHROMIUM` names another.
const BROWSERS: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/// The target of the browser's half.
pub(crate) fn wasm_target(shell: &Shell) -> Result<()> {
    let sysroot = cmd!(shell, "rustc --print sysroot").quiet().read()?;
    if PathBuf::from(sysroot).join("lib/rustlib/wasm32-unknown-unknown/lib").exists() {
        return Ok(());
    }
    step("add the wasm target", || {
        let added = cmd!(shell, "rustup target add wasm32-unknown-unknown").run();
        added.context("rustup adds the target wasm32-unknown-unknown; get it from https://rustup.rs")
    })
}

/// Formatter and linter.
pub(crate) fn rust_components(shell: &Shell) -> Result<()> {
    let is_there =
        |command: &str| cargo(shell).args([command, "--version"]).quiet().ignore_stdout().ignore_stderr().run();
    if is_there("fmt").and_then(|()| is_there("clippy")).is_ok() {
        return Ok(());
    }
    step("add rustfmt and clippy", || {
        let added = cmd!(shell, "rustup component add rustfmt clippy").run();
        added.context("rustup adds the components rustfmt and clippy; get it from https://rustup.rs")
    })
}

/// A Chromium to test with: the one that is there, or installed where we may.
pub(crate) fn chromium(shell: &Shell) -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Ok(named.into());
    }
    if let Some(found) = BROWSERS.iter().find_map(|name| find(name)) {
        return Ok(found);
    }
    if !can_install(shell) {
        bail!(
            "no Chromium was found; install one (Debian: `apt-get install chromium fonts-dejavu-core`), or set CHROMIUM to its path"
        );
    }
    step("install Chromium", || install(shell, &["chromium", "fonts-dejavu-core"]))?;
    find("chromium").context("Chromium was installed and yet is not there")
}

/// The programs of a PostgreSQL, which the tests start themselves: those that are there, or installed where we may.
pub(crate) fn postgres(shell: &Shell) -> Result<()> {
    if has_postgres(shell) {
        return Ok(());
    }
    if !can_install(shell) {
        bail!(
            "no PostgreSQL was found; install one (Debian: `apt-get install postgresql`; macOS: `brew install postgresql`), or add \
             the folder of its programs, with `initdb`, to PATH. The tests start their own; none has to run"
        );
    }
    step("install PostgreSQL", || install(shell, &["postgresql"]))?;
    if has_postgres(shell) { Ok(()) } else { bail!("PostgreSQL was installed and yet is not there") }
}

/// Debian keeps the programs of each version in a folder that is not in `PATH`.
fn has_postgres(shell: &Shell) -> bool {
    let versions = shell.read_dir("/usr/lib/postgresql").unwrap_or_default();
    find("initdb").is_some() || versions.iter().any(|version| version.join("bin/initdb").is_file())
}

/// Whether this is a Debian and we may install on it.
fn can_install(shell: &Shell) -> bool {
    let is_root = cmd!(shell, "id -u").quiet().ignore_stderr().read().is_ok_and(|id| id == "0");
    is_root && find("apt-get").is_some()
}

fn install(shell: &Shell, packages: &[&str]) -> Result<()> {
    let _front = shell.push_env("DEBIAN_FRONTEND", "noninteractive");
    cmd!(shell, "apt-get update -qq").run()?;
    Ok(cmd!(shell, "apt-get install -y -qq --no-install-recommends {packages...}").ignore_stdout().run()?)
}

/// The packages of the browser tests.
pub(crate) fn npm_packages(shell: &Shell) -> Result<()> {
    if find("npm").is_none() {
        bail!("npm was not found; it comes with Node 20 or later, from https://nodejs.org");
    }
    let lock = shell.read_file("end2end/package-lock.json")?;
    let stamp = "end2end/node_modules/.installed";
    if shell.read_file(stamp).is_ok_and(|known| known == lock) {
        return Ok(());
    }
    step("install the packages of the browser tests", || {
        let _folder = shell.push_dir("end2end");
        // The browser is the system's.
        let _skip = shell.push_env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
        Ok(cmd!(shell, "npm ci").run()?)
    })?;
    Ok(shell.write_file(stamp, lock)?)
}

/// The package `mcp` in an environment of its own, for the test that speaks to a server in Python. Without Python that test says that it
/// was skipped.
pub(crate) fn python_packages(shell: &Shell) -> Result<()> {
    const PACKAGES: &str = "mcp==2.3.0";
    let stamp = "target/python/.installed";
    if shell.read_file(stamp).is_ok_and(|known| known == PACKAGES) {
        return Ok(());
    }
    let is_there =
        cmd!(shell, "python3 -c 'import venv, ensurepip'").quiet().ignore_stdout().ignore_stderr().run().is_ok();
    if !is_there {
        eprintln!("no Python 3 with venv was found, so no MCP server in Python is tested");
        return Ok(());
    }
    step("install the package of the MCP server in Python", || {
        cmd!(shell, "python3 -m venv target/python").run()?;
        Ok(cmd!(shell, "target/python/bin/pip install --quiet --disable-pip-version-check {PACKAGES}").run()?)
    })?;
    Ok(shell.write_file(stamp, PACKAGES)?)
}

/// Whether nextest is there; `cargo test` does as well, only slower.
pub(crate) fn has_nextest(shell: &Shell) -> bool {
    cargo(shell).args(["nextest", "--version"]).quiet().ignore_stdout().ignore_stderr().run().is_ok()
}

/// A program of this name in the folders of `PATH`, or at this path.
fn find(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}
