//! `chatwright check-agent`

use super::fail;
use secrecy::SecretString;
use std::io::{Write, stdout};
use std::process::ExitCode;
use std::time::Duration;
use tools::remote_agent::{Examination, RemoteAgentSettings, Verdict, examine};
use url::Url;
use uuid::Uuid;

/// Which server, and how it is reached.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Base address of the server, to which `/tools` is appended.
    #[arg(value_name = "URL")]
    url: Url,
    /// Environment variable that holds the server's API key.
    #[arg(long, value_name = "NAME")]
    api_key_env: Option<String>,
    /// Allow addresses of this machine and its networks, and `http://`.
    #[arg(long)]
    allow_private: bool,
}

/// Prints what a server offers and whether it keeps to the contract of remote agents; fails when something is wrong.
pub(crate) async fn run(arguments: Arguments) -> ExitCode {
    let nonce = Uuid::now_v7().simple().to_string();
    let api_key = match &arguments.api_key_env {
        Some(name) => match std::env::var(name) {
            Ok(key) => SecretString::from(key),
            Err(_) => return fail(&format!("the environment variable `{name}` is not set")),
        },
        // A server that asks for a key refuses this one, and says so.
        None => SecretString::from(format!("none-{nonce}")),
    };
    let settings = RemoteAgentSettings {
        base_url: arguments.url.clone(),
        api_key,
        user_token: None,
        variables: Vec::new(),
        prefix: None,
        allow_private: arguments.allow_private,
        // No tool is called.
        call_time: Duration::ZERO,
    };
    match examine(settings, &nonce).await {
        Ok(examination) => {
            // Until the reader has seen enough.
            let _ = tell(&mut stdout().lock(), &arguments, &examination);
            if count(&examination, Verdict::Wrong) == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => fail(&format!("{}: {error}", arguments.url)),
    }
}

fn count(examination: &Examination, verdict: Verdict) -> usize {
    examination.findings.iter().filter(|finding| finding.verdict == verdict).count()
}

fn tell(out: &mut impl Write, arguments: &Arguments, examination: &Examination) -> std::io::Result<()> {
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
        writeln!(out, "note  no key was given; `--api-key-env NAME` sends the one in the variable NAME")?;
    }
    match count(examination, Verdict::Wrong) {
        0 => writeln!(out, "the server keeps to the contract"),
        1 => writeln!(out, "1 thing is wrong"),
        wrong => writeln!(out, "{wrong} things are wrong"),
    }
}
