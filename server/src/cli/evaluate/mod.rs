//! `chatwright eval`: evaluates an agent with the cases of a dataset.

mod subject;

use super::diagnostics::error_count;
use super::fail;
use crate::capabilities::database_schema;
use crate::embedded::{Builder, Chatwright};
use config::Diagnostic;
use evaluation::{
    Baseline, Candidate, Case, Checked, Evaluation, Finished, Gate, Progress, Report, Results, ResultsText, RunError,
    RunSettings, Selection, check_writable, junit, markdown,
};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use subject::ConfigSubject;

/// The exit code if the evaluation could not be run to its end.
const INCOMPLETE: u8 = 2;
/// The most cases that failed in the output, and in a file.
const SHOWN_FAILURES: usize = 20;
const WRITTEN_FAILURES: usize = 1_000;

/// The arguments of `chatwright eval`.
#[derive(clap::Args)]
#[command(after_help = "Exit codes:\n  \
    0  every case passes; with --gate: nothing got worse than the baseline, and every case with `must` passes\n  \
    1  a case fails; with --gate: something got worse and that is no chance, more cases than --max-worse are worse,\n     \
     a case with `must` fails, or a case or a scorer of the baseline is gone or has changed\n  \
    2  the evaluation could not be run to its end: a mistake in a file, the bound of the cost, an I/O error\n\n\
    A run that was killed or ended early continues with --resume.")]
pub(crate) struct EvalArguments {
    /// The evaluation: a YAML file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Config to evaluate, in place of the one that the evaluation names. Given twice, the second is
    /// compared with the first.
    #[arg(long = "config", value_name = "PATH")]
    configs: Vec<PathBuf>,
    /// Database of the conversations; without it they are in memory. Only with one config.
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// Only the cases with these ids, separated by commas.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    cases: Vec<String>,
    /// Only the cases of this part of the dataset.
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// Only the cases with one of these tags, separated by commas.
    #[arg(long = "tag", value_name = "TAGS", value_delimiter = ',')]
    tags: Vec<String>,
    /// How often each case is evaluated.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: Option<u32>,
    /// How many cases are evaluated at the same time, at most 64.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    parallel: Option<u16>,
    /// Stop before the cost exceeds this, in US dollars.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    max_cost: Option<f64>,
    /// Keep the results in this file, as JSON Lines.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    output: Option<PathBuf>,
    /// Continue the run whose results are in this file.
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    /// Also write the results for build servers, in the format of JUnit.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Also write the report as Markdown.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Compare with this baseline; of two configs, the second is compared.
    #[arg(long, value_name = "FILE")]
    gate: Option<PathBuf>,
    /// Fail if more cases than this are worse than in the baseline, also if that may be chance.
    #[arg(long, value_name = "N", requires = "gate", conflicts_with = "update_baseline")]
    max_worse: Option<usize>,
    /// Keep the results as an experiment in the database of a server, which shows it in its console.
    #[arg(long, value_name = "URL")]
    keep: Option<String>,
    /// Store the results as the baseline of `--gate`.
    #[arg(long, requires = "gate")]
    update_baseline: bool,
}

fn dollars(text: &str) -> Result<f64, String> {
    let cost = text.parse().ok().filter(|cost: &f64| cost.is_finite() && *cost >= 0.0);
    cost.ok_or_else(|| "this is not an amount in US dollars, such as 0.5".to_owned())
}

/// Evaluates, reports, and returns the exit code that the help describes.
pub(crate) async fn run(arguments: EvalArguments) -> ExitCode {
    match evaluate(&arguments).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            fail(&message);
            ExitCode::from(INCOMPLETE)
        }
    }
}

/// The configs that are evaluated: their names, and their running agents.
struct Started {
    names: Vec<String>,
    running: Vec<Chatwright>,
}

async fn evaluate(arguments: &EvalArguments) -> Result<bool, String> {
    let (evaluation, all_cases) = Evaluation::read(&arguments.file).map_err(|problems| mistakes(&problems))?;
    let selection =
        Selection { ids: arguments.cases.clone(), split: arguments.split.clone(), tags: arguments.tags.clone() };
    let cases = selection.apply(all_cases.clone())?;
    let baseline = check_before(arguments, &evaluation, &cases)?;
    if let Some(url) = &arguments.keep {
        open_database(url).await?.close().await;
    }
    let started = start(arguments, &evaluation, &cases).await?;
    let fingerprint = fingerprint(arguments, &evaluation, &started)?;
    let finished = evaluated(arguments, &evaluation, &cases, (&started, &fingerprint)).await;
    for running in started.running {
        running.shutdown(Duration::ZERO).await;
    }
    let finished = finished?;
    let candidate = started.names.last().map(String::as_str).unwrap_or_default();
    let checked = Checked {
        evaluation: &evaluation,
        dataset: &all_cases,
        selected: &cases,
        results: &finished.results,
        config: candidate,
    };
    let gate = Gate::check(checked, baseline.as_ref(), evaluation.seed).with_max_worse(arguments.max_worse);
    let report = Report::new(&evaluation.name, &started.names, &finished, gate, evaluation.seed);
    write_reports(arguments, &report, &finished, &cases)?;
    if let Some(url) = &arguments.keep {
        keep(url, &evaluation, &started.names, (fingerprint, finished.clone())).await?;
    }
    if let Some(path) = arguments.gate.as_ref().filter(|_| arguments.update_baseline) {
        Baseline::new(&evaluation, &all_cases, &finished.results, candidate)?.write(path)?;
    }
    Ok(if arguments.gate.is_some() { report.gate.is_passed() } else { report.is_all_passed() })
}

