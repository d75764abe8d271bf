//! `cargo xtask build`: the WASM client, the site and the server.

use crate::cargo::cargo;
use crate::step::{side_by_side, step};
use crate::{site, tools};
use anyhow::Result;
use std::path::{Path, PathBuf};
use xshell::Shell;

/// A build profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Fast to build.
    Debug,
    /// Small and fast to run, with the site embedded in the binary.
    Release,
}

impl Profile {
    pub(crate) fn from_release_flag(release: bool) -> Self {
        if release { Self::Release } else { Self::Debug }
    }

    /// Returns Cargo's profile for the WASM client. The one for development is the server's, because
    /// another one would compile all macros again.
    pub(crate) fn wasm_profile(self) -> &'static str {
        match self {
            Self::Debug => "dev",
            Self::Release => "wasm-release",
        }
    }

    /// Returns the name of that profile's output folder.
    pub(crate) fn wasm_folder(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Release => "wasm-release",
        }
    }
}

/// Where the site is built.
const SITE: &str = "target/site";

/// Builds everything as a release, whose server has the site inside.
pub(crate) fn release(shell: &Shell) -> Result<()> {
    site(shell, Profile::Release)?;
    step("build the server", || {
        let embedded = shell.current_dir().join("target/embedded-site");
        site::embedded::copy(&shell.current_dir().join(SITE), &embedded)?;
        let build = cargo(shell).args(["build", "--package", "server", "--release", "--features", "embed,full"]);
        Ok(build.env("CHATWRIGHT_SITE", embedded).run()?)
    })
}

/// Builds everything for development, the server with all features or only those that the demo needs. The site is assembled,
/// mostly on one core, while the server is compiled: the server reads the site only when it runs.
pub(crate) fn debug(shell: &Shell, is_full: bool) -> Result<()> {
    client(shell, Profile::Debug)?;
    // The server does not compile without the folder.
    shell.create_dir(SITE)?;
    let root = shell.current_dir();
    side_by_side(|| assemble(&root, Profile::Debug), || step("build the server", || debug_server(shell, is_full)))
}

fn debug_server(shell: &Shell, is_full: bool) -> Result<()> {
    let features: &[&str] = if is_full { &["--features", "full"] } else { &[] };
    Ok(cargo(shell).args(["build", "--package", "server"]).args(features).run()?)
}

/// Builds what the browser loads: the WASM client and the site. That of a release fails when the first pages are over
/// their limits.
pub(crate) fn site(shell: &Shell, profile: Profile) -> Result<()> {
    client(shell, profile)?;
    assemble(&shell.current_dir(), profile)
}

/// Builds the WASM client.
fn client(shell: &Shell, profile: Profile) -> Result<()> {
    tools::ensure_wasm_target(shell)?;
    if profile == Profile::Release {
        tools::ensure_wasm_opt(shell)?;
    }
    step("build the WASM client (frontend, wasm32)", || wasm(shell, "frontend", &[], profile))
}

/// Assembles the site from the WASM client.
fn assemble(root: &Path, profile: Profile) -> Result<()> {
    step("assemble the site (bindings, styles, public files)", || {
        site::make(root, &wasm_file("frontend", profile), SITE, profile)
    })
}

/// The examples that are programs with a site of their own: packages with the features `ssr` and
/// `hydrate`.
pub(crate) const EXAMPLES: [&str; 2] = ["rust-page", "extended"];

/// Builds an example that is a program with its own site.
pub(crate) fn example(shell: &Shell, package: &str) -> Result<()> {
    example_site(shell, package)?;
    step("build its server", || Ok(cargo(shell).args(["build", "--package", package]).run()?))
}

/// Builds what the browser loads of an example.
pub(crate) fn example_site(shell: &Shell, package: &str) -> Result<()> {
    let profile = Profile::Debug;
    step(&format!("build the WASM client of the example {package}"), || {
        wasm(shell, package, &["--no-default-features", "--features", "hydrate"], profile)
    })?;
    step("assemble its site", || {
        let wasm = wasm_file(&package.replace('-', "_"), profile);
        site::make(&shell.current_dir(), &wasm, &example_folder(package), profile)
    })
}

/// Returns the folder of an example's site, which `.cargo/config.toml` tells the example.
pub(crate) fn example_folder(package: &str) -> String {
    format!("target/{package}/site")
}

fn wasm(shell: &Shell, package: &str, features: &[&str], profile: Profile) -> Result<()> {
    let _flags = shell.push_env("CARGO_ENCODED_RUSTFLAGS", wasm_flags(shell, profile).join("\u{1f}"));
    // Line numbers in panics would be megabytes.
    let _debug = shell.push_env("CARGO_PROFILE_DEV_DEBUG", "false");
    // Artifacts for users are not built with the compiler wrapper of the tests in CI.
    let build = cargo(shell).env_remove("RUSTC_WORKSPACE_WRAPPER");
    let build = build.args(["rustc", "--package", package, "--lib"]).args(features);
    let build = build.args(["--target", "wasm32-unknown-unknown", "--profile", profile.wasm_profile()]);
    // Relocations tell which functions and data refer to each other; the WASM cannot be split
    // without them.
    Ok(build.args(["--", "-Clink-args=--emit-relocs"]).run()?)
}

/// Returns the compiler flags of the WASM client. They replace those in `.cargo/config.toml`, so
/// these are repeated. Release builds contain no paths of the build machine.
pub(crate) fn wasm_flags(shell: &Shell, profile: Profile) -> Vec<String> {
    let mut flags = vec!["--cfg".to_owned(), r#"getrandom_backend="wasm_js""#.to_owned()];
    if profile == Profile::Release {
        let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
        flags.push(format!("--remap-path-prefix={}=.", shell.current_dir().display()));
        flags.extend(home.map(|home| format!("--remap-path-prefix={home}=cargo")));
    }
    flags
}

fn wasm_file(library: &str, profile: Profile) -> PathBuf {
    PathBuf::from(format!("target/wasm32-unknown-unknown/{}/{library}.wasm", profile.wasm_folder()))
}
