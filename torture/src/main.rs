#![doc = include_str!("../README.md")]

mod accounts;
mod checker;
mod client;
mod history;
mod ledger;
mod measure;
mod peer;
mod provider;
mod proxy;
mod random;
mod record;
mod scenario;
mod scenarios;
mod scorecard;
mod server;
mod stored;

use anyhow::{Result, bail, ensure};
use clap::Parser;
use record::{Found, Fuzzed, Line, Record};
use scenario::{Given, Outcome, Scenario, Tier};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// What to do.
#[derive(Parser)]
struct Arguments {
    /// The binary, built with `--features faults`.
    #[arg(long, default_value = "target/torture/debug/chatwright")]
    binary: PathBuf,
    /// 1: what a merge needs; 2: ten times the kills, and the broken builds.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    tier: u8,
    /// Decides the schedules; the time when it is left out.
    #[arg(long)]
    seed: Option<u64>,
    /// One scenario, or several; the record and the scorecard keep what they have of the others.
    #[arg(long)]
    only: Vec<String>,
    /// How long scenarios hold on that do so for a while; the longest of them, `soak`, an hour at tier 2 without it.
    #[arg(long)]
    seconds: Option<u64>,
    /// What came of a target that was fuzzed: `TARGET SECONDS RUNS`, and behind it how it fell over, if it did.
    #[arg(long)]
    fuzzed: Vec<String>,
    /// Only make the page anew, out of the rows and what the last runs found.
    #[arg(long)]
    page: bool,
    /// Be the MCP server of the world in this folder instead: see `peer.rs`.
    #[arg(long, hide = true)]
    peer: Option<PathBuf>,
    /// The repository's root, where `docs/scorecard.md` is.
    #[arg(long, default_value = ".")]
    root: PathBuf,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without the trace that `RUST_BACKTRACE` would add.
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<()> {
    if arguments.peer.is_some() {
        return peer::serve();
    }
    // An error only says that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let tier = if arguments.tier == 1 { Tier::One } else { Tier::Two };
    let seed = arguments.seed.unwrap_or_else(|| record::now().cast_unsigned());
    let folder = arguments.root.join("target/torture");
    std::fs::create_dir_all(&folder)?;
    let given = Given { binary: arguments.binary, seed, tier, folder, broken: None, seconds: arguments.seconds };
    let mut record = Record::load(&arguments.root)?;
    for fuzzed in &arguments.fuzzed {
        let (target, fuzzed) = Fuzzed::read(fuzzed)?;
        record.fuzz.insert(target, fuzzed);
    }
    record.save(&arguments.root)?;
    if arguments.page {
        return write_page(&arguments.root, &record);
    }
    let is_wanted = |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    let wanted: Vec<_> = scenarios::ALL.iter().filter(|scenario| is_wanted(scenario.name)).collect();
    ensure!(!wanted.is_empty(), "there is no such scenario; there are: {}", names());
    println!("seed {seed}, tier {}", arguments.tier);
    for scenario in wanted {
        record.enter(torture(scenario, &given).await, arguments.tier);
        record.save(&arguments.root)?;
    }
    if tier == Tier::Two {
        for (broken, name) in scenarios::BROKEN.iter().filter(|(_, name)| is_wanted(name)) {
            let found = find(*broken, name, &given).await?;
            println!("  {:<22} {}", broken.name(), found.shown());
            record.broken.insert(broken.name().to_owned(), found);
        }
        record.save(&arguments.root)?;
    }
    write_page(&arguments.root, &record)?;
    match record.violations() {
        0 => Ok(()),
        count => bail!("{count} violations; see {}", Path::new(scorecard::PAGE).display()),
    }
}

fn write_page(root: &Path, record: &Record) -> Result<()> {
    let rows = scorecard::rows(root)?;
    std::fs::write(root.join(scorecard::PAGE), scorecard::page(&rows, record))?;
    let readme = root.join("README.md");
    std::fs::write(&readme, scorecard::with_summary(&std::fs::read_to_string(&readme)?, &rows, record)?)?;
    println!("\n{}", scorecard::summary(&rows, record));
    Ok(())
}

fn names() -> String {
    scenarios::ALL.iter().map(|scenario| scenario.name).collect::<Vec<_>>().join(", ")
}

/// Runs a scenario. One that breaks off is a violation, too: nothing was shown.
async fn torture(scenario: &Scenario, given: &Given) -> Line {
    let begun = Instant::now();
    let outcome = (scenario.run)(given).await;
    let outcome = outcome.unwrap_or_else(|error| Outcome {
        injected: 1,
        violations: vec![format!("it broke off: {error:#}")],
        ..Outcome::default()
    });
    let line = Line::of(scenario.name, given.seed, begun.elapsed(), outcome);
    println!("  {:<16} {}", line.name, line.shown());
    for wrong in line.outcome.violations.iter().take(8) {
        println!("      {wrong}");
    }
    line
}

/// Whether a scenario finds a defect that is built in.
async fn find(broken: faults::Break, name: &str, given: &Given) -> Result<Found> {
    let Some(scenario) = scenarios::ALL.iter().find(|scenario| scenario.name == name) else {
        bail!("no scenario {name}")
    };
    // The schedule of a merge is enough: a check that needs more than that to find it is too weak.
    let given = Given { broken: Some(broken), tier: Tier::One, ..given.clone() };
    let outcome = (scenario.run)(&given).await;
    Ok(match outcome {
        Ok(Outcome { skipped: Some(_), .. }) => Found { scenario: name.to_owned(), by: None },
        Ok(outcome) => {
            Found { scenario: name.to_owned(), by: outcome.violations.into_iter().next().map(record::short) }
        }
        Err(error) => Found { scenario: name.to_owned(), by: Some(record::short(format!("it broke off: {error:#}"))) },
    })
}
