#![doc = include_str!("../README.md")]

mod bench;
mod browser;
mod build;
mod cargo;
mod fuzz;
mod serve;
mod site;
mod step;
mod test;
mod tools;
mod torture;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::Path;
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
    /// Build the browser's half, then the server.
    Build {
        /// Optimised, with the site inside the binary.
        #[arg(long)]
        release: bool,
    },
    /// Build what the browser loads, without the server, and say how large it is.
    Site {
        /// Optimised and compressed.
        #[arg(long)]
        release: bool,
    },
    /// Build and run the server; what follows `--` goes to it.
    Serve {
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Build and run the example whose page is written in Rust; what follows `--` goes to its server.
    RustPage {
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Run every check and test, the browser's too.
    Test,
    /// Measure what a turn costs, against the floor of this machine.
    Bench {
        /// What the page costs in the browser, instead.
        #[arg(long)]
        ui: bool,
        /// The console's lists over 100,000 conversations and 2,000,000 messages, instead.
        #[arg(long, conflicts_with = "ui")]
        admin: bool,
    },
    /// Kill, starve and attack the server, look for what must never be, and write docs/scorecard.md; what follows goes to `torture`.
    Torture {
        /// The optimised build, for the figures under load.
        #[arg(long)]
        release: bool,
        /// Fuzz each target for so many seconds before that.
        #[arg(long, value_name = "SECONDS")]
        fuzz: Option<u32>,
        /// `--tier 1|2`, `--seed N`, `--only SCENARIO`, `--seconds N`, `--page`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Give any bytes to what reads bytes of strangers; installs cargo-fuzz.
    Fuzz {
        /// For each target.
        #[arg(long, default_value_t = 60)]
        seconds: u32,
        /// This one alone.
        target: Option<String>,
    },
    /// Take the pictures of the README and of every state of the demo.
    Screenshots,
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without the trace that `RUST_BACKTRACE` would add: the causes say which step it was, and why.
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    let shell = Shell::new()?;
    // Cargo runs this from anywhere in the workspace; the steps begin at its root.
    shell.change_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?);
    match command {
        Command::Build { release } => build::run(&shell, build::Profile::of(release)),
        Command::Site { release } => build::site(&shell, build::Profile::of(release)),
        Command::Serve { arguments } => serve::run(&shell, &arguments),
        Command::RustPage { arguments } => serve::rust_page(&shell, &arguments),
        Command::Test => test::run(&shell),
        Command::Bench { ui: true, .. } => bench::page(&shell),
        Command::Bench { admin: true, .. } => bench::admin(&shell),
        Command::Bench { .. } => bench::run(&shell),
        Command::Torture { release, fuzz, arguments } => torture::run(&shell, release, fuzz, &arguments),
        Command::Fuzz { seconds, target } => fuzz::run(&shell, seconds, target.as_deref()),
        Command::Screenshots => browser::screenshots(&shell),
    }
}
