//! `chatwright replay`: replays recorded runs and reports what differs.

use super::diagnostics::valid_or_printed;
use super::provider_reply::ProviderReplyArguments;
use super::replayed_dataset::{Source, check_file};
use super::{ConfigArgument, DatabaseArgument, fail};
use crate::Site;
use crate::capabilities::database_schema;
use crate::compose::{self, LoadSummary, ReplayedConfig};
use crate::telemetry::logs::is_coloured;
use anyhow::Context;
use clap::ValueEnum;
use recordings::NewReplay;
use recordings::format::{AnyFile, Entry, Recording};
use recordings::replay::{Options, Replayed, Replies, ToolMode, replay};
use recordings::report::{
    Comparison, DatasetReport, Finding, JsonReport, Kind, RecordedCase, Style, compare, imported_turn, junit,
    mark_unstable, terminal,
};
use std::collections::BTreeSet;
use std::io::{IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

/// The arguments of `chatwright replay`.
#[derive(clap::Args)]
pub(crate) struct ReplayArguments {
    /// Id of a recorded run or conversation, a file of `chatwright run export` or `chatwright run import`, the
    /// streamed reply of a model provider, or a dataset of the database, whose cases were kept from recorded conversations.
    #[arg(value_name = "RUN|FILE|DATASET")]
    run: String,
    #[command(flatten)]
    config: ConfigArgument,
    /// Another config to compare with: a YAML file, or a folder with `chatwright.yaml`.
    #[arg(long, value_name = "PATH")]
    against: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseArgument,
    #[command(flatten)]
    provider: ProviderReplyArguments,
    /// Another model of the agent's connection.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Source of the replies to model requests. Default: `recorded`, and with `--against` or `--model` `auto`.
    #[arg(long, value_enum)]
    replies: Option<RepliesArgument>,
    /// Source of the results of tool calls.
    #[arg(long, value_enum, default_value_t)]
    tools: ToolsArgument,
    /// Tools that run with `--tools live`, with all effects that they have. No other tool runs.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    allow_effects: Vec<String>,
    /// The request to the agent's model with which the replay begins.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    from_step: u32,
    /// Number of replays of the recorded config with live models before the comparison. Differences in them count as
    /// unstable.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=100))]
    repeat: u32,
    /// Fail if there is such a difference that is not unstable.
    #[arg(long, value_enum, value_name = "KIND", value_delimiter = ',')]
    fail_on: Vec<FailOn>,
    /// Store the replay with its recording in the database, so that the console shows it. Only for runs of a database.
    #[arg(long)]
    keep: bool,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    /// Also write the report as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// The source of replies to requests to models.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RepliesArgument {
    /// The recording for equal requests, otherwise the model.
    Auto,
    /// The recording; other requests fail.
    Recorded,
    /// The model.
    Live,
}

/// Source of the results of tool calls.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum ToolsArgument {
    /// The recording; for other calls the model gets the note that they have no result.
    #[default]
    Recorded,
    /// The recording; another call ends the replay.
    Stop,
    /// The recording; the agent's model makes up the results of other calls.
    Simulate,
    /// The tools that `--allow-effects` names; the recording for all others.
    Live,
}

/// Differences that fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Anything that the agent does differently.
    Divergence,
    /// The text of a reply.
    Text,
    /// The tools that are called, or their arguments.
    Tools,
    /// The result of a tool.
    Results,
    /// The model's input from the conversation.
    Messages,
    /// How a reply or the run ends.
    Ending,
    /// A step that only one of the two has.
    Steps,
    /// A request or call that the recording does not have.
    Miss,
    /// The model that is asked.
    Model,
    /// The system prompt.
    Prompt,
    /// The declarations of the tools.
    Schema,
    /// The sampling and other settings.
    Settings,
    /// A higher number of tokens.
    Tokens,
    /// A higher cost.
    Cost,
}

impl FailOn {
    fn applies_to(self, finding: &Finding) -> bool {
        let kind = match self {
            Self::Divergence => return finding.kind.is_divergence(),
            Self::Text => Kind::Text,
            Self::Tools => Kind::Tools,
            Self::Results => Kind::Results,
            Self::Messages => Kind::Messages,
            Self::Ending => Kind::Ending,
            Self::Steps => Kind::Steps,
            Self::Miss => Kind::Miss,
            Self::Model => Kind::Model,
            Self::Prompt => Kind::Prompt,
            Self::Schema => Kind::Schema,
            Self::Settings => Kind::Settings,
            Self::Tokens => Kind::Tokens,
            Self::Cost => Kind::Cost,
        };
        finding.kind == kind
    }
}

/// Replays and reports. Fails if something is found that `--fail-on` names.
pub(crate) async fn run(arguments: ReplayArguments, site: Site) -> ExitCode {
    match replay_all(&arguments, site).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => fail(&format!("{error:#}")),
    }
}

