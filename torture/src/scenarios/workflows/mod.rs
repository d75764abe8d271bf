//! Rows F47 to F49: runs of workflows while their server is killed at random moments, on SQLite, and on
//! PostgreSQL with three servers, one of which is frozen and woken; and at each commit ([`sweep`]). Each
//! step has its effect once, and each run ends, also if the definition changes meanwhile.

mod sweep;

pub(crate) use sweep::kill_at_every_commit;

use crate::client::Client;
use crate::history::Op;
use crate::random::Random;
use crate::scenario::{Outcome, RunOptions, Testbed, Tier};
use crate::server::{Server, Setup};
use anyhow::{Context, Result};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The tags of the runs by their ids.
type Tags = BTreeMap<String, String>;

/// The runs that are started before each kill.
const RUNS: u64 = 6;
/// The servers on PostgreSQL.
const SERVERS: usize = 3;
/// The latest kill after the runs have started, in milliseconds.
const MAX_DELAY_MS: u64 = 1_500;
/// How long a server is frozen: longer than its lease.
const FROZEN: Duration = Duration::from_secs(20);
/// The time that a server has to finish its writes after a freeze, before its steps are decided.
const GRACE: Duration = Duration::from_secs(5);
/// The time until all runs have ended after the last fault.
const PATIENCE: Duration = Duration::from_secs(180);

/// Builds the section with the key of the last step.
macro_rules! definition {
    ($last:literal) => {
        concat!(
            "workflows:\n",
            "  - id: effects\n",
            "    input: { type: object, properties: { tag: { type: string } }, required: [tag] }\n",
            "    steps:\n",
            "      - { id: first, type: endpoint, endpointId: effect, payload: { key: { _template: '{{ input.tag }}-first' } } }\n",
            "      - id: both\n",
            "        type: parallel\n",
            "        branches:\n",
            "          a:\n",
            "            - { id: a1, type: endpoint, endpointId: effect, payload: { key: { _template: '{{ input.tag }}-a1' } } }\n",
            "            - { id: a2, type: endpoint, endpointId: effect, payload: { key: { _template: '{{ input.tag }}-a2' } } }\n",
            "          b:\n",
            "            - { id: pause, type: wait, seconds: 1 }\n",
            "            - { id: b1, type: endpoint, endpointId: effect, payload: { key: { _template: '{{ input.tag }}-b1' } } }\n",
            "      - { id: end, type: endpoint, endpointId: effect, payload: { key: { _template: '{{ input.tag }}-",
            $last,
            "' } } }\n"
        )
    };
}
/// Two versions of the definition, which end with different effects.
const VERSIONS: [&str; 2] = [definition!("last"), definition!("final")];

/// The effects of a run without the last one.
const EFFECTS: [&str; 4] = ["first", "a1", "a2", "b1"];

/// How often a server is killed, unless the time is over before.
fn most_faults(options: &RunOptions, merge: u64) -> u64 {
    if options.tier == Tier::One { merge } else { 500 }
}

/// Returns whether the time is over that was asked for.
fn is_over(options: &RunOptions, begun: Instant) -> bool {
    options.seconds.is_some_and(|seconds| begun.elapsed() > Duration::from_secs(seconds))
}

/// Kills the only server.
pub(crate) async fn kill_sqlite(options: &RunOptions) -> Result<Outcome> {
    let begun = Instant::now();
    let testbed = Testbed::new(options, "workflows").await?;
    let (mut random, mut tags, mut outcome) = (Random::from_seed(options.seed), Tags::new(), Outcome::default());
    for round in 0..most_faults(options, 10) {
        if is_over(options, begun) {
            break;
        }
        let setup = Setup { workflows: VERSIONS[(round % 2) as usize], ..testbed.setup.clone() };
        let server = setup.start(&testbed.history).await?;
        let client = testbed.client(&server, "u0")?;
        start_runs(&client, round, &mut tags).await?;
        decide_all(&client, &testbed, &tags).await?;
        tokio::time::sleep(Duration::from_millis(random.below(MAX_DELAY_MS))).await;
        server.kill(&testbed.history).await?;
        outcome.injected += 1;
    }
    let server = Setup { workflows: VERSIONS[0], ..testbed.setup.clone() }.start(&testbed.history).await?;
    let took = wait_for_ends(&testbed.client(&server, "u0")?, &testbed, &tags).await?;
    server.stop().await?;
    check(&testbed, &tags, &mut outcome);
    outcome.worst = format!("{} runs; the last ended {:.1} s after the last kill", tags.len(), took.as_secs_f64());
    Ok(outcome)
}