/// Checks the evaluation as far as possible before it costs anything. Returns the baseline to compare with.
fn check_before(
    arguments: &EvalArguments,
    evaluation: &Evaluation,
    cases: &[Case],
) -> Result<Option<Baseline>, String> {
    evaluation.check_scored(cases, arguments.configs.len().max(1))?;
    arguments.junit.iter().chain(&arguments.markdown).try_for_each(|path| check_writable(path))?;
    let Some(path) = &arguments.gate else { return Ok(None) };
    if arguments.update_baseline {
        return check_writable(path).map(|()| None);
    }
    let baseline = Baseline::read(path, &evaluation.name)?;
    baseline.check_cases(cases)?;
    Ok(Some(baseline))
}

/// Prints problems, and returns the message that ends the command.
fn mistakes(problems: &[Diagnostic]) -> String {
    let _ = writeln!(stderr(), "{}", config::render(problems).trim_end());
    format!("{} mistake(s); nothing was evaluated", error_count(problems))
}

/// Starts the agents of the configs.
async fn start(arguments: &EvalArguments, evaluation: &Evaluation, cases: &[Case]) -> Result<Started, String> {
    let folder = arguments.file.parent().unwrap_or(Path::new(""));
    let configs = match (arguments.configs.as_slice(), &evaluation.config) {
        ([], Some(config)) => vec![folder.join(config)],
        ([], None) => return Err("there is no config: name one with `--config`, or in the evaluation".to_owned()),
        (configs @ ([_] | [_, _]), _) => configs.to_vec(),
        _ => return Err("at most two configs are compared".to_owned()),
    };
    if configs.len() > 1 && (configs[0] == configs[1] || arguments.database.is_some()) {
        return Err("two configs must be different ones, and cannot be evaluated in one database".to_owned());
    }
    let mut started = Started { names: Vec::new(), running: Vec::new() };
    for path in configs {
        let mut builder = Builder::from_path(&path);
        if let Some(database) = &arguments.database {
            builder = builder.database(database);
        }
        let running = builder.start().await.map_err(|error| format!("the config cannot be used\n{error}"))?;
        if running.agent(&evaluation.agent_id).is_err() {
            return Err(format!("{} has no agent `{}`", path.display(), evaluation.agent_id));
        }
        started.names.push(path.display().to_string());
        started.running.push(running);
    }
    let (first, name) = (&started.running[0], &started.names[0]);
    let required = evaluation.required(cases);
    if let Some(agent) = required.agents.iter().find(|agent| first.agent(agent).is_err()) {
        return Err(format!("{name} has no agent `{agent}`, which is to judge"));
    }
    if let Some(endpoint) = required.endpoints.iter().find(|endpoint| !first.has_endpoint(endpoint)) {
        return Err(format!("{name} has no endpoint `{endpoint}`, which is to score"));
    }
    if max_cost(arguments, evaluation).is_some() {
        check_prices(&started, &evaluation.agent_id, required.agents.into_iter()).await?;
    }
    Ok(started)
}

fn max_cost(arguments: &EvalArguments, evaluation: &Evaluation) -> Option<f64> {
    arguments.max_cost.or(evaluation.max_cost_usd)
}

/// Checks that the prices of all models are known: otherwise the bound of the cost does not hold.
async fn check_prices(started: &Started, agent_id: &str, judges: impl Iterator<Item = &str>) -> Result<(), String> {
    let asked = started.running.iter().zip(&started.names).map(|(running, name)| (running, name, agent_id));
    let judges = judges.map(|judge| (&started.running[0], &started.names[0], judge));
    for (running, name, agent) in asked.chain(judges) {
        let unpriced = running.unpriced_model(agent).await;
        if let Some(model) = unpriced.map_err(|error| format!("the agent `{agent}` cannot be used: {error}"))? {
            return Err(format!(
                "the cost is bounded, but the price of the model `{model}` of the agent `{agent}` is unknown: add it to `prices` in {name}"
            ));
        }
    }
    Ok(())
}

