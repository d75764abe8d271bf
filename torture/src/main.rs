#![doc = include_str!("../README.md")]

mod accounts;
mod authenticator;
mod checker;
mod client;
mod defects;
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

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use defects::Defect;
use record::{DefectResult, FuzzResult, Record, ScenarioResult};
use scenario::{Outcome, RunOptions, Scenario, Testbed, Tier};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Runs the torture scenarios and updates the record and the scorecard.
#[derive(Parser)]
struct Arguments {
    /// The server binary, built with `--features faults`.
    #[arg(long, default_value = "target/torture/debug/chatwright")]
    binary: PathBuf,
    /// 1: the checks for a merge; 2: ten times the kills, and the builds with a defect.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    tier: u8,
    /// The seed of all schedules; by default the current time.
    #[arg(long)]
    seed: Option<u64>,
    /// Runs only this scenario; can be repeated. The results of the others are kept.
    #[arg(long)]
    only: Vec<String>,
    /// Runs only the build with this defect (a patch in `torture/defects`); can be repeated.
    #[arg(long, value_name = "NAME", conflicts_with = "only")]
    defect: Vec<String>,
    /// The duration of scenarios that run for a given time. By default it depends on the tier:
    /// `soak` runs for an hour at tier 2.
    #[arg(long)]
    seconds: Option<u64>,
    /// Records the result of a fuzz target: `TARGET SECONDS RUNS`, followed by the failure, if any.
    #[arg(long)]
    fuzzed: Vec<String>,
    /// Only writes the scorecard again, from the rows and the recorded results.
    #[arg(long)]
    page: bool,
    /// Runs the MCP server of the test environment in this folder instead: see `peer.rs`.
    #[arg(long, hide = true)]
    peer: Option<PathBuf>,
    /// The root of the repository, which contains `docs/scorecard.md`.
    #[arg(long, default_value = ".")]
    root: PathBuf,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Errors are printed without the backtrace that `RUST_BACKTRACE` would add.
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<()> {
    if arguments.peer.is_some() {
        return peer::serve();
    }
    // Fails only if a crypto provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let tier = if arguments.tier == 1 { Tier::One } else { Tier::Two };
    let seed = arguments.seed.unwrap_or_else(|| record::now().cast_unsigned());
    let folder = arguments.root.join("target/torture");
    std::fs::create_dir_all(&folder)?;
    let options = RunOptions { binary: arguments.binary, seed, tier, folder, seconds: arguments.seconds };
    let mut record = Record::load(&arguments.root)?;
    let mut fuzzing_failures = 0;
    for fuzzed in &arguments.fuzzed {
        let (target, fuzzed) = FuzzResult::parse(fuzzed)?;
        fuzzing_failures += usize::from(fuzzed.fell.is_some());
        record.fuzz.insert(target, fuzzed);
    }
    record.save(&arguments.root)?;
    if arguments.page {
        return write_page(&arguments.root, &record);
    }
    let is_wanted = |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    let mut wanted: Vec<_> = scenarios::ALL.iter().filter(|scenario| is_wanted(scenario.name)).collect();
    ensure!(!wanted.is_empty(), "unknown scenario; available scenarios: {}", scenario_names());
    let mut defects = defects::load_all(&arguments.root)?;
    record.broken.retain(|name, _| defects.iter().any(|defect| defect.name == *name));
    if !arguments.defect.is_empty() {
        wanted.clear();
        defects = defects::select(defects, &arguments.defect)?;
    } else if tier == Tier::Two {
        defects.retain(|defect| is_wanted(&defect.scenario));
    } else {
        defects.clear();
    }
    println!("seed {seed}, tier {}", arguments.tier);
    // Only what was run now decides about the result: the record also has earlier runs.
    let mut violations = fuzzing_failures;
    for scenario in wanted {
        let result = run_scenario(scenario, &options).await;
        violations += result.outcome.violations.len();
        record.insert(result, arguments.tier);
        record.save(&arguments.root)?;
    }
    let mut missed = 0;
    for defect in defects {
        let binary = defects::build(&arguments.root, &defect).await?;
        let found = run_defect(&defect, &RunOptions { binary, ..options.clone() }).await?;
        println!("  {:<22} {}", defect.name, found.summary());
        missed += usize::from(found.by.is_none());
        record.broken.insert(defect.name, found);
        record.save(&arguments.root)?;
    }
    write_page(&arguments.root, &record)?;
    ensure!(missed == 0, "{missed} defects were not found");
    ensure!(violations == 0, "{violations} violations; see {}", scorecard::PAGE);
    Ok(())
}

fn write_page(root: &Path, record: &Record) -> Result<()> {
    let rows = scorecard::read_rows(root)?;
    std::fs::write(root.join(scorecard::PAGE), scorecard::render_page(&rows, record))?;
    let readme = root.join("README.md");
    std::fs::write(&readme, scorecard::replace_summary(&std::fs::read_to_string(&readme)?, &rows, record)?)?;
    println!("\n{}", scorecard::render_summary(&rows, record));
    Ok(())
}

fn scenario_names() -> String {
    scenarios::ALL.iter().map(|scenario| scenario.name).collect::<Vec<_>>().join(", ")
}

/// Runs a scenario. An error counts as a violation, since nothing was verified.
async fn run_scenario(scenario: &Scenario, options: &RunOptions) -> ScenarioResult {
    let begun = Instant::now();
    let outcome = (scenario.run)(options).await;
    let outcome = outcome.unwrap_or_else(|error| Outcome {
        injected: 1,
        violations: vec![format!("the scenario failed: {error:#}")],
        ..Outcome::default()
    });
    let line = ScenarioResult::from_outcome(scenario.name, options.seed, begun.elapsed(), outcome);
    println!("  {:<16} {}", line.name, line.summary());
    for wrong in line.outcome.violations.iter().take(8) {
        println!("      {wrong}");
    }
    line
}

/// Returns whether the scenario finds a defect in the server.
async fn run_defect(defect: &Defect, options: &RunOptions) -> Result<DefectResult> {
    let name = &defect.scenario;
    let Some(scenario) = scenarios::ALL.iter().find(|scenario| scenario.name == *name) else {
        bail!("unknown scenario {name}")
    };
    // A server that does not even start would make every scenario fail.
    let testbed = Testbed::new(options, "start").await?;
    let started = testbed.setup.start(&testbed.history).await;
    started.with_context(|| format!("the build with the defect {} does not start", defect.name))?.stop().await?;
    // Tier 1 is sufficient: a check that needs more kills to find a defect is too weak.
    let outcome = (scenario.run)(&RunOptions { tier: Tier::One, ..options.clone() }).await;
    let by = match outcome {
        Ok(Outcome { skipped: Some(_), .. }) => None,
        Ok(outcome) => outcome.violations.into_iter().next(),
        Err(error) => Some(format!("the scenario failed: {error:#}")),
    };
    Ok(DefectResult { scenario: name.clone(), by: by.map(record::truncated) })
}
