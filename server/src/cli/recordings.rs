//! `chatwright run`: lists and exports recordings of runs.

use super::{ConfigArgument, DatabaseArgument, fail};
use crate::capabilities::database_schema;
use jiff::Timestamp;
use recordings::{RecordingSummary, format};
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
}

/// Runs the subcommand. The server may run at the same time.
pub(crate) async fn run(arguments: RunArguments) -> ExitCode {
    let done = match arguments.command {
        RunCommand::List { config, database, json } => list(&config, &database, json).await,
        RunCommand::Export { id, config, database, output } => export(&config, &database, &id, output.as_deref()).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&format!("{error:#}")),
    }
}

async fn list(config: &ConfigArgument, database: &DatabaseArgument, json: bool) -> anyhow::Result<()> {
    let store = database_schema().open_existing(&database.resolve(config)?).await?;
    let found = recordings::list(&store).await?;
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
    match output {
        Some(path) => {
            let mut out = BufWriter::new(File::create(path)?);
            found.iter().try_for_each(|recording| format::write(recording, &mut out))?;
            out.flush()?;
        }
        None => {
            let mut out = BufWriter::new(stdout().lock());
            let _ = found.iter().try_for_each(|recording| format::write(recording, &mut out));
            let _ = out.flush();
        }
    }
    Ok(())
}
