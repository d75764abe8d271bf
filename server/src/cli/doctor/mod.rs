//! `chatwright doctor`: checks the environment of a server. It changes nothing and sends no prompt
//! to a model.

mod connections;
mod providers;
mod published_changes;
mod storage;

use super::{ConfigArgument, DatabaseArgument, probe};
use crate::compose::{self, shell_place_problem};
use crate::telemetry::traces::Collector;
use auth::auth_state;
use config::{Config, Diagnostic};
use secrecy::ExposeSecret;
use serde::Serialize;
use std::io::{Write, stdout};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;

/// The arguments of `chatwright doctor`: those of the server to check, and options.
#[derive(clap::Args)]
pub(crate) struct DoctorArguments {
    #[command(flatten)]
    config: ConfigArgument,
    #[command(flatten)]
    database: DatabaseArgument,
    /// Address on which the server would listen.
    #[arg(long, env = "CHATWRIGHT_ADDR", value_name = "HOST:PORT", default_value = "127.0.0.1:3000")]
    addr: SocketAddr,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    /// Skip checks over the network: models, MCP servers, remote agents, databases, web services, bots.
    #[arg(long)]
    offline: bool,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum CheckOutcome {
    Ok,
    /// It works, but the operator should look at it.
    Note,
    Wrong,
}

/// The result of a check.
#[derive(Clone, Debug, Serialize)]
struct CheckResult {
    /// The subject of the check.
    check: String,
    verdict: CheckOutcome,
    /// The details and what to do about them; never contains a secret.
    text: String,
}

impl CheckResult {
    fn new(check: impl Into<String>, verdict: CheckOutcome, text: impl Into<String>) -> Self {
        Self { check: check.into(), verdict, text: text.into() }
    }

    fn ok(check: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(check, CheckOutcome::Ok, text)
    }

    fn note(check: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(check, CheckOutcome::Note, text)
    }

