//! L4: thousands of connections on which nothing is said, beside a few on which something is. Signs of life come in time and not all at
//! once, memory is small, and nothing is left open.

use crate::measure;
use crate::provider::Script;
use crate::scenario::{Given, Outcome, World};
use crate::server::Server;
use anyhow::{Context, Result, ensure};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Answers in which nothing is said for a long time, and those who wait for the rest of each.
const RUNS: usize = 100;
const WATCHERS: usize = 50;

/// Streams on which something is said meanwhile, 20 pieces a second.
const ACTIVE: usize = 20;

/// Signs of life are this far apart at most: the config's 15 s and a fifth of it.
const HEARTBEAT: f64 = 18.0;

/// Of all who wait, so many may be given a sign of life within one second. All hear the same piece at the same moment; signs of life that
/// come by the clock alone would all be due at one moment from then on.
const AT_ONCE: usize = RUNS * WATCHERS * 2 / 5;

/// Memory in MB, for a release build.
const MEMORY: f64 = 200.0;

/// What one of those who wait was given: when, in seconds.
#[derive(Default)]
struct Heard {
    /// Anything.
    all: Vec<f64>,
    /// Signs of life.
    beats: Vec<f64>,
    is_done: bool,
}

/// All of them at once.
pub(crate) async fn idle_streams(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "idle-streams").await?;
    let mut setup = world.setup.clone();
    setup.limits = ", idleMs: 3600000, firstByteMs: 3600000, turnMs: 3600000";
    let server = setup.start(&world.history).await?;
    let warm = world.client(&server, "warm")?;
    warm.turn("warm", &Script { tag: "warm-0".to_owned(), deltas: 3, ..Script::default() }, None).await?;
    drop(warm);
    let before = server.connections()?;
    // Half of the time until the piece that all hear, half of it after that.
    let (half, begun, opened) = (given.hold(80, 600) / 2, Instant::now(), Arc::new(AtomicUsize::new(0)));
    let mut waiting = Vec::new();
    for number in 0..RUNS {
        let user = format!("u{number}");
        let client = world.client(&server, &user)?;
        let pause = u64::try_from(half.saturating_sub(begun.elapsed()).as_millis())?;
        let script = Script { tag: format!("{user}-0"), deltas: 2, pause, ..Script::default() };
        ensure!(client.send(&format!("c-{user}"), &script).await?.is_ok(), "a message was refused");
        for _ in 0..WATCHERS {
            let stream = join(&server, &user).await?;
            waiting.push(tokio::spawn(wait(stream, begun, opened.clone())));
        }
    }
    let all = RUNS * WATCHERS;
    while opened.load(Relaxed) < all && begun.elapsed() < half {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (open, ready, memory) = (opened.load(Relaxed), begun.elapsed(), server.memory_mb()?);
    let late = active(&world, &server, (half * 2).saturating_sub(begun.elapsed())).await?;
    let mut outcome = Outcome { injected: all as u64, ..Outcome::default() };
    outcome.expect(open == all, || format!("{open} of {all} streams are open after {ready:?}"));
    outcome.expect(memory <= MEMORY * given.slack().min(2.0), || format!("I9 {memory:.0} MB"));
    let slack = if given.is_debug() { 10.0 } else { 1.0 };
    let (mut longest, mut cut_off, mut beats) = (0.0_f64, 0, Vec::new());
    for one in waiting {
        let heard = tokio::time::timeout(Duration::from_secs(60), one).await.context("a stream does not end")???;
        cut_off += usize::from(!heard.is_done);
        longest = heard.all.windows(2).map(|pair| pair[1] - pair[0]).fold(longest, f64::max);
        // The first of them after the piece, and those that follow.
        beats.extend(heard.beats.into_iter().filter(|at| *at > half.as_secs_f64() + 2.0));
    }
    let most = most_in_a_second(beats);
    outcome.expect(cut_off == 0, || format!("{cut_off} streams were cut off"));
    outcome.expect(longest <= HEARTBEAT + slack, || format!("for {longest:.1} s there was no sign of life"));
    outcome.expect(most > 0 && most <= AT_ONCE, || format!("{most} signs of life came within a second"));
    outcome.expect(late <= 500.0 * given.slack(), || format!("p99 of the active ones is {late:.0} ms"));
    measure::freed(&server, before, &mut outcome).await?;
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    outcome.worst = format!(
        "{memory:.0} MB, {longest:.1} s without a sign of life, {most} signs in a second, p99 of {ACTIVE} active {late:.0} ms, held {} s",
        half.as_secs() * 2
    );
    Ok(outcome)
}

/// Begins to wait for an answer.
async fn join(server: &Server, user: &str) -> Result<TcpStream> {
    let address = server.origin.strip_prefix("http://").context("no address")?;
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "GET /api/agent/page/worker/c-{user}/stream HTTP/1.0\r\nhost: {address}\r\nx-forwarded-user: {user}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    Ok(stream)
}

/// Waits to the end.
async fn wait(mut stream: TcpStream, begun: Instant, opened: Arc<AtomicUsize>) -> Result<Heard> {
    let (mut heard, mut buffer) = (Heard::default(), [0; 2048]);
    loop {
        let read = stream.read(&mut buffer).await?;
        let (said, now) = (&buffer[..read], begun.elapsed().as_secs_f64());
        if read == 0 {
            return Ok(heard);
        }
        if heard.all.is_empty() {
            ensure!(said.starts_with(b"HTTP/1.") && said[8..].starts_with(b" 200"), "a stream was refused");
            opened.fetch_add(1, Relaxed);
        }
        heard.all.push(now);
        let has = |what: &[u8]| said.windows(what.len()).any(|window| window == what);
        if has(b": keep-alive") {
            heard.beats.push(now);
        }
        heard.is_done |= has(b"[DONE]");
    }
}

/// The 99th percentile of a few streams that go on for so long, in ms.
async fn active(world: &World, server: &Server, time: Duration) -> Result<f64> {
    let deltas = usize::try_from(time.as_millis())? / 50;
    let mut streams = Vec::new();
    for number in 0..ACTIVE {
        let user = format!("active{number}");
        let (client, clock) = (world.client(server, &user)?, world.provider.began);
        let script = Script { tag: format!("{user}-0"), deltas, pause: 50, timed: true, ..Script::default() };
        streams.push(tokio::spawn(async move { measure::pieces(&client, &format!("c-{user}"), &script, clock).await }));
    }
    let mut late = Vec::new();
    for stream in streams {
        late.extend(stream.await??.into_iter().map(|piece| piece.late));
    }
    Ok(measure::p99(late))
}

/// How many of these moments are within the same second, at most.
fn most_in_a_second(mut moments: Vec<f64>) -> usize {
    moments.sort_by(f64::total_cmp);
    let within = |(from, at): (usize, &f64)| moments[from..].partition_point(|later| *later < at + 1.0);
    moments.iter().enumerate().map(within).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_within_a_second() {
        assert_eq!(most_in_a_second(vec![]), 0);
        assert_eq!(most_in_a_second(vec![5.0, 0.0, 0.9, 1.1, 3.0, 1.5]), 3);
    }
}
