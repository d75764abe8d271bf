//! `cargo xtask bench`: measures performance. Figures are stored in `bench/results`, and `docs/performance.md` and
//! `docs/scaling.md` are written from them.

use crate::browser;
use crate::build;
use crate::cargo::{cargo, plain};
use crate::step::{step, summary};
use anyhow::{Result, ensure};
use clap::ValueEnum;
use std::path::PathBuf;
use xshell::Shell;

const SERVER: &str = "target/release/chatwright";
const BENCH: &str = "target/release/bench";
const RESULTS: &str = "bench/results";
/// Where the programs other than `bench` write their figures.
const FIGURES: &str = "target/bench-figures.json";

/// The subject of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subject {
    /// The cost of a turn, compared with a minimal server on the same machine.
    Server,
    /// A conversation of 2,000 turns.
    Conversation,
    /// Workflows, and the queue of background work.
    Workflows,
    /// Searches and the reading of documents.
    Retrieval,
    /// The start of scripts.
    Shell,
    /// An evaluation of 1,000 cases.
    Evaluation,
    /// The page in the browser.
    Ui,
    /// The lists of the admin console over 100,000 conversations and 2,000,000 messages.
    Admin,
    /// Every screen of a server with 50 agents, 200 users and 20,000 conversations, in the browser, too.
    Screens,
    /// One, two and three servers on one PostgreSQL.
    Scale,
    /// All of these, one after the other.
    All,
}

/// Measures a subject with release builds, and writes the pages. Of all subjects, each is measured even if another one
/// fails. `folders` have collections for `retrieval`.
pub(crate) fn run(shell: &Shell, subject: Subject, folders: &[PathBuf]) -> Result<()> {
    build::release(shell)?;
    step("build the load client", || Ok(cargo(shell).args(["build", "--package", "bench", "--release"]).run()?))?;
    let is_chosen = |one: &Subject| *one != Subject::All && (subject == Subject::All || subject == *one);
    let mut failed = Vec::new();
    for one in Subject::value_variants().iter().filter(|one| is_chosen(one)) {
        if let Err(error) = measure(shell, *one, folders) {
            failed.push(format!("{error:#}"));
        }
    }
    step("write docs/performance.md and docs/scaling.md", || Ok(plain(shell, BENCH).args(["page", "."]).run()?))?;
    if subject == Subject::All {
        plain(shell, BENCH).args(["table", "."]).run()?;
        summary(failed.is_empty());
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

/// Writes the pages from the stored figures.
pub(crate) fn page(shell: &Shell) -> Result<()> {
    let arguments = ["run", "--quiet", "--package", "bench", "--", "page", "."];
    step("write docs/performance.md and docs/scaling.md", || Ok(cargo(shell).args(arguments).run()?))
}

fn measure(shell: &Shell, subject: Subject, folders: &[PathBuf]) -> Result<()> {
    match subject {
        Subject::Server => from_outside(shell, "server", &[]),
        Subject::Conversation => from_outside(shell, "conversation", &[]),
        // The second one is measured even if the first one misses a goal.
        Subject::Workflows => {
            from_outside(shell, "workflows", &[]).and(example(shell, "queue", "jobs", "queue_bench", &[]))
        }
        Subject::Retrieval => from_outside(shell, "retrieval", folders).and(example(
            shell,
            "rankings",
            "retrieval",
            "judged_questions",
            folders,
        )),
        Subject::Shell => from_outside(shell, "shell", &[]),
        Subject::Evaluation => from_outside(shell, "evaluation", &[]),
        Subject::Ui => recorded(shell, "browser", || {
            let _binary = shell.push_env("CHATWRIGHT_BINARY", shell.current_dir().join(SERVER));
            browser::bench(shell)
        }),
        Subject::Admin => from_outside(shell, "admin", &[]),
        // The browser is measured even if the server misses a goal.
        Subject::Screens => from_outside(shell, "screens", &[]).and(recorded(shell, "screens-browser", || {
            let _binary = shell.push_env("CHATWRIGHT_BINARY", shell.current_dir().join(SERVER));
            browser::screens(shell)
        })),
        Subject::Scale => from_outside(shell, "scale", &[]),
        Subject::All => Ok(()),
    }
}

/// Measures the server with the program `bench`.
fn from_outside(shell: &Shell, subject: &str, folders: &[PathBuf]) -> Result<()> {
    let arguments = ["measure", subject, SERVER, "--results", RESULTS];
    step(&format!("measure {subject}"), || Ok(plain(shell, BENCH).args(arguments).args(folders).run()?))
}

/// Measures a crate with its example.
fn example(shell: &Shell, subject: &str, package: &str, name: &str, folders: &[PathBuf]) -> Result<()> {
    recorded(shell, subject, || {
        let arguments = ["run", "--release", "--package", package, "--example", name, "--"];
        step(&format!("measure {subject}"), || Ok(cargo(shell).args(arguments).args(folders).run()?))
    })
}

/// Runs a program that writes its figures into a file, and stores them. They are stored even if it fails, if it has
/// written some.
fn recorded(shell: &Shell, subject: &str, run: impl FnOnce() -> Result<()>) -> Result<()> {
    let file = shell.current_dir().join(FIGURES);
    shell.remove_path(&file)?;
    let _figures = shell.push_env("BENCH_FIGURES", &file);
    let measured = run();
    if file.exists() {
        plain(shell, BENCH).args(["record", subject, SERVER, FIGURES, "--results", RESULTS]).run()?;
    }
    measured
}
