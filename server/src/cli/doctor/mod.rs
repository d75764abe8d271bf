//! `chatwright doctor`: checks the environment of a server. It changes nothing and sends no prompt to a model.

mod connections;
mod storage;

use super::{ConfigArgument, DatabaseArgument, probe};
use crate::auth::ground;
use crate::compose;
use crate::telemetry::traces::Collector;
use config::{Config, Diagnostic};
use secrecy::ExposeSecret;
use serde::Serialize;
use std::io::{Write, stdout};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;

/// What the server would be started with.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    config: ConfigArgument,
    #[command(flatten)]
    database: DatabaseArgument,
    /// Address that the server would listen on.
    #[arg(long, env = "CHATWRIGHT_ADDR", value_name = "HOST:PORT", default_value = "127.0.0.1:3000")]
    addr: SocketAddr,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    /// Skip checks over the network: models, MCP servers, remote agents, databases, web services.
    #[arg(long)]
    offline: bool,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    /// It works, and should be looked at.
    Note,
    Wrong,
}

/// Something that was looked at.
#[derive(Clone, Debug, Serialize)]
struct Finding {
    /// What.
    check: String,
    verdict: Verdict,
    /// How it is, and what to do; no secret.
    text: String,
}

impl Finding {
    fn new(check: impl Into<String>, verdict: Verdict, text: impl Into<String>) -> Self {
        Self { check: check.into(), verdict, text: text.into() }
    }

    fn ok(check: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(check, Verdict::Ok, text)
    }

    fn note(check: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(check, Verdict::Note, text)
    }

    fn wrong(check: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(check, Verdict::Wrong, text)
    }
}

/// Looks at everything and tells; fails when something is wrong.
pub(crate) async fn run(arguments: Arguments) -> ExitCode {
    let findings = examine(&arguments).await;
    let is_well = findings.iter().all(|finding| finding.verdict != Verdict::Wrong);
    // Whoever closed the output reads the exit code.
    let _ = tell(&mut stdout().lock(), &findings, is_well, arguments.json);
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn examine(arguments: &Arguments) -> Vec<Finding> {
    let (mut findings, config) = read(arguments);
    let own = config.as_ref().and_then(|config| config.store.as_ref());
    let database = own.map_or(arguments.database.url.as_str(), |url| url.expose_secret());
    findings.extend(storage::examine(database).await);
    findings.push(clock(SystemTime::now()));
    findings.extend(port(arguments.addr).await);
    findings.extend(traces(arguments.offline).await);
    if let Some(config) = &config {
        findings.extend(
            ground::allows(Some(arguments.addr), &config.auth.mode)
                .err()
                .map(|error| Finding::wrong("address", error.to_string())),
        );
        if !arguments.offline {
            findings.extend(connections::examine(config).await);
        }
    }
    findings
}

/// Whether traces arrive, where some are sent.
async fn traces(offline: bool) -> Option<Finding> {
    let collector = match Collector::of_environment() {
        Ok(collector) => collector?,
        Err(error) => return Some(Finding::wrong("traces", error)),
    };
    let at = collector.url().origin().ascii_serialization();
    if offline {
        return Some(Finding::ok("traces", format!("they are sent to {at}")));
    }
    Some(match collector.try_it().await {
        Ok(()) => Finding::ok("traces", format!("{at} takes them")),
        Err(problem) => Finding::note("traces", format!("{at} does not take them: {problem}; the server runs without")),
    })
}

/// The config, secrets included: one that is not set is an error of the config.
fn read(arguments: &Arguments) -> (Vec<Finding>, Option<Config>) {
    let shown = arguments.config.path.as_ref().map_or("the demo".to_owned(), |path| path.display().to_string());
    match compose::read(arguments.config.path.as_deref()).outcome {
        Ok((config, warnings)) => {
            let mut findings: Vec<_> =
                warnings.iter().map(|warning| Finding::note("config", without_excerpt(warning))).collect();
            let (agents, connections) = (config.agents.len(), config.connections.len());
            let text = format!("{shown}: {agents} agent(s), {connections} connection(s), every secret is set");
            findings.insert(0, Finding::ok("config", text));
            (findings, Some(config))
        }
        Err(problems) => {
            (problems.iter().map(|problem| Finding::wrong("config", without_excerpt(problem))).collect(), None)
        }
    }
}

/// A report is passed on, and a line of the config may hold a key.
fn without_excerpt(problem: &Diagnostic) -> String {
    Diagnostic { excerpt: None, ..problem.clone() }.to_string().trim_end().to_owned()
}

/// When this version was made, or a little earlier: 2026-11-01.
const MADE: Duration = Duration::from_secs(1_793_491_200);

/// Sessions, tokens and certificates end by the clock.
fn clock(now: SystemTime) -> Finding {
    let told = jiff::Timestamp::try_from(now).map_or_else(|_| "out of range".to_owned(), |now| now.to_string());
    match now.duration_since(UNIX_EPOCH) {
        Ok(since) if since >= MADE => Finding::ok("clock", told),
        _ => Finding::wrong("clock", format!("{told} is before this version was made; set the clock")),
    }
}

/// Whether the server can listen there. A server that already runs there says in `/readyz` what should be looked at.
async fn port(address: SocketAddr) -> Vec<Finding> {
    match TcpListener::bind(address).await {
        Ok(_) => vec![Finding::ok("port", format!("{address} is free"))],
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => match probe::ask(address, "/healthz").await {
            Ok((200, _)) => {
                let text = format!("{address} is in use, by a server that answers as this one does");
                let ready = probe::ask(address, "/readyz").await.map(|(_, text)| text).unwrap_or_default();
                let warnings = ready.lines().filter_map(|line| line.strip_prefix("warning: "));
                let warnings = warnings.map(|warning| Finding::note("server", warning));
                std::iter::once(Finding::note("port", text)).chain(warnings).collect()
            }
            _ => {
                let text = format!("{address} is in use by another program; choose another with --addr");
                vec![Finding::wrong("port", text)]
            }
        },
        Err(error) => vec![Finding::wrong("port", format!("cannot listen on {address}: {error}"))],
    }
}

fn tell(out: &mut impl Write, findings: &[Finding], is_well: bool, as_json: bool) -> std::io::Result<()> {
    if as_json {
        return writeln!(out, "{:#}", serde_json::json!({ "ok": is_well, "checks": findings }));
    }
    for Finding { check, verdict, text } in findings {
        let verdict = match verdict {
            Verdict::Ok => "ok",
            Verdict::Note => "note",
            Verdict::Wrong => "wrong",
        };
        // A diagnostic of the config has several lines.
        writeln!(out, "{verdict:<6}{check}: {}", text.replace('\n', "\n      "))?;
    }
    match findings.iter().filter(|finding| finding.verdict == Verdict::Wrong).count() {
        0 => writeln!(out, "nothing is wrong"),
        1 => writeln!(out, "1 thing is wrong"),
        wrong => writeln!(out, "{wrong} things are wrong"),
    }
}
