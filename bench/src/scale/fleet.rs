//! Several servers on one database, and what a load costs at each part.

use crate::process::{self, MeasuredServer, ProcessTimes};
use crate::scale::database::{Counters, Database, DatabaseCpu};
use crate::scale::loads::{Done, STREAM, TURN};
use anyhow::{Context, Result};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Servers with the same config on the same database.
pub(crate) struct Fleet {
    servers: Vec<MeasuredServer>,
    http: reqwest::Client,
    /// Has the config.
    _folder: tempfile::TempDir,
}

/// The totals of the servers' writers so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Writes {
    transactions: f64,
    writes: f64,
    /// How long the transactions took, the wait for the lock included.
    seconds: f64,
}

/// Everything that is counted, at one moment.
struct Snapshot {
    at: Instant,
    servers: f64,
    client: f64,
    database: DatabaseCpu,
    counters: Counters,
    writes: Writes,
}

/// The cost of a load. Figures of the database include its work for idle servers meanwhile.
#[derive(Clone, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) done: Done,
    /// CPU seconds of all servers, of the client with the scripted provider, and of the database.
    pub(crate) servers: f64,
    pub(crate) client: f64,
    pub(crate) database: DatabaseCpu,
    pub(crate) counters: Counters,
    /// Transactions of the writers, and the writes in them.
    pub(crate) groups: f64,
    pub(crate) writes: f64,
    /// The seconds that all writers were in transactions or waited for the lock.
    pub(crate) writing: f64,
    pub(crate) seconds: f64,
}

impl Fleet {
    /// Starts `count` servers.
    pub(crate) async fn start(binary: &Path, upstream: &str, database: &str, count: usize) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let config = folder.path().join("chatwright.yaml");
        std::fs::write(&config, config_text(upstream))?;
        let mut servers = Vec::new();
        for _ in 0..count {
            servers.push(
                process::serve_on(binary, &config, folder.path(), Some(database), &[("CHATWRIGHT_LOG", "error")])
                    .await?,
            );
        }
        Ok(Self { servers, http: reqwest::Client::builder().build()?, _folder: folder })
    }

    pub(crate) fn origins(&self) -> Arc<[String]> {
        self.servers.iter().map(|server| server.origin.clone()).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.servers.len()
    }

    /// Runs a load and returns what it has cost.
    pub(crate) async fn measure(
        &self,
        database: &mut Database,
        load: impl Future<Output = Result<Done>>,
    ) -> Result<Usage> {
        let before = self.snapshot(database).await?;
        let done = load.await?;
        let (seconds, servers, client) = (before.at.elapsed().as_secs_f64(), self.cpu_s()?, client_cpu()?);
        let (cpu, writes) = (database.cpu()?, self.writes().await?);
        let counters = database.all_counters().await?;
        Ok(Usage {
            done,
            servers: servers - before.servers,
            client: client - before.client,
            database: DatabaseCpu {
                writers: cpu.writers - before.database.writers,
                others: cpu.others - before.database.others,
            },
            counters: Counters {
                transactions: counters.transactions - before.counters.transactions,
                rows: counters.rows - before.counters.rows,
                wal_bytes: counters.wal_bytes - before.counters.wal_bytes,
                bytes: counters.bytes - before.counters.bytes,
            },
            groups: writes.transactions - before.writes.transactions,
            writes: writes.writes - before.writes.writes,
            writing: writes.seconds - before.writes.seconds,
            seconds,
        })
    }

    async fn snapshot(&self, database: &mut Database) -> Result<Snapshot> {
        // Everything was reported after the last load.
        let counters = database.counters().await?;
        let (writes, cpu) = (self.writes().await?, database.cpu()?);
        let (servers, client) = (self.cpu_s()?, client_cpu()?);
        Ok(Snapshot { at: Instant::now(), servers, client, database: cpu, counters, writes })
    }

    fn cpu_s(&self) -> Result<f64> {
        self.servers.iter().map(MeasuredServer::cpu_s).sum()
    }

    /// Reads the metrics of all servers.
    async fn writes(&self) -> Result<Writes> {
        let mut sum = Writes::default();
        for server in &self.servers {
            let answer = self.http.get(format!("{}/metrics", server.origin)).send().await?.error_for_status()?;
            let one = Writes::parse(&answer.text().await?).context("the metrics of the store")?;
            sum.transactions += one.transactions;
            sum.writes += one.writes;
            sum.seconds += one.seconds;
        }
        Ok(sum)
    }

    pub(crate) async fn stop(self) -> Result<()> {
        for server in self.servers {
            server.stop().await?;
        }
        Ok(())
    }
}

impl Writes {
    /// Finds them in the text of the metrics.
    fn parse(metrics: &str) -> Option<Self> {
        let value = |name: &str| {
            let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix("{outcome=\"ok\"} "))?;
            line.trim().parse::<f64>().ok()
        };
        Some(Self {
            transactions: value("chatwright_store_write_seconds_count")?,
            seconds: value("chatwright_store_write_seconds_sum")?,
            writes: value("chatwright_store_writes_total")?,
        })
    }
}

impl Usage {
    /// Returns a figure for each thing that was done.
    pub(crate) fn each(&self, sum: f64) -> f64 {
        sum / self.done.count.max(1) as f64
    }

    /// Returns the CPU seconds of the whole database server.
    pub(crate) fn database_cpu(&self) -> f64 {
        self.database.writers + self.database.others
    }

    /// Returns how many cores were used on average.
    pub(crate) fn cores(&self, cpu: f64) -> f64 {
        cpu / self.seconds
    }
}

/// Returns the CPU time of this program, which is client and provider.
fn client_cpu() -> Result<f64> {
    Ok(ProcessTimes::of("self")?.own)
}

fn config_text(upstream: &str) -> String {
    let agents: String = [TURN, STREAM]
        .iter()
        .map(|model| {
            format!(
                "  - {{ id: {model}, type: ClaudeAgent, connectionId: upstream, properties: {{ model: {model} }} }}\n"
            )
        })
        .collect();
    format!(
        "auth: {{ mode: proxy, publicUrls: ['https://bench.test'], trustedProxies: ['127.0.0.0/8'] }}
connections:
  - {{ id: upstream, type: Anthropic, properties: {{ apiKey: none, baseURL: '{upstream}' }} }}
agents:
{agents}pages: [{{ id: bench, blocks: [] }}]
api: [{{ id: nothing, routine: [{{ ':return': {{ n: 1 }} }}] }}]
workflows: [{{ id: one, steps: [{{ id: call, type: endpoint, endpointId: nothing }}] }}]
limits: {{ connectionsPerAddress: 7000 }}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_writers_are_found_in_the_metrics() {
        let metrics = "# TYPE chatwright_store_write_seconds histogram
chatwright_store_write_seconds_bucket{outcome=\"ok\",le=\"0.005\"} 3
chatwright_store_write_seconds_sum{outcome=\"ok\"} 0.25
chatwright_store_write_seconds_count{outcome=\"ok\"} 40
chatwright_store_write_seconds_sum{outcome=\"error\"} 9
chatwright_store_writes_total{outcome=\"ok\"} 90
";
        let expected = Writes { transactions: 40.0, writes: 90.0, seconds: 0.25 };
        assert_eq!(Writes::parse(metrics), Some(expected));
        assert_eq!(Writes::parse("nothing"), None);
    }
}
