//! `cargo xtask test`: formatting, lints, all Rust tests, the tests of the clients, and the journeys in the browser with
//! the site of a release, whose download sizes are checked.
//!
//! The features `ssr` and `hydrate` of `app` exclude each other, so cargo must never enable both at
//! once: the packages of the server and those of the WASM client are built by separate commands.

use crate::build::{self, Profile};
use crate::cargo::cargo;
use crate::step::{notice, side_by_side, step, summary};
use crate::{browser, clients, flaky, tools};
use anyhow::Result;
use std::path::Path;
use xshell::{Cmd, PushEnv, Shell};

/// Cargo arguments for what runs on this machine: everything except `frontend`, with all features of
/// the server.
///
/// `xtask` is tested by commands of its own. Its dependencies are compiled already, because it runs;
/// together with the others they would get more features and be compiled again, and so would what
/// they share with the server.
const SERVER_ARGUMENTS: &[&str] =
    &["--workspace", "--exclude", "frontend", "--exclude", "xtask", "--features", "server/full"];

/// Cargo arguments for this program.
const XTASK_ARGUMENTS: &[&str] = &["--package", "xtask"];

/// Cargo arguments for what runs in the browser, including the crates that it shares with the
/// server.
const CLIENT_ARGUMENTS: &[&str] = &[
    "--package",
    "frontend",
    "--package",
    "app",
    "--package",
    "wire",
    "--package",
    "sse",
    "--package",
    "operators",
    "--package",
    "rust-page",
    "--package",
    "extended",
    "--no-default-features",
    "--features",
    "app/hydrate,rust-page/hydrate,extended/hydrate",
    "--target",
    "wasm32-unknown-unknown",
];

/// Makes Clippy's compiler compile the workspace, with warnings as errors. Used where `CI` is set: it lints what it
/// compiles for the tests. `cargo clippy` reads everything a second time, also all dependencies, which takes up to nine
/// minutes on two cores. Measured with `agent` and its tests alone: 49 s of processor time instead of 62 s.
///
/// Not used on the machine of a developer: the next `cargo build` would compile the workspace again.
const LINTING_COMPILER: [(&str, &str); 2] =
    [("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"), ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings")];

/// The tests that try every variation where the others try a sample: those whose names end so.
const THOROUGH: &str = "test(/_thoroughly$/)";

/// Runs every check and test, and lists the steps in the end, also if one has failed.
pub(crate) fn run(shell: &Shell, is_thorough: bool) -> Result<()> {
    let result = run_steps(shell, is_thorough);
    summary(result.is_ok());
    result
}

fn run_steps(shell: &Shell, is_thorough: bool) -> Result<()> {
    tools::ensure_wasm_target(shell)?;
    tools::ensure_rust_components(shell)?;
    tools::find_or_install_chromium(shell)?;
    let find_other = |browser| tools::find_or_install_other(shell, browser).map(|path| (browser, path));
    let others = tools::OTHER_BROWSERS.iter().filter_map(find_other).collect::<Vec<_>>();
    tools::ensure_postgres(shell)?;
    tools::ensure_bubblewrap(shell)?;
    tools::ensure_npm()?;
    // The programs of the journeys are compiled with the tests, before the sites are built. Where the
    // path has a symbolic link, they find only a folder that exists by then.
    for site in build::EXAMPLES.map(build::example_folder).into_iter().chain(["target/site".to_owned()]) {
        shell.create_dir(site)?;
    }
    step("check the formatting", || Ok(cargo(shell).args(["fmt", "--all", "--check"]).run()?))?;
    let folder = shell.current_dir();
    side_by_side(|| prepare_journeys(&folder), || lint_and_compile(shell))?;
    let _linting_compiler = linting_compiler(shell);
    // The tests and the journeys share a server, with a database for each.
    let postgres = test_postgres::Cluster::start();
    let _shared = postgres.as_ref().map(|cluster| shell.push_env(test_postgres::SHARED, cluster.folder()));
    test(shell, is_thorough)?;
    side_by_side(|| clients::test(&shell_in(&folder)?), || test_documentation(shell))?;
    with_flaky_ones(shell, flaky::JOURNEYS_REPORT, || browser::journeys(shell, is_thorough))?;
    with_flaky_ones(shell, flaky::MAIN_JOURNEYS_REPORT, || browser::main_journeys(shell, &others))
}

/// Returns a shell for another thread.
fn shell_in(folder: &Path) -> Result<Shell> {
    let shell = Shell::new()?;
    shell.change_dir(folder);
    Ok(shell)
}

/// Installs the npm and Python packages of the tests, checks the types of the journeys and builds their site. Much of this
/// waits for the network or uses a single core, for linking and compressing the WASM client, so the tests are compiled on the
/// other cores in the meantime. The site has its own profile, so these builds do not wait for each other.
fn prepare_journeys(folder: &Path) -> Result<()> {
    let shell = shell_in(folder)?;
    // The progress bars of two builds would overwrite each other.
    shell.set_var("CARGO_TERM_PROGRESS_WHEN", "never");
    // The tests, which are most of the work, get the other cores; each compiler needs up to 2 GB of memory.
    shell.set_var("CARGO_BUILD_JOBS", "1");
    tools::ensure_npm_packages(&shell)?;
    tools::ensure_client_packages(&shell)?;
    tools::ensure_python_packages(&shell)?;
    browser::type_check(&shell)?;
    build::site(&shell, Profile::Release)
}

/// Lints everything and compiles the Rust tests.
fn lint_and_compile(shell: &Shell) -> Result<()> {
    step("lint the WASM client", || lint(shell, CLIENT_ARGUMENTS, &["--lib"]))?;
    if !is_ci() {
        step("lint the server", || lint(shell, SERVER_ARGUMENTS, &["--all-targets"]))?;
        step("lint xtask", || lint(shell, XTASK_ARGUMENTS, &["--all-targets"]))?;
    }
    let _linting_compiler = linting_compiler(shell);
    step("compile the tests", || {
        cargo(shell).args(["test", "--no-run"]).args(XTASK_ARGUMENTS).run()?;
        Ok(cargo(shell).args(["test", "--no-run"]).args(SERVER_ARGUMENTS).run()?)
    })
}

/// Where `CI` is set, makes Clippy's compiler compile the workspace until the result is dropped.
fn linting_compiler(shell: &Shell) -> Vec<PushEnv<'_>> {
    let variables: &[(&str, &str)] = if is_ci() { &LINTING_COMPILER } else { &[] };
    variables.iter().map(|(variable, value)| shell.push_env(variable, value)).collect()
}

