//! The command line.

mod audit;
mod backup;
mod check;
mod check_agent;
mod diagnostics;
mod docs;
mod doctor;
mod evaluate;
mod export;
mod import;
mod init;
mod migrate;
mod probe;
mod provider_reply;
mod recordings;
mod replay;
mod replayed_dataset;
mod schema;
mod serve;

use crate::Site;
use crate::compose;
use crate::telemetry::logs;
use clap::{Parser, Subcommand};
use secrecy::ExposeSecret;
use std::path::PathBuf;
use std::process::ExitCode;

/// AI agents for web pages, from config.
#[derive(Parser)]
#[command(name = "chatwright", version, about)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    command: Command,
    /// Format of the log.
    #[arg(long, global = true, env = "CHATWRIGHT_LOG_FORMAT", value_enum, default_value_t)]
    log_format: logs::LogFormat,
}

#[derive(Subcommand)]
enum Command {
    /// Write a config to start from: one agent on one page, with the built-in demo model.
    Init(init::InitArguments),
    /// Run the server, with a config or with the built-in demo.
    Serve(serve::ServeArguments),
    /// Check a config and report each problem as file:line:column.
    Check(check::CheckArguments),
    /// Check that a server follows the contract of remote agents; calls no tool.
    CheckAgent(check_agent::CheckAgentArguments),
    /// Evaluate an agent with the cases of a dataset; compare two configs.
    Eval(evaluate::EvalArguments),
    /// Import the config of an app of another product.
    Import(import::ImportArguments),
    /// Export an evaluation for another tool.
    Export(export::ExportArguments),
    /// Print the JSON Schema of the config, for completion and validation in editors.
    Schema(schema::SchemaArguments),
    /// Write the documentation of this version as a static site.
    Docs(docs::DocsArguments),
    /// Verify or export the audit log.
    Audit(audit::AuditArguments),
    /// List, export or import recordings of runs.
    Run(recordings::RunArguments),
    /// Replay a recorded run, with its config or another one, and report what differs.
    Replay(replay::ReplayArguments),
    /// Back up all data of a server into one file; the server may keep running.
    Backup(backup::BackupArguments),
    /// Restore a backup; the server must be stopped.
    Restore(backup::RestoreArguments),
    /// Copy all data into an empty database, for example from SQLite to PostgreSQL; the server must
    /// be stopped.
    Migrate(migrate::MigrateArguments),
    /// Check the environment of a server: config, database, disk, clock, connections, secrets,
    /// ports, permissions.
    Doctor(doctor::DoctorArguments),
    /// Ask a running server whether it is ready, for example in a container's health check.
    Probe(probe::ProbeArguments),
    #[command(flatten)]
    Helper(Helper),
}

/// The commands that a server starts, in processes of their own.
#[derive(clap::Subcommand)]
enum Helper {
    /// Read the text of a file; the server starts this for each file.
    #[command(name = documents::READ_DOCUMENT, hide = true)]
    ReadDocument {
        /// The limits as JSON.
        limits: String,
    },
    /// Run a script in the emulated shell; the server starts this for each script.
    #[cfg(feature = "shell")]
    #[command(name = workspace::RUN_SCRIPT, hide = true)]
    RunScript,
    /// Run a script with the programs of this machine in a sandbox; the server starts this for each script.
    #[cfg(all(feature = "shell", target_os = "linux"))]
    #[command(name = workspace::RUN_PROGRAMS, hide = true)]
    RunPrograms,
    /// Become the first process in a sandbox.
    #[cfg(all(feature = "shell", target_os = "linux"))]
    #[command(name = workspace::RUN_CONFINED, hide = true)]
    RunConfined,
}

impl Helper {
    fn run(&self) -> ExitCode {
        match self {
            Self::ReadDocument { limits } => documents::run_child(limits),
            #[cfg(feature = "shell")]
            Self::RunScript => workspace::run_script_process(),
            #[cfg(all(feature = "shell", target_os = "linux"))]
            Self::RunPrograms => workspace::run_programs_process(),
            #[cfg(all(feature = "shell", target_os = "linux"))]
            Self::RunConfined => workspace::run_confined(),
        }
    }
}

