//! L1 to L3 and L6, shortened: many streams at once. Each piece says when the provider sent it, so that the way through the server
//! is what is measured; provider, server and clients share the machine.

use crate::client::Client;
use crate::provider::Script;
use crate::scenario::{Given, Outcome, World};
use crate::server::Server;
use anyhow::{Result, ensure};
use futures::StreamExt;
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
}

/// A debug build is ten times as slow, and is measured to see that nothing breaks, not how fast it is.
const DEBUG: f64 = 20.0;

/// L1: 100 streams, 50 pieces a second, a tool each.
pub(crate) async fn hundred(given: &Given) -> Result<Outcome> {
    run(given, Load { name: "load-100", streams: 100, deltas: 500, pause: 20, tools: 1, p99: 50.0, memory: 250.0 })
        .await
}

/// L2: 500 streams, 20 pieces a second.
pub(crate) async fn five_hundred(given: &Given) -> Result<Outcome> {
    run(given, Load { name: "load-500", streams: 500, deltas: 300, pause: 50, tools: 0, p99: 250.0, memory: 250.0 })
        .await
}

/// L3: 1,000 streams, 10 pieces a second.
pub(crate) async fn thousand(given: &Given) -> Result<Outcome> {
    run(given, Load { name: "load-1000", streams: 1_000, deltas: 200, pause: 100, tools: 0, p99: 500.0, memory: 300.0 })
        .await
}

async fn run(given: &Given, load: Load) -> Result<Outcome> {
    let world = World::new(given, load.name).await?;
    let server = world.setup.start(&world.history).await?;
    let warm = world.client(&server, "warm")?;
    warm.turn("warm", &Script { tag: "warm-0".to_owned(), deltas: 3, ..Script::default() }, None).await?;
    let (before, clock, over) = (server.connections()?, world.provider.began, Arc::new(AtomicBool::new(false)));
    let streams = (0..load.streams).map(|number| {
        let user = format!("u{number}");
        let client = world.client(&server, &user);
        let script = Script {
            tag: format!("{user}-0"),
            tools: load.tools,
            deltas: load.deltas,
            pause: load.pause,
            timed: true,
            ..Script::default()
        };
        async move {
            let client = client?;
            tokio::spawn(async move { times(&client, &format!("c-{user}"), &script, clock).await }).await?
        }
    });
    let memory = {
        let (over, id) = (over.clone(), server.id()?);
        tokio::spawn(async move { peak(id, &over).await })
    };
    let begun = Instant::now();
    let all = try_join_all(streams).await;
    let took = begun.elapsed();
    over.store(true, Relaxed);
    let (all, most) = (all?, memory.await?);
    let mut late: Vec<f64> = all.into_iter().flatten().collect();
    late.sort_by(f64::total_cmp);
    ensure!(late.len() == load.streams * load.deltas, "{} pieces of {} came", late.len(), load.streams * load.deltas);
    let p99 = late[(late.len() - 1) * 99 / 100];
    let (mut outcome, slack) =
        (Outcome { injected: load.streams as u64, ..Outcome::default() }, if given.is_debug() { DEBUG } else { 1.0 });
    outcome.expect(p99 <= load.p99 * slack, || format!("p99 is {p99:.0} ms"));
    outcome.expect(most <= load.memory * if slack > 1.0 { 2.0 } else { 1.0 }, || format!("I9 {most:.0} MB"));
    freed(&server, before, &mut outcome).await?;
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    outcome.worst = format!("p99 {p99:.0} ms, {most:.0} MB, {:.0} s", took.as_secs_f64());
    Ok(outcome)
}

/// One stream; how late each piece was, in ms.
async fn times(client: &Client, conversation: &str, script: &Script, clock: Instant) -> Result<Vec<f64>> {
    let stream = match client.send(conversation, script).await? {
        Ok(stream) => stream,
        Err(status) => anyhow::bail!("refused with {status}"),
    };
    let (mut decoder, mut bytes, mut late) =
        (sse::Decoder::new(sse::Limits::default()), stream.bytes_stream(), Vec::new());
    while let Some(piece) = bytes.next().await {
        ensure!(decoder.push(&piece?).is_ok(), "an event is too large");
        let now = clock.elapsed().as_micros() as f64;
        while let Some(event) = decoder.next() {
            // `…"delta":"123456 "}`
            let sent = event.data.strip_suffix(" \"}").and_then(|data| data.rsplit('"').next()?.parse::<f64>().ok());
            late.extend(sent.map(|sent| (now - sent) / 1e3));
        }
    }
    Ok(late)
}

async fn peak(id: u32, over: &AtomicBool) -> f64 {
    let mut most: f64 = 0.0;
    while !over.load(Relaxed) {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kb: Option<f64> = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        most = most.max(kb.unwrap_or_default() / 1024.0);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    most
}

/// I9: what was open for the streams is closed again.
async fn freed(server: &Server, before: usize, outcome: &mut Outcome) -> Result<()> {
    let begun = Instant::now();
    loop {
        let open = server.connections()?;
        if open <= before + 2 {
            return Ok(());
        }
        if begun.elapsed() > Duration::from_secs(15) {
            outcome.violations.push(format!("I9 {open} connections are open, {before} were"));
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
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
            let Some(stream) = client.join(&conversation, Some(&cursor)).await? else {
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
