//! Rows L1 to L3 and L6, shortened: many concurrent streams. Each delta contains the time when the
//! provider sent it, which measures the time through the server. Provider, server and clients share
//! the machine.

use crate::client::JoinOutcome;
use crate::measure;
use crate::provider::Script;
use crate::scenario::{Outcome, RunOptions, Testbed};
use anyhow::{Result, ensure};
use futures::future::try_join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The parameters and limits of a load.
struct Load {
    name: &'static str,
    streams: usize,
    /// The number of deltas per stream, and the milliseconds between two.
    deltas: usize,
    pause: u64,
    tools: usize,
    /// The maximum p99 from the provider to the client in ms, for a release build.
    p99: f64,
    /// The maximum resident memory in MB.
    memory: f64,
    /// The number of short requests of another client per second.
    requests: u32,
}

/// The time over which the streams start. Starting all at one moment would measure something else.
const RAMP_UP: Duration = Duration::from_secs(4);

/// The maximum p99 of another client's requests in ms.
pub(crate) const MAX_BYSTANDER_MS: f64 = 500.0;

/// Row L1: 100 streams, 50 deltas per second, a tool call each.
pub(crate) async fn hundred(options: &RunOptions) -> Result<Outcome> {
    run(
        options,
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

/// Row L2: 500 streams, 20 deltas per second.
pub(crate) async fn five_hundred(options: &RunOptions) -> Result<Outcome> {
    run(
        options,
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

/// Row L3: 1,000 streams, 10 deltas per second.
pub(crate) async fn thousand(options: &RunOptions) -> Result<Outcome> {
    run(
        options,
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

async fn run(options: &RunOptions, load: Load) -> Result<Outcome> {
    let testbed = Testbed::new(options, load.name).await?;
    let server = testbed.setup.start(&testbed.history).await?;
    let warm = testbed.client(&server, "warm")?;
    warm.turn("warm", &Script { tag: "warm-0".to_owned(), deltas: 3, ..Script::default() }, None).await?;
    let (before, clock, over) = (server.connections()?, testbed.provider.clock, Arc::new(AtomicBool::new(false)));
    let clients: Vec<_> =
        (0..load.streams).map(|number| testbed.client(&server, &format!("u{number}"))).collect::<Result<_>>()?;
    let apart = RAMP_UP / u32::try_from(load.streams)?;
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
                measure::send_and_time(&client, &format!("c-{user}"), &script, clock).await
            };
            tokio::spawn(stream).await?
        }
    });
    let memory = tokio::spawn(measure::peak_memory(server.id()?, over.clone()));
    let requests = tokio::spawn(measure::send_requests(warm, load.requests, over.clone()));
    let begun = Instant::now();
    let all = try_join_all(streams).await;
    let took = begun.elapsed();
    over.store(true, Relaxed);
    let (all, most, requests) = (all?, memory.await?, requests.await?);
    let late: Vec<f64> = all.into_iter().flatten().map(|piece| piece.delay_ms).collect();
    ensure!(
        late.len() == load.streams * load.deltas,
        "{} deltas of {} were received",
        late.len(),
        load.streams * load.deltas
    );
    let (p99, bystander) = (measure::p99(late), measure::p99(requests.waits));
    let (mut outcome, slack) = (Outcome { injected: load.streams as u64, ..Outcome::default() }, options.time_factor());
    outcome.expect(p99 <= load.p99 * slack, || format!("p99 is {p99:.0} ms"));
    outcome.expect(bystander <= MAX_BYSTANDER_MS * slack, || format!("I11 p99 of another client is {bystander:.0} ms"));
    outcome.violations.extend(requests.wrong);
    outcome.expect(requests.refused.is_empty(), || {
        format!("I11 {} requests of another client were refused", requests.refused.len())
    });
    outcome.expect(most <= load.memory * slack.min(2.0), || format!("I9 {most:.0} MB"));
    measure::check_connections_closed(&server, before, &mut outcome).await?;
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    outcome.worst =
        format!("p99 {p99:.0} ms, of another client {bystander:.0} ms, {most:.0} MB, {:.0} s", took.as_secs_f64());
    Ok(outcome)
}

/// The number of clients that lose their connection.
const CLIENTS: usize = 300;

/// Row L6: all clients reconnect at the same moment with their cursors, and receive the rest
/// without gaps or repetitions.
pub(crate) async fn reconnect_storm(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "reconnect-storm").await?;
    let server = testbed.setup.start(&testbed.history).await?;
    let mut left = Vec::new();
    for number in 0..CLIENTS {
        let user = format!("u{number}");
        let client = testbed.client(&server, &user)?;
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
            let crate::client::StreamEnd::Cut(Some(cursor)) = end else {
                anyhow::bail!("the stream had ended: {end:?}")
            };
            let JoinOutcome::Stream(stream) = client.join(&conversation, Some(&cursor)).await? else {
                anyhow::bail!("no run to join")
            };
            let joined = begun.elapsed();
            anyhow::Ok((joined, client.read(&conversation, stream, None).await))
        })
    });
    let (mut outcome, mut slowest) = (Outcome { injected: CLIENTS as u64, ..Outcome::default() }, Duration::ZERO);
    for client in joined.collect::<Vec<_>>() {
        let (joined, end) = client.await??;
        slowest = slowest.max(joined);
        outcome.expect(end.is_finished(), || format!("a stream is incomplete: {end:?}"));
    }
    outcome.expect(slowest < Duration::from_secs(10), || format!("the last client reconnected after {slowest:?}"));
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    outcome.worst = format!("all reconnected after {} ms", slowest.as_millis());
    Ok(outcome)
}