/// The `--config` argument of several commands.
#[derive(clap::Args)]
pub(crate) struct ConfigArgument {
    /// Config: a YAML file, or a folder with `chatwright.yaml`.
    #[arg(long = "config", env = "CHATWRIGHT_CONFIG", value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
}

/// The `--database` argument of several commands.
#[derive(clap::Args)]
pub(crate) struct DatabaseArgument {
    /// Database: `sqlite://PATH` or `postgres://USER:PASSWORD@HOST/DATABASE`.
    #[arg(long = "database", env = "DATABASE_URL", value_name = "URL", default_value = "sqlite://data/chatwright.db")]
    pub(crate) url: String,
}

impl DatabaseArgument {
    /// Returns the URL of the database that the server would use with this config. A database in
    /// the config takes precedence over the argument.
    ///
    /// # Errors
    /// The config is invalid.
    pub(crate) fn resolve(&self, config: &ConfigArgument) -> anyhow::Result<String> {
        let Some(path) = config.path.as_deref() else { return Ok(self.url.clone()) };
        let (config, _) = diagnostics::valid_or_printed(compose::load_config(Some(path)).outcome)?;
        Ok(config.store.map_or_else(|| self.url.clone(), |url| url.expose_secret().to_owned()))
    }
}

impl CommandLine {
    /// Parses the command line of this process. Prints help, the version or what is wrong, and ends
    /// the process, if there is no command to run.
    pub(crate) fn of_process() -> Self {
        Self::parse()
    }

    /// Parses the command line of a process that a server has started; `None` for all others.
    pub(crate) fn of_helper() -> Option<Self> {
        Self::try_parse().ok().filter(|line| matches!(line.command, Command::Helper(_)))
    }

    /// Does the work of a process that a server has started, if this is one; `None` for all other commands.
    pub(crate) fn run_as_helper(&self) -> Option<ExitCode> {
        match &self.command {
            Command::Helper(helper) => Some(helper.run()),
            _ => None,
        }
    }
}

/// Runs the command.
pub(crate) async fn run(arguments: CommandLine, site: Site) -> ExitCode {
    let filter = if matches!(arguments.command, Command::Eval(_)) { logs::WARNINGS } else { logs::DEFAULT_FILTER };
    logs::init(arguments.log_format, filter);
    match arguments.command {
        Command::Init(arguments) => init::run(&arguments),
        Command::Serve(arguments) => serve::run(arguments, site).await,
        Command::Check(arguments) => check::run(&arguments),
        Command::CheckAgent(arguments) => check_agent::run(arguments).await,
        Command::Eval(arguments) => evaluate::run(arguments).await,
        Command::Import(arguments) => import::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Docs(arguments) => docs::run(&arguments, site),
        Command::Audit(arguments) => audit::run(arguments).await,
        Command::Run(arguments) => recordings::run(arguments, site).await,
        Command::Replay(arguments) => replay::run(arguments, site).await,
        Command::Backup(arguments) => backup::backup(arguments).await,
        Command::Restore(arguments) => backup::restore(arguments).await,
        Command::Migrate(arguments) => migrate::run(arguments).await,
        Command::Doctor(arguments) => doctor::run(arguments).await,
        Command::Probe(arguments) => probe::run(&arguments).await,
        Command::Helper(helper) => helper.run(),
    }
}

/// Prints a one-line error message and returns the exit code of a failure.
pub(crate) fn fail(message: &str) -> ExitCode {
    eprintln!("chatwright: {message}");
    ExitCode::FAILURE
}

/// Prints the report of a command, or why it failed, and returns the exit code.
pub(crate) fn report(done: anyhow::Result<String>) -> ExitCode {
    match done {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => fail(&format!("{error:#}")),
    }
}
