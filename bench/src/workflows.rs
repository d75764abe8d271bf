//! Measures workflows and queued runs of the product: steps per second, how long a queued run waits for
//! its start, how long a webhook waits for its answer, and what runs cost that wait for a person.

use crate::process::{self, MeasuredServer};
use crate::results::{Figure, Goal, Row, Table, figure};
use anyhow::{Context, Result, ensure};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// The key of the webhook.
const KEY: &str = "0123456789abcdef0123456789abcdef0123456789abcdef";
/// The most runs of a user that have not ended are a thousand.
const RUNS_PER_USER: usize = 900;

/// How much is measured.
#[derive(Clone, Copy)]
struct Amounts {
    /// Runs at once, and the steps of each.
    runs: usize,
    steps: usize,
    /// Runs whose start is measured, and webhooks.
    samples: usize,
    /// Runs that wait.
    waiting: usize,
}

const FULL: Amounts = Amounts { runs: 50, steps: 100, samples: 500, waiting: 10_000 };
/// To try the program out.
const SMALL: Amounts = Amounts { runs: 3, steps: 5, samples: 10, waiting: 20 };

/// Measures on SQLite, and on PostgreSQL if that is installed (without `fsync`, as tests run it).
pub(crate) async fn measure(binary: &Path, is_small: bool) -> Result<Vec<Table>> {
    let postgres = test_postgres::new_database().await;
    let amounts = if is_small { SMALL } else { FULL };
    let mut table = Table::new("Workflows", &[]);
    let databases = std::iter::once(("SQLite", None)).chain(postgres.as_deref().map(|url| ("PostgreSQL", Some(url))));
    for (name, database) in databases {
        let folder = tempfile::tempdir()?;
        let config = folder.path().join("chatwright.yaml");
        std::fs::write(&config, config_text())?;
        let server = process::serve_on(binary, &config, folder.path(), database, &[("BENCH_KEY", KEY)]).await?;
        let bench = Bench { server: &server, http: Client::builder().build()?, name };
        add_column(&mut table, name, bench.all(amounts).await?);
        server.stop().await?;
    }
    Ok(vec![table])
}

/// A figure with the name of its row.
type Measured = (String, Option<Figure>, Option<Goal>);

/// Adds the figures of a database, whose rows are the same with each.
fn add_column(table: &mut Table, name: &str, figures: Vec<Measured>) {
    table.columns.push(name.to_owned());
    for (at, (name, figure, goal)) in figures.into_iter().enumerate() {
        match table.rows.get_mut(at) {
            Some(row) => row.cells.push(figure),
            None => table.rows.push(Row { name, cells: vec![figure], goal }),
        }
    }
}

fn as_user(request: RequestBuilder, user: &str) -> RequestBuilder {
    request.header("x-forwarded-user", user)
}

fn config_text() -> String {
    "auth: { mode: proxy, publicUrls: ['https://bench.test'], trustedProxies: ['127.0.0.0/8'] }
connections:
  - { id: demo, type: Demo }
  - { id: sender, type: Webhook, properties: { scheme: Bearer, secrets: [{ _secret: BENCH_KEY }] } }
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]
pages: [{ id: page, blocks: [] }]
api: [{ id: nothing, routine: [{ ':return': { n: { _payload: n } } }] }]
workflows:
  - id: steps
    input: { type: object, properties: { rows: { type: array } }, required: [rows] }
    steps:
      - { id: each, type: loop, in: '$.input.rows', max: 1000, do: [{ id: call, type: endpoint, endpointId: nothing, payload: { n: '$.item' } }] }
  - { id: one, steps: [{ id: call, type: endpoint, endpointId: nothing }] }
  - { id: ask, steps: [{ id: person, type: human, title: 'OK?', roles: [manager] }] }
  - id: hook
    runAs: { roles: [worker] }
    steps: [{ id: call, type: endpoint, endpointId: nothing }]
    triggers: [{ id: hook, type: webhook, connectionId: sender }]
limits: { connectionsPerAddress: 7000 }
"
    .to_owned()
}

struct Bench<'s> {
    server: &'s MeasuredServer,
    http: Client,
    name: &'s str,
}

