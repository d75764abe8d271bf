//! The external tools that the steps need: each is found, installed, or reported with how to get
//! it.

use crate::cargo::cargo;
use crate::step::{notice, step};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use xshell::{Shell, cmd};

/// Chromium without windows. A journey takes two thirds of the time in it, because the whole browser also draws what nobody
/// sees.
const HEADLESS_SHELL: &str = "chromium-headless-shell";

/// Where Chromium is searched for, in this order; the variable `CHROMIUM` overrides it.
const BROWSERS: &[&str] = &[
    HEADLESS_SHELL,
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/// Adds the compiler target of the WASM client if it is missing.
pub(crate) fn ensure_wasm_target(shell: &Shell) -> Result<()> {
    let sysroot = cmd!(shell, "rustc --print sysroot").quiet().read()?;
    if PathBuf::from(sysroot).join("lib/rustlib/wasm32-unknown-unknown/lib").exists() {
        return Ok(());
    }
    step("add the wasm target", || {
        let added = cmd!(shell, "rustup target add wasm32-unknown-unknown").run();
        added.context("rustup could not add the target wasm32-unknown-unknown; get rustup from https://rustup.rs")
    })
}

/// Adds the formatter and the linter if they are missing.
pub(crate) fn ensure_rust_components(shell: &Shell) -> Result<()> {
    let is_there =
        |command: &str| cargo(shell).args([command, "--version"]).quiet().ignore_stdout().ignore_stderr().run();
    if is_there("fmt").and_then(|()| is_there("clippy")).is_ok() {
        return Ok(());
    }
    step("add rustfmt and clippy", || {
        let added = cmd!(shell, "rustup component add rustfmt clippy").run();
        added.context("rustup could not add rustfmt and clippy; get rustup from https://rustup.rs")
    })
}

/// Returns the path of Chromium, which is installed if it is missing and this machine allows it.
pub(crate) fn find_or_install_chromium(shell: &Shell) -> Result<PathBuf> {
    const FONTS: &str = "fonts-dejavu-core";
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Ok(named.into());
    }
    let find = || BROWSERS.iter().find_map(|name| find_program(name));
    if find_program(HEADLESS_SHELL).is_none() && can_install(shell) {
        let installed = step("install Chromium", || install(shell, &[HEADLESS_SHELL, FONTS]));
        // Not every system with such packages has this one.
        if installed.is_err() && find().is_none() {
            install(shell, &["chromium", FONTS])?;
        }
    }
    find().context(
        "Chromium was not found; install it (Debian: `apt-get install chromium-headless-shell fonts-dejavu-core`), or set \
         CHROMIUM to its path",
    )
}

/// A browser besides Chromium, in which the main journeys run as well.
pub(crate) struct OtherBrowser {
    /// Its name for people.
    pub(crate) name: &'static str,
    /// The variable with the path of the program, which overrides where it is searched for.
    pub(crate) variable: &'static str,
    /// The program that the journeys start.
    programs: &'static [&'static str],
    /// The other programs that it needs in `PATH`.
    needs: &'static [&'static str],
    /// The packages of Debian.
    packages: &'static [&'static str],
}

/// The browsers besides Chromium.
pub(crate) static OTHER_BROWSERS: [OtherBrowser; 2] = [
    OtherBrowser {
        name: "Firefox",
        variable: "FIREFOX",
        programs: &["firefox-esr", "firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"],
        needs: &[],
        packages: &["firefox-esr"],
    },
    OtherBrowser {
        name: "WebKit",
        variable: "WEBKIT_DRIVER",
        programs: &["WebKitWebDriver"],
        needs: &["Xvfb"],
        packages: &["webkit2gtk-driver", "xvfb"],
    },
];

