//! `chatwright run`: lists, exports and imports recordings of runs.

use super::provider_reply::ProviderReplyArguments;
use super::replay::build;
use super::{ConfigArgument, DatabaseArgument, fail};
use crate::Site;
use crate::capabilities::database_schema;
use jiff::Timestamp;
use recordings::format::{AnyFile, Recording};
use recordings::report::imported_turn;
use recordings::{RecordingSummary, format};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The subcommand of `chatwright run`.
#[derive(clap::Args)]
pub(crate) struct RunArguments {
    #[command(subcommand)]
    command: RunCommand,
}

#[derive(clap::Subcommand)]
enum RunCommand {
    /// List the newest recordings, as one line each.
    List {
        #[command(flatten)]
        config: ConfigArgument,
        #[command(flatten)]
        database: DatabaseArgument,
        /// Print JSON lines.
        #[arg(long)]
        json: bool,
    },
    /// Write the recording of a run, or all of a conversation, as a file of JSON lines.
    Export {
        /// Id of the run or of the conversation.
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        config: ConfigArgument,
        #[command(flatten)]
        database: DatabaseArgument,
        /// File to write. Default: standard output.
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Create a recording from the streamed reply of a model provider: an agent of the config answers with it. No model is
    /// asked, and no tool runs.
    Import {
        /// The events of the reply, as JSON or as server-sent events.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        config: ConfigArgument,
        #[command(flatten)]
        provider: ProviderReplyArguments,
        /// File to write. Default: standard output.
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// Runs the subcommand. The server may run at the same time.
pub(crate) async fn run(arguments: RunArguments, site: Site) -> ExitCode {
    let done = match arguments.command {
        RunCommand::List { config, database, json } => list(&config, &database, json).await,
        RunCommand::Export { id, config, database, output } => export(&config, &database, &id, output.as_deref()).await,
        RunCommand::Import { file, config, provider, output } => {
            import(&file, &config, &provider, output.as_deref(), site).await
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&format!("{error:#}")),
    }
}

async fn list(config: &ConfigArgument, database: &DatabaseArgument, json: bool) -> anyhow::Result<()> {
    let store = database_schema().open_existing(&database.resolve(config)?).await?;
    let found = recordings::list(&store).await?;
    if found.is_empty() {
        eprintln!("there are no recordings; agents with `record: on` make them");
    }
    // The reader of a pipe may have closed it early, which is no error.
    let _ = print(&found, json);
    Ok(())
}

fn print(found: &[RecordingSummary], json: bool) -> std::io::Result<()> {
    let mut out = BufWriter::new(stdout().lock());
    for summary in found {
        if json {
            writeln!(out, "{}", serde_json::to_string(summary)?)?;
            continue;
        }
        let RecordingSummary { run_id, agent_id, recorded_at, ending, steps, tokens, .. } = summary;
        let at = Timestamp::from_millisecond(*recorded_at).unwrap_or_default();
        writeln!(out, "{run_id}  {at:.0}  {agent_id}  {steps} step(s)  {tokens} tokens  {ending}")?;
    }
    out.flush()
}

async fn export(
    config: &ConfigArgument,
    database: &DatabaseArgument,
    id: &str,
    output: Option<&Path>,
) -> anyhow::Result<()> {
    let store = database_schema().open_existing(&database.resolve(config)?).await?;
    let found = recordings::find(&store, id).await?;
    anyhow::ensure!(!found.is_empty(), "there is no recording of `{id}`; `chatwright run list` lists them");
    write_recordings(&found, output)
}

async fn import(
    file: &Path,
    config: &ConfigArgument,
    provider: &ProviderReplyArguments,
    output: Option<&Path>,
    site: Site,
) -> anyhow::Result<()> {
    let AnyFile::Reply(reply) = provider.read(file)? else {
        anyhow::bail!("{} is a recording already; `chatwright replay` replays it", file.display());
    };
    let (config, version) = build(config.path.as_deref(), None, &BTreeSet::new(), site).await?;
    let recording = provider.record(&reply, &config, &version).await?;
    // The agent's answer to the reply is printed for the user, beside the file.
    if let Some(turn) = imported_turn(&recording).filter(|_| output.is_some()) {
        let _ = stdout().write_all(turn.as_bytes());
    }
    write_recordings(&[recording], output)
}

fn write_recordings(recordings: &[Recording], output: Option<&Path>) -> anyhow::Result<()> {
    match output {
        Some(path) => {
            let mut out = BufWriter::new(File::create(path)?);
            recordings.iter().try_for_each(|recording| format::write(recording, &mut out))?;
            out.flush()?;
        }
        None => {
            let mut out = BufWriter::new(stdout().lock());
            // The reader of a pipe may have closed it early, which is no error.
            let _ = recordings.iter().try_for_each(|recording| format::write(recording, &mut out));
            let _ = out.flush();
        }
    }
    Ok(())
}
