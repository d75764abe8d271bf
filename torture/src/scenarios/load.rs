//! L1 to L3 and L6, shortened: many streams at once. Each piece says when the provider sent it, so that the way through the server
//! is what is measured; provider, server and clients share the machine.

use crate::client::Joined;
use crate::measure;
use crate::provider::Script;
use crate::scenario::{Given, Outcome, World};
use anyhow::{Result, ensure};
use futures::future::try_join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// What is driven, and what it may take.
struct Load {
    name: &'static str,
    streams: usize,
    /// Pieces of each, and milliseconds between two.
    deltas: usize,
    pause: u64,
    tools: usize,
    /// The 99th percentile from the provider to the client, in ms, for a release build.
    p99: f64,
    /// Resident memory, in MB.
    memory: f64,
    /// Short requests of somebody else in a second.
    requests: u32,
}

/// In how much time the streams begin. All in one moment would be another test, and of a load that goes on for minutes its first
/// moment is nothing.
const STARTS: Duration = Duration::from_secs(4);

/// The 99th percentile of what somebody else waits for an answer, in ms.
pub(crate) const BYSTANDER: f64 = 500.0;

/// L1: 100 streams, 50 pieces a second, a tool each.
pub(crate) async fn hundred(given: &Given) -> Result<Outcome> {
    run(
        given,
        Load {
            name: "load-100",
            streams: 100,
            deltas: 500,
            pause: 20,
            tools: 1,
            p99: 50.0,
            memory: 250.0,
            requests: 5,
        },
    )
    .await
}

/// L2: 500 streams, 20 pieces a second.
pub(crate) async fn five_hundred(given: &Given) -> Result<Outcome> {
    run(
        given,
        Load {
            name: "load-500",
            streams: 500,
            deltas: 300,
            pause: 50,
            tools: 0,
            p99: 250.0,
            memory: 250.0,
            requests: 5,
        },
    )
    .await
}

/// L3: 1,000 streams, 10 pieces a second.
pub(crate) async fn thousand(given: &Given) -> Result<Outcome> {
    run(
        given,
        Load {
            name: "load-1000",
            streams: 1_000,
            deltas: 200,
            pause: 100,
            tools: 0,
            p99: 500.0,
            memory: 300.0,
            requests: 50,
        },
    )
    .await
}

async fn run(given: &Given, load: Load) -> Result<Outcome> {
    let world = World::new(given, load.name).await?;
    let server = world.setup.start(&world.history).await?;
    let warm = world.client(&server, "warm")?;
    warm.turn("warm", &Script { tag: "warm-0".to_owned(), deltas: 3, ..Script::default() }, None).await?;
    let (before, clock, over) = (server.connections()?, world.provider.began, Arc::new(AtomicBool::new(false)));
    let clients: Vec<_> =
        (0..load.streams).map(|number| world.client(&server, &format!("u{number}"))).collect::<Result<_>>()?;
    let apart = STARTS / u32::try_from(load.streams)?;
    let streams = clients.into_iter().zip(0..).map(|(client, number)| {
        let user = format!("u{number}");
        let script = Script {
            tag: format!("{user}-0"),
            tools: load.tools,
            deltas: load.deltas,
            pause: load.pause,
            timed: true,
            ..Script::default()
        };
        async move {
            let stream = async move {
                tokio::time::sleep(apart * number).await;
                measure::pieces(&client, &format!("c-{user}"), &script, clock).await
            };
            tokio::spawn(stream).await?
        }
    });
    let memory = tokio::spawn(measure::peak(server.id()?, over.clone()));
    let requests = tokio::spawn(measure::requests(warm, load.requests, over.clone()));
    let begun = Instant::now();
    let all = try_join_all(streams).await;
    let took = begun.elapsed();
    over.store(true, Relaxed);
    let (all, most, requests) = (all?, memory.await?, requests.await?);
    let late: Vec<f64> = all.into_iter().flatten().map(|piece| piece.late).collect();
    ensure!(late.len() == load.streams * load.deltas, "{} pieces of {} came", late.len(), load.streams * load.deltas);
    let (p99, bystander) = (measure::p99(late), measure::p99(requests.waits));
    let (mut outcome, slack) = (Outcome { injected: load.streams as u64, ..Outcome::default() }, given.slack());
    outcome.expect(p99 <= load.p99 * slack, || format!("p99 is {p99:.0} ms"));
    outcome.expect(bystander <= BYSTANDER * slack, || format!("I11 p99 of a bystander is {bystander:.0} ms"));
    outcome.violations.extend(requests.wrong);
    outcome.expect(requests.refused.is_empty(), || {
        format!("I11 {} requests of a bystander were refused", requests.refused.len())
    });
    outcome.expect(most <= load.memory * slack.min(2.0), || format!("I9 {most:.0} MB"));
    measure::freed(&server, before, &mut outcome).await?;
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    outcome.worst =
        format!("p99 {p99:.0} ms, of a bystander {bystander:.0} ms, {most:.0} MB, {:.0} s", took.as_secs_f64());
    Ok(outcome)
}

/// Clients that all lose their connection at once.
const STORM: usize = 300;

/// L6: all come back at the same moment with their cursors, and read on without a hole or a repetition.
pub(crate) async fn storm(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "reconnect-storm").await?;
    let server = world.setup.start(&world.history).await?;
    let mut left = Vec::new();
    for number in 0..STORM {
        let user = format!("u{number}");
        let client = world.client(&server, &user)?;
        let script = Script { tag: format!("{user}-0"), deltas: 600, pause: 50, ..Script::default() };
        left.push(tokio::spawn(async move {
            let conversation = format!("c-{user}");
            let Ok(stream) = client.send(&conversation, &script).await? else { anyhow::bail!("refused") };
            let end = client.read(&conversation, stream, Some(20)).await;
            anyhow::Ok((client, conversation, end))
        }));
    }
    let mut waiting = Vec::new();
    for client in left {
        waiting.push(client.await??);
    }
    let begun = Instant::now();
    let joined = waiting.into_iter().map(|(client, conversation, end)| {
        tokio::spawn(async move {
            let crate::client::End::Cut(Some(cursor)) = end else { anyhow::bail!("it had ended: {end:?}") };
            let Joined::Stream(stream) = client.join(&conversation, Some(&cursor)).await? else {
                anyhow::bail!("nothing to join")
            };
            let joined = begun.elapsed();
            anyhow::Ok((joined, client.read(&conversation, stream, None).await))
        })
    });
    let (mut outcome, mut slowest) = (Outcome { injected: STORM as u64, ..Outcome::default() }, Duration::ZERO);
    for client in joined.collect::<Vec<_>>() {
        let (joined, end) = client.await??;
        slowest = slowest.max(joined);
        outcome.expect(end.is_finished(), || format!("a stream was not whole: {end:?}"));
    }
    outcome.expect(slowest < Duration::from_secs(10), || format!("the last one is back after {slowest:?}"));
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    outcome.worst = format!("all back after {} ms", slowest.as_millis());
    Ok(outcome)
}