/// Returns the path of a browser besides Chromium, or nothing where it is missing, which is told in the end. Where `CI` is
/// set it is installed if this machine allows it.
pub(crate) fn find_or_install_other(shell: &Shell, browser: &OtherBrowser) -> Option<PathBuf> {
    let OtherBrowser { name, variable, programs, needs, packages } = browser;
    if let Some(named) = std::env::var_os(variable) {
        return Some(named.into());
    }
    let find = || {
        let has_needs = needs.iter().all(|need| find_program(need).is_some());
        if has_needs { programs.iter().find_map(|program| find_program(program)) } else { None }
    };
    let found = find();
    let is_wanted = std::env::var_os("CI").is_some() && can_install(shell);
    if found.is_some() || !is_wanted {
        return found.or_else(|| skip_browser(browser, "it was not found"));
    }
    match step(&format!("install {name}"), || install(shell, packages)) {
        Ok(()) => find().or_else(|| skip_browser(browser, "it was installed but was not found")),
        Err(error) => skip_browser(browser, &format!("it cannot be installed: {error:#}")),
    }
}

/// Says that the journeys do not run in a browser.
fn skip_browser(browser: &OtherBrowser, reason: &str) -> Option<PathBuf> {
    let OtherBrowser { name, variable, packages, .. } = browser;
    notice(format!(
        "SKIPPED, NOT TESTED: the main journeys in {name}: {reason} (Debian: `apt-get install {}`, or set {variable} to the \
         path of its program)",
        packages.join(" ")
    ));
    None
}

/// Installs the PostgreSQL programs if they are missing and this machine allows it. The tests start
/// their own servers.
pub(crate) fn ensure_postgres(shell: &Shell) -> Result<()> {
    if has_postgres(shell) {
        return Ok(());
    }
    if !can_install(shell) {
        bail!(
            "PostgreSQL was not found; install it (Debian: `apt-get install postgresql`; macOS: `brew install postgresql`), or add \
             the folder of its programs, with `initdb`, to PATH. The tests start their own servers; none needs to be running"
        );
    }
    step("install PostgreSQL", || install(shell, &["postgresql"]))?;
    if has_postgres(shell) { Ok(()) } else { bail!("PostgreSQL was installed but was not found") }
}

/// Installs bubblewrap if it is missing and this machine allows it, for the tests of sandboxes. Without it, or where it
/// may not make namespaces, they are skipped and say so.
pub(crate) fn ensure_bubblewrap(shell: &Shell) -> Result<()> {
    if find_program("bwrap").is_some() {
        warn_without_namespaces(shell);
        return Ok(());
    }
    if !cfg!(target_os = "linux") || !can_install(shell) {
        notice(
            "SKIPPED, NOT TESTED: bubblewrap was not found, so the tests of sandboxes are skipped (Debian: `apt-get install \
             bubblewrap`)"
                .to_owned(),
        );
        return Ok(());
    }
    step("install bubblewrap", || install(shell, &["bubblewrap"]))?;
    warn_without_namespaces(shell);
    Ok(())
}

/// Says it if the tests of sandboxes will be skipped because this machine forbids namespaces.
fn warn_without_namespaces(shell: &Shell) {
    let made = cmd!(shell, "bwrap --unshare-user --unshare-pid --unshare-net --ro-bind / / --proc /proc true");
    if let Err(error) = made.quiet().ignore_stdout().run() {
        notice(format!(
            "SKIPPED, NOT TESTED: bubblewrap can make no namespaces here, so the tests of sandboxes are skipped: {error}"
        ));
    }
}

/// Returns whether the PostgreSQL programs are installed. Debian keeps those of each version in a
/// folder that is not in `PATH`.
fn has_postgres(shell: &Shell) -> bool {
    let versions = shell.read_dir("/usr/lib/postgresql").unwrap_or_default();
    find_program("initdb").is_some() || versions.iter().any(|version| version.join("bin/initdb").is_file())
}

/// Returns whether packages can be installed: on Debian, as root.
fn can_install(shell: &Shell) -> bool {
    let is_root = cmd!(shell, "id -u").quiet().ignore_stderr().read().is_ok_and(|id| id == "0");
    is_root && find_program("apt-get").is_some()
}