async fn evaluated(
    arguments: &EvalArguments,
    evaluation: &Evaluation,
    cases: &[Case],
    (started, fingerprint): (&Started, &str),
) -> Result<Finished, String> {
    let names = (evaluation.name.as_str(), started.names.as_slice());
    let file = match &arguments.resume {
        Some(path) => Results::resume(path, names, fingerprint)?,
        None => Results::create(arguments.output.as_deref(), names, fingerprint)?,
    };
    let parallel = arguments.parallel.map_or(evaluation.parallel, usize::from);
    // More would be refused: the limits of the configs hold.
    let allowed = started.running.iter().map(Chatwright::max_runs).min().unwrap_or(1);
    let settings = RunSettings {
        repeat: arguments.repeat.unwrap_or(evaluation.repeat),
        parallel: parallel.min(allowed).max(1),
        max_cost_usd: max_cost(arguments, evaluation),
    };
    let candidates: Vec<_> = started
        .names
        .iter()
        .zip(&started.running)
        .map(|(name, running)| Candidate {
            name: name.clone(),
            agent_id: None,
            subject: Arc::new(ConfigSubject { chatwright: running.clone() }),
        })
        .collect();
    let finished = evaluation::run(evaluation, cases, &candidates, file, settings, &print_progress).await;
    finished.map_err(|error| {
        let kept = arguments.resume.as_ref().or(arguments.output.as_ref());
        let kept = kept.map(|path| format!("; continue with `--resume {}`", path.display())).unwrap_or_default();
        let help = match &error {
            RunError::Cost(_) => " (`--max-cost`; `--cases`, `--split`, `--tag`)",
            RunError::Results(_) => "",
        };
        format!("{error}{help}{kept}")
    })
}

/// Keeps the results in the database of a server.
async fn keep(
    url: &str,
    evaluation: &Evaluation,
    configs: &[String],
    (fingerprint, finished): (String, Finished),
) -> Result<(), String> {
    let store = open_database(url).await?;
    let Finished { results, comparisons } = finished;
    let results = ResultsText {
        evaluation: evaluation.name.clone(),
        configs: configs.to_vec(),
        fingerprint,
        results,
        comparisons,
    };
    let kept = experiments::keep_results(&store, results, auth::LOCAL_OWNER).await;
    store.close().await;
    let id = kept.map_err(|error| not_kept(&error))?;
    let _ = writeln!(stderr(), "kept as the experiment {id}: /admin/experiments/{id}");
    Ok(())
}

async fn open_database(url: &str) -> Result<store::Store, String> {
    database_schema().open_existing(url).await.map_err(|error| not_kept(&error))
}

fn not_kept(error: &dyn std::fmt::Display) -> String {
    format!("the results cannot be kept: {error}")
}

/// Hashes the files that the results depend on: the evaluation, the dataset and the configs.
fn fingerprint(arguments: &EvalArguments, evaluation: &Evaluation, started: &Started) -> Result<String, String> {
    let folder = arguments.file.parent().unwrap_or(Path::new(""));
    let datasets = evaluation.dataset.iter().map(|file| folder.join(file));
    let configs = started.running.iter().flat_map(|running| running.files().to_vec());
    let mut all = Sha256::new();
    for path in std::iter::once(arguments.file.clone()).chain(datasets).chain(configs) {
        let mut file = Sha256::new();
        match File::open(&path).and_then(|mut opened| std::io::copy(&mut opened, &mut file)) {
            Ok(_) => all.update(file.finalize()),
            // A config may ask for a file that need not exist.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => all.update([0]),
            Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
        }
    }
    Ok(format!("{:x}", all.finalize()))
}

/// Prints the estimated cost of the cases, and each further tenth of the progress.
fn print_progress(progress: Progress) {
    // A closed standard error is no problem.
    let _ = match progress {
        Progress::Estimate(cost) if cost > 0.0 => writeln!(stderr(), "all cases will cost about ${cost:.4}"),
        Progress::Done { done, all, newly } if done * 10 / all.max(1) > (done - newly) * 10 / all.max(1) => {
            writeln!(stderr(), "{done} of {all} are evaluated")
        }
        _ => Ok(()),
    };
}

/// Prints the report, then writes it to files.
fn write_reports(
    arguments: &EvalArguments,
    report: &Report,
    finished: &Finished,
    cases: &[Case],
) -> Result<(), String> {
    let text = if arguments.json {
        serde_json::to_string_pretty(report).map_err(|error| error.to_string())? + "\n"
    } else {
        markdown(report, cases, SHOWN_FAILURES)
    };
    // The reader of a pipe may have closed it early, which is no error.
    let _ = stdout().write_all(text.as_bytes());
    let write = |path: &Path, text: String| {
        fs::write(path, text).map_err(|error| format!("{} cannot be written: {error}", path.display()))
    };
    if let Some(path) = &arguments.junit {
        let names: Vec<_> = report.configs.iter().map(|config| config.config.clone()).collect();
        let xml = junit(&report.evaluation, &names, &finished.results).map_err(|error| error.to_string())?;
        write(path, xml)?;
    }
    match &arguments.markdown {
        Some(path) => write(path, markdown(report, cases, WRITTEN_FAILURES)),
        None => Ok(()),
    }
}