/// Runs tests, and tells which of them passed only when they were tried again.
fn with_flaky_ones(shell: &Shell, report: &str, tests: impl FnOnce() -> Result<()>) -> Result<()> {
    shell.remove_path(report)?;
    let result = tests();
    match flaky::read(shell, report) {
        Ok(names) => names.iter().for_each(|name| notice(format!("FLAKY: {name}"))),
        Err(error) => notice(format!("which tests are flaky is not known: {error:#}")),
    }
    result
}

fn is_ci() -> bool {
    std::env::var_os("CI").is_some()
}

fn lint(shell: &Shell, half: &[&str], targets: &[&str]) -> Result<()> {
    Ok(cargo(shell).arg("clippy").args(half).args(targets).args(["--", "-D", "warnings"]).run()?)
}

/// Runs the Rust tests, with nextest if it is installed. Nextest skips documentation tests; [`test_documentation`] runs them.
fn test(shell: &Shell, is_thorough: bool) -> Result<()> {
    if !tools::has_nextest(shell) {
        return step("run the tests", || {
            cargo(shell).args(["test", "--no-fail-fast"]).args(XTASK_ARGUMENTS).run()?;
            cargo(shell).args(["test", "--no-fail-fast"]).args(SERVER_ARGUMENTS).run()?;
            if is_thorough {
                let thorough = cargo(shell).args(["test", "--no-fail-fast"]).args(SERVER_ARGUMENTS);
                thorough.args(["--", "--ignored", "_thoroughly"]).run()?;
            }
            Ok(())
        });
    }
    let run =
        |name: &str, tests: Cmd<'_>| step(name, || with_flaky_ones(shell, flaky::NEXTEST_REPORT, || Ok(tests.run()?)));
    run("run the tests of xtask", nextest(shell).args(XTASK_ARGUMENTS))?;
    run("run the tests", nextest(shell).args(SERVER_ARGUMENTS))?;
    // The other tests with a database run on SQLite and PostgreSQL in one run.
    let on_postgres = nextest(shell).env("CHATWRIGHT_TEST_STORE", "postgres").args(SERVER_ARGUMENTS);
    run("run the tests of the chat on PostgreSQL", on_postgres.args(["-E", "package(chat) & kind(test)"]))?;
    if is_thorough {
        let thorough = nextest(shell).args(SERVER_ARGUMENTS).args(["--run-ignored", "only", "-E", THOROUGH]);
        run("run the thorough tests", thorough)?;
    }
    Ok(())
}

