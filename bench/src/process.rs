//! Runs servers as child processes, so that their CPU time and memory are measured separately.

use crate::growth;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Clock ticks per second in `/proc`, on all common Linux systems.
const TICKS: f64 = 100.0;

/// A running server; it is killed when dropped.
pub(crate) struct MeasuredServer {
    /// The origin of its URL.
    pub(crate) origin: String,
    child: Child,
}

/// Starts the product with one agent for each model name, on a new database.
pub(crate) async fn product(binary: &Path, folder: &Path, upstream: &str) -> Result<MeasuredServer> {
    let config = folder.join("chatwright.yaml");
    std::fs::write(&config, config_text(upstream))?;
    serve(binary, &config, folder).await
}

/// Starts the product with this config, on a new database in `folder`.
pub(crate) async fn serve(binary: &Path, config: &Path, folder: &Path) -> Result<MeasuredServer> {
    serve_on(binary, config, folder, None, &[]).await
}

/// As [`serve`], on this database if there is one, with these environment variables.
pub(crate) async fn serve_on(
    binary: &Path,
    config: &Path,
    folder: &Path,
    database: Option<&str>,
    variables: &[(&str, &str)],
) -> Result<MeasuredServer> {
    let file = format!("sqlite://{}", folder.join("bench.db").display());
    let mut command = Command::new(binary);
    command.arg("serve").arg("--config").arg(config).args(["--addr", "127.0.0.1:0", "--database"]);
    command.arg(database.unwrap_or(&file)).envs(variables.iter().copied());
    start(command).await
}

/// Starts the baseline, which is this program itself.
pub(crate) async fn floor(upstream: &str) -> Result<MeasuredServer> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["floor", upstream]);
    start(command).await
}

fn config_text(upstream: &str) -> String {
    let agents: String = ["bench-200x0", "bench-100x100"]
        .map(str::to_owned)
        .into_iter()
        .chain(growth::models())
        .map(|model| format!("  - id: {model}\n    type: ClaudeAgent\n    connectionId: upstream\n    properties: {{ model: {model} }}\n"))
        .collect();
    format!(
        "connections:\n  - id: upstream\n    type: Anthropic\n    properties: {{ apiKey: none, baseURL: \"{upstream}\" }}\n\
         agents:\n{agents}pages:\n  - id: bench\n    blocks: []\n"
    )
}

async fn start(mut command: Command) -> Result<MeasuredServer> {
    let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let output = child.stdout.take().context("no output")?;
    let mut lines = BufReader::new(output).lines();
    while let Some(line) = lines.next_line().await? {
        if let Some(origin) = line.strip_prefix("listening on ") {
            return Ok(MeasuredServer { origin: origin.to_owned(), child });
        }
    }
    anyhow::bail!("{:?} ended before it listened", command.as_std().get_program())
}

impl MeasuredServer {
    /// Kills the server.
    pub(crate) async fn stop(mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }

    fn proc(&self, file: &str) -> Result<String> {
        let id = self.child.id().context("the server has ended")?;
        Ok(std::fs::read_to_string(format!("/proc/{id}/{file}"))?)
    }

    /// Returns the CPU time so far in seconds.
    pub(crate) fn cpu_s(&self) -> Result<f64> {
        let stat = self.proc("stat")?;
        let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect::<Vec<_>>();
        let ticks: u64 =
            fields.get(11..13).context("short stat")?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
        Ok(ticks as f64 / TICKS)
    }

    /// Returns the resident memory in MB.
    pub(crate) fn memory_mb(&self) -> Result<f64> {
        let status = self.proc("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }
}
