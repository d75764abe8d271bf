//! `cargo xtask build`: the browser's half, the site, the server.

use crate::step::step;
use crate::{site, tools};
use anyhow::Result;
use std::path::PathBuf;
use xshell::{Shell, cmd};

/// How to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Fast to build.
    Debug,
    /// Small and fast to run, the site inside the binary.
    Release,
}

impl Profile {
    pub(crate) fn of(release: bool) -> Self {
        if release { Self::Release } else { Self::Debug }
    }

    /// The folder under `target` that cargo uses for the browser's half.
    fn wasm_folder(self) -> &'static str {
        match self {
            Self::Debug => "wasm-debug",
            Self::Release => "wasm-release",
        }
    }
}

/// Builds everything.
pub(crate) fn run(shell: &Shell, profile: Profile) -> Result<()> {
    tools::wasm_target(shell)?;
    step("build the browser's half (frontend, wasm32)", || wasm(shell, profile))?;
    step("make the site (bindings, styles, public files)", || {
        let wasm = format!("target/wasm32-unknown-unknown/{}/frontend.wasm", profile.wasm_folder());
        site::make(shell, &PathBuf::from(wasm), profile)
    })?;
    step("build the server", || server(shell, profile))
}

fn wasm(shell: &Shell, profile: Profile) -> Result<()> {
    let folder = profile.wasm_folder();
    let flags = [r#"--cfg getrandom_backend="wasm_js""#.to_owned()]
        .into_iter()
        .chain(remap(shell, profile))
        .collect::<Vec<_>>();
    let _flags = shell.push_env("CARGO_ENCODED_RUSTFLAGS", encode(&flags));
    Ok(cmd!(shell, "cargo build --package frontend --lib --target wasm32-unknown-unknown --profile {folder}").run()?)
}

fn server(shell: &Shell, profile: Profile) -> Result<()> {
    match profile {
        Profile::Debug => Ok(cmd!(shell, "cargo build --package server").run()?),
        Profile::Release => Ok(cmd!(shell, "cargo build --package server --release --features embed").run()?),
    }
}

/// What is downloaded names no folder of the machine that built it.
fn remap(shell: &Shell, profile: Profile) -> Vec<String> {
    if profile == Profile::Debug {
        return Vec::new();
    }
    let here = shell.current_dir();
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
    let mut flags = vec![format!("--remap-path-prefix={}=.", here.display())];
    flags.extend(home.map(|home| format!("--remap-path-prefix={home}=cargo")));
    flags
}

/// Cargo's encoding: arguments, separated by 0x1f, each split at its first space like a command line would be.
fn encode(flags: &[String]) -> String {
    flags.iter().map(|flag| flag.replacen(' ', "\u{1f}", 1)).collect::<Vec<_>>().join("\u{1f}")
}
