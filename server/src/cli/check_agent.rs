//! `chatwright check-agent`: checks that a server follows the contract of remote agents.

use super::fail;
use remote_agents::{Examination, RemoteAgentSettings, Verdict, examine};
use secrecy::SecretString;
use std::io::{Write, stdout};
use std::process::ExitCode;
use std::time::Duration;
use url::Url;
use uuid::Uuid;

/// The server to check and how to connect to it.
#[derive(clap::Args)]
pub(crate) struct CheckAgentArguments {
    /// Base URL of the server, to which `/tools` is appended.
    #[arg(value_name = "URL")]
    url: Url,
    /// Environment variable with the server's API key.
    #[arg(long, value_name = "NAME")]
    api_key_env: Option<String>,
    /// Allow private and loopback addresses, and `http://`.
    #[arg(long)]
    allow_private: bool,
}

/// Prints the tools of the server and how it follows the contract of remote agents; fails if there
/// is a violation.
pub(crate) async fn run(arguments: CheckAgentArguments) -> ExitCode {
    let nonce = Uuid::now_v7().simple().to_string();
    let api_key = match &arguments.api_key_env {
        Some(name) => match std::env::var(name) {
            Ok(key) => SecretString::from(key),
            Err(_) => return fail(&format!("the environment variable `{name}` is not set")),
        },
        // A server that requires a key must reject this one.
        None => SecretString::from(format!("none-{nonce}")),
    };
    let settings = RemoteAgentSettings {
        base_url: arguments.url.clone(),
        api_key,
        user_token: None,
        variables: Vec::new(),
        user_variables: None,
        prefix: None,
        allow_private: arguments.allow_private,
        // No tool is called.
        call_time: Duration::ZERO,
    };
    match examine(settings, &nonce).await {
        Ok(examination) => {
            // The reader of a pipe may have closed it early, which is no error.
            let _ = print_report(&mut stdout().lock(), &arguments, &examination);
            if count_findings(&examination, Verdict::Wrong) == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => fail(&format!("{}: {error}", arguments.url)),
    }
}

fn count_findings(examination: &Examination, verdict: Verdict) -> usize {
    examination.findings.iter().filter(|finding| finding.verdict == verdict).count()
}

fn print_report(
    out: &mut impl Write,
    arguments: &CheckAgentArguments,
    examination: &Examination,
) -> std::io::Result<()> {
    writeln!(out, "{}", arguments.url)?;
    for tool in &examination.tools {
        writeln!(out, "  {}", tool.title)?;
        tool.parameters.iter().try_for_each(|parameter| writeln!(out, "    {parameter}"))?;
    }
    for finding in &examination.findings {
        let verdict = match finding.verdict {
            Verdict::Good => "ok",
            Verdict::Note => "note",
            Verdict::Wrong => "wrong",
        };
        writeln!(out, "{verdict:<6}{}", finding.text)?;
    }
    if arguments.api_key_env.is_none() {
        writeln!(out, "note  no API key was sent; `--api-key-env NAME` sends the key in the variable NAME")?;
    }
    match count_findings(examination, Verdict::Wrong) {
        0 => writeln!(out, "the server follows the contract"),
        1 => writeln!(out, "1 problem found"),
        wrong => writeln!(out, "{wrong} problems found"),
    }
}