/// Kills and freezes one of three servers.
pub(crate) async fn replicas(options: &RunOptions) -> Result<Outcome> {
    let Some(url) = test_postgres::new_database().await else {
        return Ok(Outcome::skipped("PostgreSQL is not installed"));
    };
    let begun = Instant::now();
    let testbed = Testbed::new(options, "workflow-replicas").await?;
    let setup = |number: usize, version: usize| Setup {
        folder: testbed.setup.folder.join(format!("server-{number}")),
        database: Some(url.clone()),
        // A call that is frozen does not fail for it: its step would, if no other server has taken the run.
        ledger_timeout: 60_000,
        workflows: VERSIONS[version % 2],
        ..testbed.setup.clone()
    };
    let mut servers = Vec::new();
    for number in 0..SERVERS {
        servers.push(setup(number, 0).start(&testbed.history).await?);
    }
    let (mut random, mut tags, mut outcome) = (Random::from_seed(options.seed), Tags::new(), Outcome::default());
    let mut freezes = 0;
    for round in 0..most_faults(options, 4) {
        if is_over(options, begun) {
            break;
        }
        let (hit, asked) = (round as usize % SERVERS, (round as usize + 1) % SERVERS);
        let client = testbed.client(&servers[asked], "u0")?;
        start_runs(&client, round, &mut tags).await?;
        tokio::time::sleep(Duration::from_millis(random.below(MAX_DELAY_MS))).await;
        // One of four faults is a freeze, which takes longer than a kill.
        if round % 4 == 1 {
            freezes += 1;
            servers[hit].signal(rustix::process::Signal::STOP)?;
            tokio::time::sleep(FROZEN).await;
            servers[hit].signal(rustix::process::Signal::CONT)?;
            tokio::time::sleep(GRACE).await;
        } else {
            let next = setup(hit, round as usize).start(&testbed.history).await?;
            std::mem::replace(&mut servers[hit], next).kill(&testbed.history).await?;
        }
        decide_all(&client, &testbed, &tags).await?;
        outcome.injected += 1;
    }
    let took = wait_for_ends(&testbed.client(&servers[0], "u0")?, &testbed, &tags).await?;
    for server in servers {
        Server::stop(server).await?;
    }
    check(&testbed, &tags, &mut outcome);
    let (runs, took) = (tags.len(), took.as_secs_f64());
    outcome.worst =
        format!("{runs} runs on {SERVERS} servers, {freezes} freezes; the last ended {took:.1} s after the last fault");
    Ok(outcome)
}

/// Starts runs. Each that was acknowledged must end.
async fn start_runs(client: &Client, round: u64, tags: &mut Tags) -> Result<()> {
    for number in 0..RUNS {
        start_run(client, format!("w{round}-{number}"), tags).await?;
    }
    Ok(())
}

async fn start_run(client: &Client, tag: String, tags: &mut Tags) -> Result<()> {
    let body = json!({ "input": { "tag": tag } });
    let sent = client.request(Method::POST, "/api/workflows/effects/runs").json(&body).send().await?;
    let run: Value = sent.error_for_status()?.json().await?;
    let id = run["id"].as_str().context("a run has an id")?.to_owned();
    client.history().add(Op::WorkflowRun { tag: tag.clone(), state: "started".to_owned() });
    tags.insert(id, tag);
    Ok(())
}

async fn run(client: &Client, id: &str) -> Result<Value> {
    let sent = client.request(Method::GET, &format!("/api/workflows/runs/{id}")).send().await?;
    Ok(sent.error_for_status()?.json().await?)
}

/// Decides like a person about steps whose outcome is unknown: looks up whether they had their effect.
async fn decide(client: &Client, testbed: &Testbed, id: &str, tag: &str, run: &Value) -> Result<()> {
    let effects = testbed.ledger.counts();
    for step in run["stepRecords"].as_array().into_iter().flatten().filter(|step| step["state"] == "unknown") {
        let key = step["input"]["key"].as_str().unwrap_or_default();
        anyhow::ensure!(key.starts_with(tag), "the step {step} has another run's input");
        let action = if effects.contains_key(key) { "skip" } else { "runAgain" };
        let body = json!({ "path": step["path"], "action": action, "output": {} });
        let path = format!("/api/workflows/runs/{id}/decide");
        let sent = client.request(Method::POST, &path).json(&body).send().await?;
        // Another look may have decided already.
        anyhow::ensure!(sent.status().is_success() || sent.status() == 409, "{path}: {}", sent.status());
    }
    Ok(())
}

async fn decide_all(client: &Client, testbed: &Testbed, tags: &Tags) -> Result<()> {
    for (id, tag) in tags.iter().rev().take(4 * RUNS as usize) {
        decide(client, testbed, id, tag, &run(client, id).await?).await?;
    }
    Ok(())
}

/// Waits until all runs have ended, and records how; returns how long it took.
async fn wait_for_ends(client: &Client, testbed: &Testbed, tags: &Tags) -> Result<Duration> {
    let begun = Instant::now();
    for (id, tag) in tags {
        loop {
            let run = run(client, id).await?;
            let has_ended = run["endedAt"].is_i64();
            if has_ended || begun.elapsed() > PATIENCE {
                let state = run["state"].as_str().unwrap_or_default();
                let state = if state == "done" { state.to_owned() } else { format!("{state}: {}", run["error"]) };
                client.history().add(Op::WorkflowRun { tag: tag.clone(), state });
                break;
            }
            decide(client, testbed, id, tag, &run).await?;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    Ok(begun.elapsed())
}

/// I16: each run that was acknowledged is done, and each of its steps had its effect once.
fn check(testbed: &Testbed, tags: &Tags, outcome: &mut Outcome) {
    let (mut effects, ops) = (testbed.ledger.counts(), testbed.history.read().unwrap_or_default());
    let ends: BTreeMap<_, _> = ops
        .iter()
        .filter_map(|op| match op {
            Op::WorkflowRun { tag, state } => Some((tag.as_str(), state.as_str())),
            _ => None,
        })
        .collect();
    for tag in tags.values() {
        let end = ends.get(tag.as_str()).copied().unwrap_or_default();
        outcome.expect(end == "done", || format!("I16 the run {tag} did not end as done, but as {end}"));
        for effect in EFFECTS {
            let count = effects.remove(&format!("{tag}-{effect}")).unwrap_or_default();
            outcome.expect(count == 1, || format!("I16 {tag}-{effect} happened {count} times"));
        }
        let ends = ["last", "final"].map(|end| effects.remove(&format!("{tag}-{end}")).unwrap_or_default());
        outcome.expect(ends == [1, 0] || ends == [0, 1], || format!("I16 {tag} ended with {ends:?} effects"));
    }
    outcome.expect(effects.is_empty(), || format!("I16 effects of no run: {effects:?}"));
}