fn install(shell: &Shell, packages: &[&str]) -> Result<()> {
    let _front = shell.push_env("DEBIAN_FRONTEND", "noninteractive");
    cmd!(shell, "apt-get update -qq").run()?;
    Ok(cmd!(shell, "apt-get install -y -qq --no-install-recommends {packages...}").ignore_stdout().run()?)
}

/// Installs the npm packages of the browser tests.
pub(crate) fn ensure_npm_packages(shell: &Shell) -> Result<()> {
    ensure_npm_folder(shell, "end2end", "install the npm packages of the browser tests")
}

/// Installs the npm packages with which the TypeScript client is built and tested.
pub(crate) fn ensure_client_packages(shell: &Shell) -> Result<()> {
    ensure_npm_folder(shell, "clients/typescript", "install the npm packages of the clients")
}

/// Installs wasm-opt, which release builds of the site need.
pub(crate) fn ensure_wasm_opt(shell: &Shell) -> Result<()> {
    ensure_npm_folder(shell, "xtask/npm", "install wasm-opt")
}

/// Fails if npm is not installed, with an error that says where to get it.
pub(crate) fn ensure_npm() -> Result<()> {
    if find_program("npm").is_none() {
        bail!("npm was not found; it comes with Node 20 or later, from https://nodejs.org");
    }
    Ok(())
}

/// Installs the npm packages of a folder, unless the installed ones match its lock file.
fn ensure_npm_folder(shell: &Shell, folder: &str, name: &str) -> Result<()> {
    ensure_npm()?;
    let lock = shell.read_file(format!("{folder}/package-lock.json"))?;
    let stamp = format!("{folder}/node_modules/.installed");
    if shell.read_file(&stamp).is_ok_and(|known| known == lock) {
        return Ok(());
    }
    step(name, || {
        let _folder = shell.push_dir(folder);
        // Playwright uses the Chromium of the system.
        let _skip = shell.push_env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
        Ok(cmd!(shell, "npm ci").run()?)
    })?;
    Ok(shell.write_file(stamp, lock)?)
}

/// Installs packages in a virtual environment, for the tests with an MCP server and mail servers in Python and with clients
/// of OpenAI's API and of A2A, and for the client for Python. Python's `venv` is installed if it is missing and this machine
/// allows it. Without it, these tests are skipped, which nextest does not show of tests that pass.
pub(crate) fn ensure_python_packages(shell: &Shell) -> Result<()> {
    const PACKAGES: &str = "mcp==2.3.0 openai==3.57.0 langchain-openai==1.7.4 a2a-sdk==1.3.0 httpx==0.28.1 build==1.6.1 \
                            hatchling==1.33.0 mypy==2.4.1 pymap==0.36.7 aiosmtpd==1.4.6";
    let stamp = "target/python/.installed";
    if shell.read_file(stamp).is_ok_and(|known| known == PACKAGES) {
        return Ok(());
    }
    let is_there =
        || cmd!(shell, "python3 -c 'import venv, ensurepip'").quiet().ignore_stdout().ignore_stderr().run().is_ok();
    if !is_there() && can_install(shell) {
        step("install Python", || install(shell, &["python3", "python3-venv"]))?;
    }
    if !is_there() {
        notice(
            "SKIPPED, NOT TESTED: Python 3 with venv was not found, so the tests with mail servers and packages of Python are \
             skipped (Debian: `apt-get install python3-venv`)"
                .to_owned(),
        );
        return Ok(());
    }
    step("install the Python packages of tests", || {
        cmd!(shell, "python3 -m venv target/python").run()?;
        let packages = PACKAGES.split(' ');
        Ok(cmd!(shell, "target/python/bin/pip install --quiet --disable-pip-version-check {packages...}").run()?)
    })?;
    Ok(shell.write_file(stamp, PACKAGES)?)
}

/// Returns whether nextest is installed; `cargo test` is the slower alternative.
pub(crate) fn has_nextest(shell: &Shell) -> bool {
    cargo(shell).args(["nextest", "--version"]).quiet().ignore_stdout().ignore_stderr().run().is_ok()
}

/// Finds a program by its name in the folders of `PATH`, or by its path.
fn find_program(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}
