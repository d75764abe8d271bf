//! `cargo xtask torture`: tests the server with fault injection.

use crate::cargo::{cargo, plain};
use crate::fuzz::{self, FuzzResult};
use crate::step::step;
use anyhow::Result;
use xshell::Shell;

/// Builds the server with the fault points of `crates/faults` and runs `torture` against it. `fuzz`
/// is the number of seconds for which each target is fuzzed before; the results are passed to
/// `torture` with `arguments`.
pub(crate) fn run(shell: &Shell, release: bool, fuzz: Option<u32>, arguments: &[String]) -> Result<()> {
    let fuzzed = fuzz.map(|seconds| fuzz_arguments(shell, seconds)).transpose()?.unwrap_or_default();
    let arguments = [&fuzzed[..], arguments].concat();
    let (profile, option) = if release { ("release", Some("--release")) } else { ("debug", None) };
    step("build the server with fault injection", || {
        let build = cargo(shell).args(["build", "--package", "server", "--features", "faults,full"]);
        Ok(build.args(option).run()?)
    })?;
    // A copy, because the next build replaces the file by a server without faults.
    let binary = format!("target/torture/{profile}/chatwright");
    shell.create_dir(format!("target/torture/{profile}"))?;
    shell.copy_file(format!("target/{profile}/chatwright"), &binary)?;
    step("build the torture tool", || Ok(cargo(shell).args(["build", "--package", "torture"]).args(option).run()?))?;
    step("run the torture scenarios", || {
        let torture = plain(shell, format!("target/{profile}/torture"));
        Ok(torture.args(["--binary", &binary]).args(&arguments).run()?)
    })
}

/// Fuzzes every target and returns the results as arguments of `torture`.
fn fuzz_arguments(shell: &Shell, seconds: u32) -> Result<Vec<String>> {
    let words = |one: FuzzResult| {
        let how = one.failure.map(|how| format!(" {how}")).unwrap_or_default();
        format!("--fuzzed={} {seconds} {}{how}", one.target, one.runs)
    };
    Ok(fuzz::run_targets(shell, seconds, None)?.into_iter().map(words).collect())
}