/// Returns whether nothing was found that fails.
async fn replay_all(arguments: &ReplayArguments, site: Site) -> anyhow::Result<bool> {
    let is_live = matches!(arguments.tools, ToolsArgument::Live);
    anyhow::ensure!(
        is_live || arguments.allow_effects.is_empty(),
        "`--allow-effects` needs `--tools live`: with other values of `--tools` no tool runs"
    );
    let source = read(arguments, site).await?;
    let outline = source.outline(&arguments.run).await?;
    let same_config = arguments.against.is_none() && arguments.model.is_none();
    let path = arguments.against.as_deref().or(arguments.config.path.as_deref());
    let (config, version) = build(path, arguments.model.as_deref(), &outline.agents, site).await?;
    if same_config && outline.configs.iter().any(|recorded| *recorded != version) {
        eprintln!("note: this is not the config of the recording; compare with a changed one by --against");
    }
    check_effects(&arguments.allow_effects, &config, &source).await?;
    let options = Options {
        same_config,
        replies: match arguments.replies {
            Some(RepliesArgument::Auto) => Replies::Auto,
            Some(RepliesArgument::Recorded) => Replies::Recorded,
            Some(RepliesArgument::Live) => Replies::Live,
            None if same_config => Replies::Recorded,
            None => Replies::Auto,
        },
        tools: match arguments.tools {
            ToolsArgument::Recorded => ToolMode::Recorded,
            ToolsArgument::Stop => ToolMode::Stop,
            ToolsArgument::Simulate => ToolMode::Simulate,
            ToolsArgument::Live => ToolMode::Live,
        },
        allow_effects: arguments.allow_effects.clone(),
        from_step: arguments.from_step,
    };
    let stable = match arguments.repeat {
        0 => None,
        _ => Some(build(arguments.config.path.as_deref(), None, &BTreeSet::new(), site).await?.0),
    };
    let live = Options { same_config: true, replies: Replies::Live, ..options.clone() };
    let database = arguments.keep.then(|| arguments.database.resolve(&arguments.config)).transpose()?;
    let (mut comparisons, mut turns, mut cases) = (Vec::new(), Vec::new(), Vec::new());
    for batch in 0..source.batches() {
        let recorded = source.batch(batch).await?;
        for recording in recorded.iter() {
            let repetitions = repetitions(recording, stable.as_ref(), (arguments.repeat, &live)).await?;
            let (mut comparison, replayed) = compared(recording, &config, &options).await?;
            mark_unstable(&mut comparison, &repetitions);
            comparisons.push(comparison);
            turns.push(imported_turn(recording));
            if let Some(database) = &database {
                keep(arguments, database, replayed).await?;
            }
        }
        let runs = || recorded.iter().map(|recording| recording.header.run_id.clone()).collect();
        cases.extend(source.case(batch).map(|case| RecordedCase { case: case.to_owned(), runs: runs() }));
    }
    report(arguments, (&turns, &cases), &comparisons)
}

/// Finds the recordings of a file or of the database. For the reply of a provider, the agent of the config makes one.
async fn read(arguments: &ReplayArguments, site: Site) -> anyhow::Result<Source> {
    let path = Path::new(&arguments.run);
    if path.is_file() {
        check_file(path)?;
        let recordings = match arguments.provider.read(path)? {
            AnyFile::Recordings(recordings) => recordings,
            AnyFile::Reply(reply) => {
                let (config, version) = build(arguments.config.path.as_deref(), None, &BTreeSet::new(), site).await?;
                vec![arguments.provider.record(&reply, &config, &version).await?]
            }
        };
        return Ok(Source::Loaded(recordings));
    }
    let is_data = path.extension().is_some_and(|ending| ending == "jsonl" || ending == "csv");
    anyhow::ensure!(
        !is_data && path.components().count() == 1,
        "there is no file `{}`, and no recorded run has such an id",
        arguments.run
    );
    let database = arguments.database.resolve(&arguments.config)?;
    let store = database_schema().open_existing(&database).await?;
    let run = &arguments.run;
    let found = match recordings::find(&store, run).await? {
        none if none.is_empty() => Source::find_dataset(&store, database, run).await?,
        found => Some(Source::Loaded(found)),
    };
    store.close().await;
    found.with_context(|| {
        format!("`{run}` is neither a file nor a recorded run, nor a dataset with cases; `chatwright run list` lists the runs")
    })
}

/// Checks the names of tools that are to run: a misspelt one would run nothing without a word.
async fn check_effects(names: &[String], config: &ReplayedConfig, source: &Source) -> anyhow::Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let mut known = BTreeSet::new();
    for batch in 0..source.batches() {
        for recording in source.batch(batch).await?.iter() {
            known.extend(tools_of(recording));
            let scope = recording.turn().map(|turn| turn.scope.clone()).unwrap_or_default();
            let agent = config.agent(&recording.header, scope).await?;
            known.extend(agent.tools.iter().map(|tool| tool.spec().name.clone()));
            if !agent.sources.is_empty() || !agent.agents.is_empty() {
                // Which tools those have is known when they are asked.
                return Ok(());
            }
        }
    }
    for name in names {
        let tools: Vec<_> = known.iter().map(String::as_str).collect();
        anyhow::ensure!(
            known.contains(name),
            "`--allow-effects`: neither the agent nor the recording has a tool `{name}`; there are: {}",
            tools.join(", ")
        );
    }
    Ok(())
}

