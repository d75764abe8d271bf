//! Row L4: thousands of idle streams beside a few active ones. Heartbeats come in time and are
//! spread, memory is bounded, and no connection stays open.

use crate::measure;
use crate::provider::Script;
use crate::scenario::{Outcome, RunOptions, Testbed};
use crate::server::Server;
use anyhow::{Context, Result, ensure};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The number of idle runs, and of clients that watch each.
const RUNS: usize = 100;
const WATCHERS: usize = 50;

/// The number of active streams, with 20 deltas per second each.
const ACTIVE: usize = 20;

/// The maximum time without data in seconds: the configured heartbeat of 15 s plus a fifth.
const MAX_SILENCE_SECONDS: f64 = 18.0;

/// The maximum number of clients that receive a heartbeat within one second. All receive the same
/// delta at the same moment, so unspread heartbeats would all be due at one moment from then on.
const MAX_HEARTBEATS_PER_SECOND: usize = RUNS * WATCHERS * 2 / 5;

/// The maximum memory in MB, for a release build.
const MAX_MEMORY_MB: f64 = 200.0;

/// The times at which one client received data, in seconds.
#[derive(Default)]
struct StreamLog {
    /// All data.
    received: Vec<f64>,
    /// Heartbeats.
    heartbeats: Vec<f64>,
    is_done: bool,
}

/// Runs the scenario.
pub(crate) async fn idle_streams(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "idle-streams").await?;
    let mut setup = testbed.setup.clone();
    setup.limits = ", idleMs: 3600000, firstByteMs: 3600000, turnMs: 3600000";
    let server = setup.start(&testbed.history).await?;
    let warm = testbed.client(&server, "warm")?;
    warm.turn("warm", &Script { tag: "warm-0".to_owned(), deltas: 3, ..Script::default() }, None).await?;
    drop(warm);
    let before = server.connections()?;
    // All receive one delta at half of the time.
    let (half, begun, opened) = (options.duration(80, 600) / 2, Instant::now(), Arc::new(AtomicUsize::new(0)));
    let mut waiting = Vec::new();
    for number in 0..RUNS {
        let user = format!("u{number}");
        let client = testbed.client(&server, &user)?;
        let pause = u64::try_from(half.saturating_sub(begun.elapsed()).as_millis())?;
        let script = Script { tag: format!("{user}-0"), deltas: 2, pause, ..Script::default() };
        ensure!(client.send(&format!("c-{user}"), &script).await?.is_ok(), "a message was refused");
        for _ in 0..WATCHERS {
            let stream = join(&server, &user).await?;
            waiting.push(tokio::spawn(read_stream(stream, begun, opened.clone())));
        }
    }
    let all = RUNS * WATCHERS;
    while opened.load(Relaxed) < all && begun.elapsed() < half {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (open, ready, memory) = (opened.load(Relaxed), begun.elapsed(), server.memory_mb()?);
    let late = p99_of_active_streams(&testbed, &server, (half * 2).saturating_sub(begun.elapsed())).await?;
    let mut outcome = Outcome { injected: all as u64, ..Outcome::default() };
    outcome.expect(open == all, || format!("{open} of {all} streams are open after {ready:?}"));
    outcome.expect(memory <= MAX_MEMORY_MB * options.time_factor().min(2.0), || format!("I9 {memory:.0} MB"));
    let slack = if options.is_debug() { 10.0 } else { 1.0 };
    let (mut longest, mut cut_off, mut beats) = (0.0_f64, 0, Vec::new());
    for one in waiting {
        let heard = tokio::time::timeout(Duration::from_secs(60), one).await.context("a stream does not end")???;
        cut_off += usize::from(!heard.is_done);
        longest = heard.received.windows(2).map(|pair| pair[1] - pair[0]).fold(longest, f64::max);
        // The first heartbeats after that delta, and later ones.
        beats.extend(heard.heartbeats.into_iter().filter(|at| *at > half.as_secs_f64() + 2.0));
    }
    let most = most_in_a_second(beats);
    outcome.expect(cut_off == 0, || format!("{cut_off} streams were cut off"));
    outcome.expect(longest <= MAX_SILENCE_SECONDS + slack, || format!("a client received nothing for {longest:.1} s"));
    outcome.expect(most > 0 && most <= MAX_HEARTBEATS_PER_SECOND, || {
        format!("{most} heartbeats were sent within a second")
    });
    outcome.expect(late <= 500.0 * options.time_factor(), || format!("p99 of the active streams is {late:.0} ms"));
    measure::check_connections_closed(&server, before, &mut outcome).await?;
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    outcome.worst = format!(
        "{memory:.0} MB, at most {longest:.1} s without data, {most} heartbeats in a second, p99 of {ACTIVE} active streams {late:.0} ms, held for {} s",
        half.as_secs() * 2
    );
    Ok(outcome)
}

/// Joins the stream of a run.
async fn join(server: &Server, user: &str) -> Result<TcpStream> {
    let address = server.origin.strip_prefix("http://").context("no address")?;
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "GET /api/agent/page/worker/c-{user}/stream HTTP/1.0\r\nhost: {address}\r\nx-forwarded-user: {user}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    Ok(stream)
}

/// Reads a stream to its end.
async fn read_stream(mut stream: TcpStream, begun: Instant, opened: Arc<AtomicUsize>) -> Result<StreamLog> {
    let (mut heard, mut buffer) = (StreamLog::default(), [0; 2048]);
    loop {
        let read = stream.read(&mut buffer).await?;
        let (data, now) = (&buffer[..read], begun.elapsed().as_secs_f64());
        if read == 0 {
            return Ok(heard);
        }
        if heard.received.is_empty() {
            ensure!(data.starts_with(b"HTTP/1.") && data[8..].starts_with(b" 200"), "a stream was refused");
            opened.fetch_add(1, Relaxed);
        }
        heard.received.push(now);
        let has = |what: &[u8]| data.windows(what.len()).any(|window| window == what);
        if has(b": keep-alive") {
            heard.heartbeats.push(now);
        }
        heard.is_done |= has(b"[DONE]");
    }
}

/// Runs the active streams for this time; returns their p99 delay in ms.
async fn p99_of_active_streams(testbed: &Testbed, server: &Server, time: Duration) -> Result<f64> {
    let deltas = usize::try_from(time.as_millis())? / 50;
    let mut streams = Vec::new();
    for number in 0..ACTIVE {
        let user = format!("active{number}");
        let (client, clock) = (testbed.client(server, &user)?, testbed.provider.clock);
        let script = Script { tag: format!("{user}-0"), deltas, pause: 50, timed: true, ..Script::default() };
        streams.push(tokio::spawn(async move {
            measure::send_and_time(&client, &format!("c-{user}"), &script, clock).await
        }));
    }
    let mut late = Vec::new();
    for stream in streams {
        late.extend(stream.await??.into_iter().map(|piece| piece.delay_ms));
    }
    Ok(measure::p99(late))
}

/// Returns the maximum number of moments within one second.
fn most_in_a_second(mut moments: Vec<f64>) -> usize {
    moments.sort_by(f64::total_cmp);
    let within = |(from, at): (usize, &f64)| moments[from..].partition_point(|later| *later < at + 1.0);
    moments.iter().enumerate().map(within).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_in_a_second_counts_a_sliding_window() {
        assert_eq!(most_in_a_second(vec![]), 0);
        assert_eq!(most_in_a_second(vec![5.0, 0.0, 0.9, 1.1, 3.0, 1.5]), 3);
    }
}
