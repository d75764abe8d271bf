//! Row A45: costly JSON Schemas. A hundred clients request responses in such a schema, and agents
//! call a tool with one. Health checks are not delayed, and the server can be stopped meanwhile.

use crate::client::Client;
use crate::measure;
use crate::peer;
use crate::provider::Script;
use crate::scenario::{Outcome, RunOptions, Testbed};
use anyhow::Result;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The number of concurrent clients.
const PROGRAMS: usize = 100;
/// The number of concurrent turns that call the tool.
const TURNS: usize = 20;
/// The maximum p99 of `/healthz` in ms.
const MAX_HEALTHZ_MS: f64 = 50.0;
/// The maximum time of the shutdown.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(20);

/// Runs the scenario.
pub(crate) async fn costly_schemas(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "costly-schemas").await?;
    let mut setup = testbed.setup.clone();
    setup.has_peer = true;
    let server = setup.start(&testbed.history).await?;
    let client = testbed.client(&server, "u0")?;
    let mut outcome = Outcome { injected: (2 * PROGRAMS + TURNS) as u64, ..Outcome::default() };
    // Starts the MCP server and completes first-time work.
    client.turn("warm", &Script { tag: "u0-warm".to_owned(), looks: 1, deltas: 1, ..Script::default() }, None).await?;

    let over = Arc::new(AtomicBool::new(false));
    let well = tokio::spawn(poll_healthz(client.clone(), over.clone()));
    let begun = Instant::now();
    let programs: Vec<_> = (0..PROGRAMS).map(|number| tokio::spawn(invoke(client.clone(), number))).collect();
    let turns = (0..TURNS).map(|number| {
        let client = client.clone();
        let script = Script { tag: format!("u0-{number}"), costly: 1, deltas: 1, ..Script::default() };
        tokio::spawn(async move { client.turn(&format!("c{number}"), &script, None).await })
    });
    for turn in turns.collect::<Vec<_>>() {
        outcome.expect(turn.await??.is_finished(), || "a turn with a costly call does not end".to_owned());
    }
    let (mut checked, mut refused, mut busy) = (0, 0, 0);
    for program in programs {
        let answer = program.await??;
        match answer.status().as_u16() {
            200 => {
                let answer: Value = answer.json().await?;
                outcome.expect(answer["status"] == "failed", || {
                    format!("a reply with a costly schema is {}", answer["status"])
                });
                checked += 1;
            }
            422 => refused += 1,
            503 => busy += 1,
            status => outcome.violations.push(format!("a client was answered with {status}")),
        }
    }
    let took = begun.elapsed();
    over.store(true, Relaxed);
    let waits = well.await??;
    let (asked, longest) = (waits.len(), measure::p99(waits));
    outcome.expect(asked > 0 && checked > 0 && refused > 0, || {
        format!("{asked} health checks, {checked} schema checks, {refused} refused schemas")
    });
    outcome.expect(longest <= MAX_HEALTHZ_MS * options.time_factor(), || format!("p99 of /healthz is {longest:.1} ms"));

    let cut: Vec<_> = (0..PROGRAMS).map(|number| tokio::spawn(invoke(client.clone(), number))).collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let begun = Instant::now();
    server.stop().await?;
    let ended = begun.elapsed();
    outcome.expect(ended <= SHUTDOWN_LIMIT, || format!("the server ends after {ended:?}"));
    cut.iter().for_each(tokio::task::JoinHandle::abort);
    outcome.violations.extend(testbed.check().await?);
    outcome.worst = format!(
        "p99 of /healthz {longest:.1} ms ({asked} requests), {checked} schema checks, {refused} refused schemas and {busy} refusals in {:.1} s, shutdown in {:.1} s",
        took.as_secs_f64(),
        ended.as_secs_f64()
    );
    Ok(outcome)
}

/// Requests a response with a schema that cannot be checked in finite time, one with patterns that
/// are costly to compile, or one with a pattern that is costly for the response.
async fn invoke(client: Client, number: usize) -> Result<Response> {
    let (schema, says) = match number % 3 {
        0 => (peer::costly_schema(), json!({})),
        1 => (peer::costly_patterns(), json!({})),
        _ => (json!({ "pattern": "[ab]*a[ab]{2000}[cd]" }), json!("ab".repeat(4_500))),
    };
    let script = Script { tag: format!("program-{number}"), says: Some(says.to_string()), ..Script::default() };
    let schema = json!({ "name": "answer", "strict": false, "schema": schema });
    let body = json!({ "agent_name": "worker", "input": { "prompt": script.message() }, "response_schema": schema });
    Ok(client.request(Method::POST, "/api/runs/invoke").json(&body).send().await?)
}

/// Requests `/healthz` repeatedly until `over` is set; returns the response times in ms.
async fn poll_healthz(client: Client, over: Arc<AtomicBool>) -> Result<Vec<f64>> {
    let mut waits = Vec::new();
    while !over.load(Relaxed) {
        let begun = Instant::now();
        client.request(Method::GET, "/healthz").send().await?.error_for_status()?;
        waits.push(begun.elapsed().as_secs_f64() * 1e3);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(waits)
}