/// Returns the names of the tools that a recording declares.
fn tools_of(recording: &Recording) -> BTreeSet<String> {
    let requests = recording.entries.iter().filter_map(|entry| match entry {
        Entry::Request { request, .. } => Some(recording.blob(&request.tools)),
        _ => None,
    });
    let tools = requests.filter_map(serde_json::Value::as_array).flatten();
    tools.filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect()
}

/// Builds the agents of a config; returns them with the config's hash. `model` replaces the model of the agents with these
/// ids.
pub(super) async fn build(
    path: Option<&Path>,
    model: Option<&str>,
    agent_ids: &BTreeSet<String>,
    site: Site,
) -> anyhow::Result<(ReplayedConfig, String)> {
    let reading = compose::load_config(path);
    let summary = LoadSummary::from_attempt(&reading);
    let (mut config, _) = valid_or_printed(reading.outcome)?;
    let version = format!("{:016x}", config.fingerprint);
    for id in agent_ids {
        if let (Some(agent), Some(model)) = (config.agents.get_mut(id), model) {
            agent.model = model.to_owned();
        }
    }
    Ok((ReplayedConfig::build(config, summary, site).await?, version))
}

async fn compared(
    recording: &Recording,
    config: &ReplayedConfig,
    options: &Options,
) -> anyhow::Result<(Comparison, Replayed)> {
    let scope = recording.turn().map(|turn| turn.scope.clone()).unwrap_or_default();
    let agent = config.agent(&recording.header, scope).await?;
    let replayed = replay(recording, &agent, options, CancellationToken::new()).await?;
    Ok((compare(recording, &replayed.recording, &replayed.misses, options.from_step), replayed))
}

/// Keeps a replay with its recording. The database is open only now, since a server may use it meanwhile.
async fn keep(arguments: &ReplayArguments, database: &str, replayed: Replayed) -> anyhow::Result<()> {
    let path = arguments.against.as_deref().or(arguments.config.path.as_deref());
    let config = path.map_or_else(|| "the demo".to_owned(), |path| path.display().to_string());
    let model = arguments.model.as_ref().map(|model| format!(", model {model}")).unwrap_or_default();
    let (label, created_by) = (format!("{config}{model}"), auth::LOCAL_OWNER.to_owned());
    let replay = NewReplay { label, created_by, from_step: arguments.from_step, replayed };
    let store = database_schema().open_existing(database).await?;
    let kept = recordings::keep_replay(&store, replay, None).await;
    store.close().await;
    anyhow::ensure!(
        kept?.is_some(),
        "the replay is not kept: its recording is not in this database, or it is too large"
    );
    Ok(())
}

/// Replays with the recorded config, if it is given, and live models, to learn what differs without a change.
async fn repetitions(
    recording: &Recording,
    config: Option<&ReplayedConfig>,
    (times, options): (u32, &Options),
) -> anyhow::Result<Vec<Comparison>> {
    let Some(config) = config else { return Ok(Vec::new()) };
    let mut repetitions = Vec::new();
    for _ in 0..times {
        repetitions.push(compared(recording, config, options).await?.0);
    }
    Ok(repetitions)
}

/// Prints and writes the report; returns whether nothing was found that fails.
fn report(
    arguments: &ReplayArguments,
    (turns, cases): (&[Option<String>], &[RecordedCase]),
    comparisons: &[Comparison],
) -> anyhow::Result<bool> {
    let dataset = (!cases.is_empty()).then(|| DatasetReport::new(cases, comparisons));
    let fails =
        |finding: &Finding| !finding.unstable && arguments.fail_on.iter().any(|fail_on| fail_on.applies_to(finding));
    let passed = !comparisons.iter().flat_map(Comparison::findings).any(fails);
    if let Some(path) = &arguments.junit {
        std::fs::write(path, junit(comparisons, &fails)).with_context(|| path.display().to_string())?;
    }
    let text = if arguments.json {
        let report = JsonReport { dataset: dataset.as_ref(), ..JsonReport::new(comparisons, passed) };
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        let has_colours = is_coloured(stdout().is_terminal(), std::env::var_os("NO_COLOR").as_deref());
        let style = if has_colours { Style::Colour } else { Style::Plain };
        let turn = |turn: &Option<String>| turn.as_ref().map(|turn| format!("{turn}\n")).unwrap_or_default();
        let reports = turns.iter().zip(comparisons);
        let reports = reports.map(|(imported, comparison)| turn(imported) + &terminal(comparison, style));
        let totals = dataset.map(|dataset| format!("\n{}", dataset.in_words())).unwrap_or_default();
        reports.collect::<Vec<_>>().join("\n") + &totals
    };
    // The reader of a pipe may have closed it early, which is no error.
    let _ = stdout().write_all(text.as_bytes());
    Ok(passed)
}
