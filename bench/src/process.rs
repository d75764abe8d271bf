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

/// Like [`serve`], on this database if there is one, with these environment variables.
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

/// The CPU times of a process, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ProcessTimes {
    pub(crate) parent: u32,
    pub(crate) own: f64,
    /// The CPU time of its children that have ended.
    pub(crate) ended_children: f64,
}

impl ProcessTimes {
    /// Reads those of a process, by its id or `self`.
    pub(crate) fn of(process: &str) -> Result<Self> {
        Self::parse(&std::fs::read_to_string(format!("/proc/{process}/stat"))?)
    }

    /// Parses a file `stat` of `/proc`. The name of the program, in parentheses, may contain anything.
    fn parse(stat: &str) -> Result<Self> {
        let fields: Vec<_> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        let number = |at: usize| -> Result<u64> { Ok(fields.get(at).context("short stat")?.parse()?) };
        let seconds = |at| anyhow::Ok((number(at)? + number(at + 1)?) as f64 / TICKS);
        Ok(Self { parent: u32::try_from(number(1)?)?, own: seconds(11)?, ended_children: seconds(13)? })
    }
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
        Ok(ProcessTimes::parse(&self.proc("stat")?)?.own)
    }

    /// Returns the resident memory in MB, including pages of mapped files such as the binary.
    pub(crate) fn memory_mb(&self) -> Result<f64> {
        self.status_mb("VmRSS:")
    }

    /// Returns the resident memory in MB without pages of mapped files, which the kernel can take back at any time.
    pub(crate) fn own_memory_mb(&self) -> Result<f64> {
        self.status_mb("RssAnon:")
    }

    /// Returns a value of `/proc/<id>/status` in MB.
    fn status_mb(&self, name: &str) -> Result<f64> {
        let status = self.proc("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let line = line.with_context(|| format!("no {name}"))?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_after_the_name_of_the_program() {
        let stat = "42 (a) b) S 7 42 42 0 -1 4194560 100 200 0 0 150 50 30 20 20 0 1 0 9000\n";
        assert_eq!(ProcessTimes::parse(stat).unwrap(), ProcessTimes { parent: 7, own: 2.0, ended_children: 0.5 });
        assert!(ProcessTimes::parse("42 (a) S 7").is_err());
    }
}
