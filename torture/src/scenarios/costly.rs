//! A45: schemas that were made to cost. A hundred programs ask for answers in such a form at once, and agents call a tool with such a schema;
//! who asks whether the server is well does not notice. Told to end in the midst of it, the server ends.

use crate::client::Client;
use crate::measure;
use crate::peer;
use crate::provider::Script;
use crate::scenario::{Given, Outcome, World};
use anyhow::Result;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Programs that ask at once.
const PROGRAMS: usize = 100;
/// Agents that call the tool at once.
const TURNS: usize = 20;
/// How long `/healthz` may take (p99), in ms.
const HEALTHY: f64 = 50.0;
/// How long the server may take to end.
const ENDS: Duration = Duration::from_secs(20);

/// All of it.
pub(crate) async fn schemas(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "costly-schemas").await?;
    let mut setup = world.setup.clone();
    setup.has_peer = true;
    let server = setup.start(&world.history).await?;
    let client = world.client(&server, "u0")?;
    let mut outcome = Outcome { injected: (2 * PROGRAMS + TURNS) as u64, ..Outcome::default() };
    // So that the MCP server runs, and what comes first has come.
    client.turn("warm", &Script { tag: "u0-warm".to_owned(), looks: 1, deltas: 1, ..Script::default() }, None).await?;

    let over = Arc::new(AtomicBool::new(false));
    let well = tokio::spawn(healthz(client.clone(), over.clone()));
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
    let (mut checked, mut busy) = (0, 0);
    for program in programs {
        let answer = program.await??;
        match answer.status().as_u16() {
            200 => {
                let answer: Value = answer.json().await?;
                outcome.expect(answer["status"] == "failed", || format!("a costly answer is {}", answer["status"]));
                checked += 1;
            }
            503 => busy += 1,
            status => outcome.violations.push(format!("a program was answered with {status}")),
        }
    }
    let took = begun.elapsed();
    over.store(true, Relaxed);
    let waits = well.await??;
    let (asked, longest) = (waits.len(), measure::p99(waits));
    outcome.expect(asked > 0 && checked > 0, || format!("{asked} looks, {checked} checks"));
    outcome.expect(longest <= HEALTHY * given.slack(), || format!("p99 of /healthz is {longest:.1} ms"));

    let cut: Vec<_> = (0..PROGRAMS).map(|number| tokio::spawn(invoke(client.clone(), number))).collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let begun = Instant::now();
    server.stop().await?;
    let ended = begun.elapsed();
    outcome.expect(ended <= ENDS, || format!("the server ends after {ended:?}"));
    cut.iter().for_each(tokio::task::JoinHandle::abort);
    outcome.violations.extend(world.check().await?);
    outcome.worst = format!(
        "p99 of /healthz {longest:.1} ms ({asked} looks), {checked} answers refused and {busy} told to come again in {:.1} s, ended in {:.1} s",
        took.as_secs_f64(),
        ended.as_secs_f64()
    );
    Ok(outcome)
}

/// Asks for an answer in a form that nothing can be compared with.
async fn invoke(client: Client, number: usize) -> Result<Response> {
    let script = Script { tag: format!("program-{number}"), says: Some("{}".to_owned()), ..Script::default() };
    let schema = json!({ "name": "answer", "strict": false, "schema": peer::costly_schema() });
    let body = json!({ "agent_name": "worker", "input": { "prompt": script.message() }, "response_schema": schema });
    Ok(client.ask(Method::POST, "/api/runs/invoke").json(&body).send().await?)
}

/// Asks again and again whether the server is well, until something is over; how long each look took, in ms.
async fn healthz(client: Client, over: Arc<AtomicBool>) -> Result<Vec<f64>> {
    let mut waits = Vec::new();
    while !over.load(Relaxed) {
        let begun = Instant::now();
        client.ask(Method::GET, "/healthz").send().await?.error_for_status()?;
        waits.push(begun.elapsed().as_secs_f64() * 1e3);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(waits)
}
