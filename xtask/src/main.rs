#![doc = include_str!("../README.md")]

mod bench;
mod browser;
mod build;
mod cargo;
mod clients;
mod flaky;
mod fuzz;
mod outside;
mod serve;
mod site;
mod skills;
mod step;
mod test;
mod tools;
mod torture;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use xshell::Shell;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Build, serve, test and measure Chatwright")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the WASM client, the site and the server.
    Build {
        /// Build with optimizations and all features, and embed the site in the binary.
        #[arg(long)]
        release: bool,
        /// Build the server with all features; a release always has them.
        #[arg(long)]
        full: bool,
    },
    /// Build only what the browser loads, and print its size.
    Site {
        /// Build with optimizations and compress the files.
        #[arg(long)]
        release: bool,
        /// Build the site of a program outside of this repository: the `Cargo.toml` of its package,
        /// which has the feature `hydrate`. The site is written to `target/site` beside it.
        #[arg(long, value_name = "FILE")]
        manifest_path: Option<PathBuf>,
    },
    /// Build and run the server; arguments after `--` are passed to it.
    Serve {
        /// Build and run a program outside of this repository instead: the `Cargo.toml` of its
        /// package, as for `site`.
        #[arg(long, value_name = "FILE")]
        manifest_path: Option<PathBuf>,
        /// Build the server with all features, like a release. The demo needs none of the optional ones.
        #[arg(long, conflicts_with = "manifest_path")]
        full: bool,
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Build and run the example with a page in Rust; arguments after `--` are passed to its
    /// server.
    RustPage {
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Build and run the example that adds a tool, an operator, a block, a connection and a model
    /// provider; arguments after `--` are passed to its server.
    Extended {
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Run all checks and tests, including those in the browser.
    Test {
        /// Also run the tests that try every variation where the others try a sample, and the journeys that take minutes.
        #[arg(long)]
        thorough: bool,
    },
    /// Build the packages of the clients for TypeScript and Python into `target/packages`.
    Clients {
        /// Check and test them with the server, too.
        #[arg(long)]
        test: bool,
    },
    /// Measure performance with release builds, store the figures in bench/results, and write
    /// docs/performance.md and docs/scaling.md.
    Bench {
        /// The subject of the measurement.
        #[arg(default_value = "server")]
        subject: bench::Subject,
        /// For `retrieval`: folders with collections whose answers are known (`documents.jsonl`,
        /// `queries.jsonl`, `qrels.tsv`).
        #[arg(value_name = "FOLDER")]
        folders: Vec<PathBuf>,
        /// The same as the subject `ui`.
        #[arg(long)]
        ui: bool,
        /// The same as the subject `admin`.
        #[arg(long, conflicts_with = "ui")]
        admin: bool,
        /// Measure nothing: only write these pages from the stored figures.
        #[arg(long, conflicts_with_all = ["ui", "admin"])]
        page: bool,
    },
    /// Test the server with fault injection and attacks, and write docs/scorecard.md; further
    /// arguments are passed to `torture`.
    Torture {
        /// Use the release build, for the load figures.
        #[arg(long)]
        release: bool,
        /// Before that, fuzz each target for this many seconds.
        #[arg(long, value_name = "SECONDS")]
        fuzz: Option<u32>,
        /// `--tier 1|2`, `--seed N`, `--only SCENARIO`, `--defect NAME`, `--seconds N`, `--page`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Fuzz the parsers of untrusted bytes; installs cargo-fuzz.
    Fuzz {
        /// Seconds per target.
        #[arg(long, default_value_t = 60)]
        seconds: u32,
        /// Fuzz only this target.
        target: Option<String>,
    },
    /// Read the skills of a folder with clones of public repositories, and count those that can be used.
    Skills {
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
    /// Take the screenshots of the README and of every state of the demo.
    Screenshots,
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without the backtrace that `RUST_BACKTRACE` would add: the error chain names the
            // failed step and the cause.
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    let shell = Shell::new()?;
    let caller_dir = shell.current_dir();
    // Cargo runs this from any folder of the workspace; the steps expect its root.
    shell.change_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?);
    match command {
        Command::Build { release: true, .. } => build::release(&shell),
        Command::Build { release: false, full } => build::debug(&shell, full),
        Command::Site { release, manifest_path } => {
            let profile = build::Profile::from_release_flag(release);
            match manifest_path {
                Some(manifest) => outside::site(&shell, &caller_dir.join(manifest), profile),
                None => build::site(&shell, profile),
            }
        }
        Command::Serve { manifest_path: Some(manifest), arguments, .. } => {
            outside::serve(&shell, &caller_dir.join(manifest), &arguments)
        }
        Command::Serve { manifest_path: None, full, arguments } => serve::run(&shell, full, &arguments),
        Command::RustPage { arguments } => serve::example(&shell, "rust-page", &arguments),
        Command::Extended { arguments } => serve::example(&shell, "extended", &arguments),
        Command::Test { thorough } => test::run(&shell, thorough),
        Command::Clients { test } => clients::run(&shell, test),
        Command::Bench { page: true, .. } => bench::page(&shell),
        Command::Bench { subject, folders, ui, admin, .. } => {
            let subject = match (ui, admin) {
                (true, _) => bench::Subject::Ui,
                (_, true) => bench::Subject::Admin,
                _ => subject,
            };
            let folders: Vec<_> = folders.iter().map(|folder| caller_dir.join(folder)).collect();
            bench::run(&shell, subject, &folders)
        }
        Command::Torture { release, fuzz, arguments } => torture::run(&shell, release, fuzz, &arguments),
        Command::Fuzz { seconds, target } => fuzz::run(&shell, seconds, target.as_deref()),
        Command::Skills { folder } => skills::run(&shell, &caller_dir.join(folder)),
        Command::Screenshots => browser::screenshots(&shell),
    }
}