/// Runs the documentation tests. Without nextest, `cargo test` has run them with the others.
fn test_documentation(shell: &Shell) -> Result<()> {
    if !tools::has_nextest(shell) {
        return Ok(());
    }
    step("run the documentation tests", || Ok(cargo(shell).args(["test", "--doc"]).args(SERVER_ARGUMENTS).run()?))
}

/// Returns a run of nextest with four tests at once for each core: most tests of the server wait, for
/// a disk, a timeout or another process. With two for each of two cores, both were idle for half of the time, and the
/// first 485 tests took 120 s instead of 85 s. Where `CI` is set, `.config/nextest.toml` lets tests that only wait take half
/// a place, so the places are counted in halves.
fn nextest(shell: &Shell) -> Cmd<'_> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (profile, places) = if is_ci() { ("ci", 8) } else { ("default", 4) };
    let run = cargo(shell).args(["nextest", "run", "--no-fail-fast", "--profile", profile]);
    run.arg("--test-threads").arg((places * cores).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::PROGRAMS;
    use std::collections::BTreeSet;

    /// Returns the packages with their features, as cargo would build them.
    fn packages(shell: &Shell, arguments: &[&str], edges: &str) -> BTreeSet<String> {
        let tree = cargo(shell).args(["tree", "--locked", "--prefix", "none", "--format", "{p} {f}", "--edges", edges]);
        let tree = tree.args(arguments).quiet().read().unwrap();
        // A star marks a package that was listed before.
        tree.lines().map(|line| line.trim_end_matches(" (*)").trim_end().to_owned()).collect()
    }

    /// The packages that have other features without the optional features of the server: the formats of
    /// documents with their ciphers, the emulated shell, and static embeddings, which need `dfa` of `regex-automata` and
    /// `derive` of `zerocopy`. Many crates depend on these two: who runs the tests after a build with the
    /// default features compiles those again.
    const CHANGED_BY_FEATURES: [&str; 18] = [
        "blake2",
        "byteorder",
        "cbc",
        "chrono",
        "cipher",
        "crc32fast",
        "documents",
        "flate2",
        "knowledge",
        "md-5",
        "quick-xml",
        "regex-automata",
        "server",
        "sha1",
        "simd-adler32",
        "workspace",
        "zerocopy",
        "zip",
    ];

    /// A package that has other features in the programs than in the tests is compiled twice, and so
    /// is everything that depends on it: minutes. Then a feature that only a test asks for, found with
    /// `cargo tree --edges features --invert PACKAGE`, belongs into the workspace's `Cargo.toml`.
    #[test]
    fn programs_of_the_journeys_consist_of_what_the_tests_have_built() {
        let shell = Shell::new().unwrap();
        shell.change_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let tested = packages(&shell, SERVER_ARGUMENTS, "normal,build,dev");
        let programs = packages(&shell, PROGRAMS, "normal,build");
        let others: Vec<_> = programs.difference(&tested).collect();
        assert!(others.is_empty(), "{others:#?}");
        // The packages of a first build, without the optional features.
        let server = packages(&shell, &["--package", "server"], "normal,build");
        let is_other = |line: &&String| !CHANGED_BY_FEATURES.contains(&line.split(' ').next().unwrap());
        let others: Vec<_> = server.difference(&tested).filter(is_other).collect();
        assert!(others.is_empty(), "{others:#?}");
    }
}
