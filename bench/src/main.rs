#![doc = include_str!("../README.md")]

mod admin;
mod config;
mod conversation;
mod evaluation;
mod floor;
mod growth;
mod load;
mod page;
mod process;
mod results;
mod retrieval;
mod scale;
mod screens;
mod server;
mod shell;
mod upstream;
mod workflows;

use anyhow::{Context, Result, ensure};
use clap::{Args, Parser, Subcommand};
use results::{Build, Results, Subject, Table};
use std::path::{Path, PathBuf};

#[derive(Parser)]
#[command(about = "Measures the product from outside")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the baseline in front of this provider.
    Floor { upstream: String },
    /// Fill a database that a server has created.
    Fill { database: PathBuf, conversations: u32 },
    /// Write the config of the screens into a file.
    ScreensConfig { file: PathBuf },
    /// Fill a database that a server with that config has created.
    FillScreens { database: PathBuf },
    /// Measure something.
    Measure {
        subject: Subject,
        #[command(flatten)]
        target: Target,
        /// For `retrieval`: folders with collections whose answers are known.
        folders: Vec<PathBuf>,
        /// Measure little, to try the program out.
        #[arg(long, conflicts_with = "results")]
        small: bool,
    },
    /// Store figures that another program has measured: a JSON file with tables.
    Record {
        subject: Subject,
        #[command(flatten)]
        target: Target,
        figures: PathBuf,
    },
    /// Write docs/performance.md and docs/scaling.md again, in the repository with this root.
    Page { root: PathBuf },
    /// Print all stored figures of the repository with this root as one table.
    Table { root: PathBuf },
}

#[derive(Args)]
struct Target {
    /// The server that is measured.
    binary: PathBuf,
    /// Store the figures in this folder.
    #[arg(long, value_name = "FOLDER")]
    results: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> Result<()> {
    // Fails only if a crypto provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match Arguments::parse().command {
        Command::Floor { upstream } => floor::serve(&upstream).await,
        Command::Fill { database, conversations } => admin::fill(&database, conversations),
        Command::ScreensConfig { file } => Ok(std::fs::write(file, screens::config())?),
        Command::FillScreens { database } => screens::fill(&database),
        Command::Measure { subject, target, folders, small } => {
            let tables = measure(subject, &target.binary, &folders, small).await?;
            finish(subject, &target, tables)
        }
        Command::Record { subject, target, figures } => finish(subject, &target, read_tables(&figures)?),
        Command::Page { root } => page::write(&root),
        Command::Table { root } => {
            page::print(&page::load_all(&root.join(page::RESULTS))?);
            Ok(())
        }
    }
}

async fn measure(subject: Subject, binary: &Path, folders: &[PathBuf], is_small: bool) -> Result<Vec<Table>> {
    match subject {
        Subject::Server => server::measure(binary).await,
        Subject::Conversation => conversation::measure(binary, is_small).await,
        Subject::Workflows => workflows::measure(binary, is_small).await,
        Subject::Retrieval => retrieval::measure(binary, folders, is_small).await,
        Subject::Shell => shell::measure(binary).await,
        Subject::Evaluation => evaluation::measure(binary),
        Subject::Admin => admin::measure(binary).await,
        Subject::Scale => scale::measure(binary, is_small).await,
        Subject::Screens => screens::measure(binary, is_small).await,
        Subject::Queue | Subject::Rankings | Subject::Browser | Subject::ScreensBrowser => {
            anyhow::bail!("another program measures this: `{}`", subject.command())
        }
    }
}

fn read_tables(figures: &Path) -> Result<Vec<Table>> {
    let read = || anyhow::Ok(serde_json::from_slice(&std::fs::read(figures)?)?);
    read().with_context(|| figures.display().to_string())
}

/// Prints the figures and stores them.
///
/// # Errors
/// A release build misses a goal; the figures are stored nevertheless.
fn finish(subject: Subject, target: &Target, tables: Vec<Table>) -> Result<()> {
    let all = vec![(subject, Results::new(tables, &target.binary))];
    page::print(&all);
    for (_, results) in &all {
        if let Some(folder) = &target.results {
            results.save(folder, subject)?;
        }
        let missed = results.goals().into_iter().filter(|(_, figure, goal)| !goal.is_met(figure));
        let missed: Vec<_> = missed.map(|(name, figure, _)| format!("{name} ({})", page::shown(figure))).collect();
        ensure!(missed.is_empty() || results.build == Build::Debug, "missed goals: {}", missed.join("; "));
    }
    Ok(())
}