    fn wrong(check: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(check, CheckOutcome::Wrong, text)
    }
}

/// Runs all checks and prints the report; fails if something is wrong.
pub(crate) async fn run(arguments: DoctorArguments) -> ExitCode {
    let findings = run_checks(&arguments).await;
    let is_well = findings.iter().all(|finding| finding.verdict != CheckOutcome::Wrong);
    // An error here means that the reader closed the pipe; the exit code still tells the result.
    let _ = print_report(&mut stdout().lock(), &findings, is_well, arguments.json);
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn run_checks(arguments: &DoctorArguments) -> Vec<CheckResult> {
    let (mut findings, config) = check_config(arguments);
    let own = config.as_ref().and_then(|config| config.store.as_ref());
    let database = own.map_or(arguments.database.url.as_str(), |url| url.expose_secret());
    findings.extend(storage::check_storage(database).await);
    findings.push(check_clock(SystemTime::now()));
    findings.extend(check_port(arguments.addr).await);
    findings.extend(check_traces(arguments.offline).await);
    if let Some(config) = &config {
        findings.extend(check_shells(config, arguments));
        findings.extend(published_changes::check_published_changes(config, database).await);
        findings.extend(
            auth_state::check_listen_address(Some(arguments.addr), &config.auth.mode)
                .err()
                .map(|error| CheckResult::wrong("address", error.to_string())),
        );
        if !arguments.offline {
            findings.extend(connections::check_connections(config).await);
            findings.extend(providers::check_providers(config).await);
            findings.extend(check_channels(config).await);
        }
    }
    findings
}

/// Checks that the messengers know the bots of the channels.
async fn check_channels(config: &Config) -> Vec<CheckResult> {
    let result = |bot: channels::BotCheck| {
        let check = format!("channel {}", bot.channel_id);
        match bot.outcome {
            Ok(name) => CheckResult::ok(check, format!("the bot is @{name}")),
            Err(problem) => CheckResult::wrong(check, problem),
        }
    };
    channels::check_bots(config).await.into_iter().map(result).collect()
}

/// Checks that the collector accepts traces, if one is configured.
async fn check_traces(offline: bool) -> Option<CheckResult> {
    let collector = match Collector::from_environment() {
        Ok(collector) => collector?,
        Err(error) => return Some(CheckResult::wrong("traces", error)),
    };
    let at = collector.url().origin().ascii_serialization();
    if offline {
        return Some(CheckResult::ok("traces", format!("sent to {at}")));
    }
    Some(match collector.probe().await {
        Ok(()) => CheckResult::ok("traces", format!("{at} accepts traces")),
        Err(problem) => {
            CheckResult::note("traces", format!("{at} does not accept traces: {problem}; the server runs without them"))
        }
    })
}

/// Checks that the commands of agents can run at their levels on this machine. A config with a level that this program
/// does not have is an error of the config.
fn check_shells(config: &Config, arguments: &DoctorArguments) -> Option<CheckResult> {
    let levels = workspace::shell_levels(config);
    let of_agent = |level: &workspace::AgentShell<'_>| format!("{}: {}", level.agent_id, level.level);
    let text = levels.iter().map(of_agent).collect::<Vec<_>>().join(", ");
    let (path, database) = (arguments.config.path.as_deref(), &arguments.database.url);
    let problem = || shell_place_problem(config, path, database).or_else(|| workspace::shell_problem(config));
    (!levels.is_empty()).then(|| match problem() {
        None => CheckResult::ok("shell", text),
        Some(problem) => CheckResult::wrong("shell", format!("{text}: not all commands can run: {problem}")),
    })
}

/// Checks the config. A secret that is not set is an error of the config.
fn check_config(arguments: &DoctorArguments) -> (Vec<CheckResult>, Option<Config>) {
    let shown = arguments.config.path.as_ref().map_or("the demo".to_owned(), |path| path.display().to_string());
    match compose::load_config(arguments.config.path.as_deref()).outcome {
        Ok((config, warnings)) => {
            let mut findings: Vec<_> =
                warnings.iter().map(|warning| CheckResult::note("config", without_excerpt(warning))).collect();
            let (agents, connections) = (config.agents.len(), config.connections.len());
            let text = format!("{shown}: {agents} agent(s), {connections} connection(s), every secret is set");
            findings.insert(0, CheckResult::ok("config", text));
            (findings, Some(config))
        }
        Err(problems) => {
            (problems.iter().map(|problem| CheckResult::wrong("config", without_excerpt(problem))).collect(), None)
        }
    }
}

/// Formats a diagnostic without its excerpt: reports are passed on, and a line of the config may
/// contain an API key.
fn without_excerpt(problem: &Diagnostic) -> String {
    Diagnostic { excerpt: None, ..problem.clone() }.to_string().trim_end().to_owned()
}

/// A time shortly before this version was released: 2026-11-01.
const BUILT_AFTER: Duration = Duration::from_secs(1_793_491_200);

/// Checks the clock, which sessions, tokens and certificates depend on.
fn check_clock(now: SystemTime) -> CheckResult {
    let shown = jiff::Timestamp::try_from(now).map_or_else(|_| "out of range".to_owned(), |now| now.to_string());
    match now.duration_since(UNIX_EPOCH) {
        Ok(since) if since >= BUILT_AFTER => CheckResult::ok("clock", shown),
        _ => CheckResult::wrong("clock", format!("{shown} is before this version was released; set the clock")),
    }
}

/// Checks that the server can listen on the address. If a server already runs there, its warnings
/// in `/readyz` are included.
async fn check_port(address: SocketAddr) -> Vec<CheckResult> {
    match TcpListener::bind(address).await {
        Ok(_) => vec![CheckResult::ok("port", format!("{address} is free"))],
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => match probe::get(address, "/healthz").await {
            Ok((200, _)) => {
                let text = format!("{address} is in use, apparently by a running Chatwright server");
                let ready = probe::get(address, "/readyz").await.map(|(_, text)| text).unwrap_or_default();
                let warnings = ready.lines().filter_map(|line| line.strip_prefix("warning: "));
                let warnings = warnings.map(|warning| CheckResult::note("server", warning));
                std::iter::once(CheckResult::note("port", text)).chain(warnings).collect()
            }
            _ => {
                let text = format!("{address} is in use by another program; choose another address with --addr");
                vec![CheckResult::wrong("port", text)]
            }
        },
        Err(error) => vec![CheckResult::wrong("port", format!("cannot listen on {address}: {error}"))],
    }
}

fn print_report(out: &mut impl Write, findings: &[CheckResult], is_well: bool, as_json: bool) -> std::io::Result<()> {
    if as_json {
        return writeln!(out, "{:#}", serde_json::json!({ "ok": is_well, "checks": findings }));
    }
    for CheckResult { check, verdict, text } in findings {
        let verdict = match verdict {
            CheckOutcome::Ok => "ok",
            CheckOutcome::Note => "note",
            CheckOutcome::Wrong => "wrong",
        };
        // A config diagnostic has several lines.
        writeln!(out, "{verdict:<6}{check}: {}", text.replace('\n', "\n      "))?;
    }
    match findings.iter().filter(|finding| finding.verdict == CheckOutcome::Wrong).count() {
        0 => writeln!(out, "no problems found"),
        1 => writeln!(out, "1 problem found"),
        wrong => writeln!(out, "{wrong} problems found"),
    }
}