impl Bench<'_> {
    async fn all(&self, amounts: Amounts) -> Result<Vec<Measured>> {
        // First-time effects are not measured.
        self.steps(2, 5).await?;
        eprintln!("{}: steps", self.name);
        let per_second = self.steps(amounts.runs, amounts.steps).await?;
        eprintln!("{}: starts", self.name);
        let starts = self.starts(amounts.samples).await?;
        eprintln!("{}: webhooks", self.name);
        let hooks = self.webhooks(amounts.samples).await?;
        eprintln!("{}: waiting runs", self.name);
        let (memory, cpu) = self.waiting(amounts.waiting).await?;
        let waiting = format!("memory of each of {} waiting runs", amounts.waiting);
        Ok(vec![
            ("endpoint steps per second".to_owned(), figure(per_second, ""), Some(Goal::AtLeast(500.0))),
            ("start of a queued run, p99".to_owned(), figure(percentile(starts, 99), "ms"), Some(Goal::AtMost(50.0))),
            ("answer to a webhook, p99".to_owned(), figure(percentile(hooks, 99), "ms"), Some(Goal::AtMost(20.0))),
            (waiting, figure(memory * 1e3 / amounts.waiting as f64, "KB"), Some(Goal::AtMost(1.0))),
            ("CPU of a second with them".to_owned(), figure(cpu * 1e3, "ms"), None),
        ])
    }

    async fn start(&self, workflow: &str, input: &Value, user: &str) -> Result<String> {
        let url = format!("{}/api/workflows/{workflow}/runs", self.server.origin);
        let started = as_user(self.http.post(url), user).json(&json!({ "input": input })).send().await?;
        let run: Value = started.error_for_status()?.json().await?;
        Ok(run["id"].as_str().context("a run has an id")?.to_owned())
    }

    async fn detail(&self, id: &str, user: &str) -> Result<Value> {
        let url = format!("{}/api/workflows/runs/{id}", self.server.origin);
        Ok(as_user(self.http.get(url), user).send().await?.error_for_status()?.json().await?)
    }

    /// Waits until a run has ended.
    async fn ended(&self, id: &str, user: &str, pause: Duration) -> Result<Value> {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(600) {
            let run = self.detail(id, user).await?;
            if run["endedAt"].is_i64() {
                ensure!(run["state"] == "done", "the run has failed: {}", run["error"]);
                return Ok(run);
            }
            tokio::time::sleep(pause).await;
        }
        anyhow::bail!("the run does not end")
    }

    /// Returns the steps per second of several runs at once, by the times that the server stored.
    async fn steps(&self, runs: usize, steps: usize) -> Result<f64> {
        let input = json!({ "rows": (0..steps).collect::<Vec<_>>() });
        let mut ids = Vec::new();
        for _ in 0..runs {
            ids.push(self.start("steps", &input, "ada").await?);
        }
        let (mut first, mut last) = (i64::MAX, 0);
        for id in &ids {
            // Few looks, which would take time from the runs.
            let run = self.ended(id, "ada", Duration::from_millis(500)).await?;
            first = first.min(run["createdAt"].as_i64().unwrap_or_default());
            last = last.max(run["endedAt"].as_i64().unwrap_or_default());
        }
        Ok((runs * steps) as f64 * 1e3 / (last - first).max(1) as f64)
    }

    /// Returns how long runs waited for their first step, in milliseconds.
    async fn starts(&self, samples: usize) -> Result<Vec<f64>> {
        let mut waited = Vec::new();
        for _ in 0..samples {
            let id = self.start("one", &json!({}), "bob").await?;
            let run = self.ended(&id, "bob", Duration::from_millis(10)).await?;
            let started = run["stepRecords"][0]["startedAt"].as_i64().context("the step has started")?;
            waited.push((started - run["createdAt"].as_i64().unwrap_or_default()) as f64);
        }
        Ok(waited)
    }

    /// Returns how long webhooks waited for their answers, in milliseconds.
    async fn webhooks(&self, samples: usize) -> Result<Vec<f64>> {
        let url = format!("{}/api/hooks/hook/hook", self.server.origin);
        let mut waited = Vec::new();
        for number in 0..samples {
            let begun = Instant::now();
            let request = self.http.post(&url).bearer_auth(KEY).json(&json!({ "number": number }));
            request.send().await?.error_for_status()?;
            waited.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        Ok(waited)
    }

    /// Returns the cost of waiting runs: memory in MB, and CPU seconds per second.
    async fn waiting(&self, runs: usize) -> Result<(f64, f64)> {
        let before = self.server.memory_mb()?;
        let mut user = String::new();
        for number in 0..runs {
            user.clear();
            write!(user, "waiting-{}", number / RUNS_PER_USER)?;
            let id = self.start("ask", &json!({}), &user).await?;
            if number + 1 == runs {
                while self.detail(&id, &user).await?["state"] != "waiting" {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
        // Waits until the memory of the requests themselves is released.
        tokio::time::sleep(Duration::from_secs(10)).await;
        let memory = (self.server.memory_mb()? - before).max(0.0);
        let cpu = self.server.cpu_s()?;
        tokio::time::sleep(Duration::from_secs(10)).await;
        Ok((memory, (self.server.cpu_s()? - cpu) / 10.0))
    }
}

/// Returns a percentile.
fn percentile(mut samples: Vec<f64>, percent: usize) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get((samples.len() * percent / 100).min(samples.len().saturating_sub(1))).copied().unwrap_or_default()
}
