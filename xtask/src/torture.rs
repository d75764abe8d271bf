//! `cargo xtask torture`

use crate::cargo::cargo;
use crate::fuzz::{self, Fuzzed};
use crate::step::step;
use anyhow::Result;
use xshell::{Shell, cmd};

/// Builds the server with the faults of `crates/faults` and lets `torture` have it; `arguments` go to that, and what came of `fuzz` seconds of
/// each target, if they are asked for.
pub(crate) fn run(shell: &Shell, release: bool, fuzz: Option<u32>, arguments: &[String]) -> Result<()> {
    let fuzzed = fuzz.map(|seconds| fuzzed(shell, seconds)).transpose()?.unwrap_or_default();
    let arguments = [&fuzzed[..], arguments].concat();
    let (profile, option) = if release { ("release", Some("--release")) } else { ("debug", None) };
    step("build the server with faults", || {
        let build = cargo(shell).args(["build", "--package", "app", "--package", "server"]);
        Ok(build.args(["--features", "app/ssr,server/faults"]).args(option).run()?)
    })?;
    // Whatever is built next under the same name is the product again.
    let binary = format!("target/torture/{profile}/chatwright");
    shell.create_dir(format!("target/torture/{profile}"))?;
    shell.copy_file(format!("target/{profile}/chatwright"), &binary)?;
    step("build what tortures it", || Ok(cargo(shell).args(["build", "--package", "torture"]).args(option).run()?))?;
    step("torture", || Ok(cmd!(shell, "target/{profile}/torture --binary {binary} {arguments...}").run()?))
}

/// What came of each target, in the words of `torture`.
fn fuzzed(shell: &Shell, seconds: u32) -> Result<Vec<String>> {
    let words = |one: Fuzzed| {
        let how = one.fell.map(|how| format!(" {how}")).unwrap_or_default();
        format!("--fuzzed={} {seconds} {}{how}", one.target, one.runs)
    };
    Ok(fuzz::all(shell, seconds, None)?.into_iter().map(words).collect())
}
