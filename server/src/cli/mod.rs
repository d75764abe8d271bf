//! The command line.

mod audit;
mod check;
mod check_agent;
mod schema;
mod serve;

use crate::Site;
use crate::telemetry::logs;
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// AI agents for web pages, from config.
#[derive(Parser)]
#[command(name = "chatwright", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// How the lines of the log look.
    #[arg(long, global = true, env = "CHATWRIGHT_LOG_FORMAT", value_enum, default_value_t)]
    log_format: logs::Format,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server; without a config, the embedded demo.
    Serve(serve::Arguments),
    /// Check a config; every problem as file:line:column.
    Check(check::Arguments),
    /// Check another server against the contract of remote agents; no tool is called.
    CheckAgent(check_agent::Arguments),
    /// Print the JSON Schema of the config, for editors.
    Schema,
    /// Check or print the log of tool calls.
    Audit(audit::Arguments),
}

/// The config, wherever a command takes one.
#[derive(clap::Args)]
pub(crate) struct ConfigArgument {
    /// A YAML file, or a folder with `chatwright.yaml`.
    #[arg(long = "config", env = "CHATWRIGHT_CONFIG", value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
}

/// The database, wherever a command takes one.
#[derive(clap::Args)]
pub(crate) struct DatabaseArgument {
    /// Where conversations are kept.
    #[arg(long = "database", env = "DATABASE_URL", value_name = "URL", default_value = "sqlite://data/chatwright.db")]
    pub(crate) url: String,
}

/// Reads the command line and does what it says.
pub(crate) async fn run(site: Site) -> ExitCode {
    let arguments = Arguments::parse();
    logs::begin(arguments.log_format);
    match arguments.command {
        Command::Serve(arguments) => serve::run(arguments, site).await,
        Command::Check(arguments) => check::run(&arguments),
        Command::CheckAgent(arguments) => check_agent::run(arguments).await,
        Command::Schema => schema::run(),
        Command::Audit(arguments) => audit::run(arguments).await,
    }
}

/// Says what went wrong, in one line, and fails.
pub(crate) fn fail(message: &str) -> ExitCode {
    eprintln!("chatwright: {message}");
    ExitCode::FAILURE
}
