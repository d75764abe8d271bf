//! Measurements under load: delays of deltas, times of short requests, memory, and connections that
//! stay open.

use crate::client::{Client, SendOutcome};
use crate::provider::Script;
use crate::scenario::Outcome;
use crate::server::Server;
use anyhow::{Result, bail, ensure};
use futures::StreamExt;
use reqwest::header::RETRY_AFTER;
use reqwest::{Method, Response};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// The timing of a text delta.
pub(crate) struct TimedDelta {
    /// When the provider sent it, in seconds of the provider's clock.
    pub(crate) sent: f64,
    /// The time from the provider to the client in ms.
    pub(crate) delay_ms: f64,
}

/// Sends a message with a timed script and measures the deltas of its reply.
pub(crate) async fn send_and_time(
    client: &Client,
    conversation: &str,
    script: &Script,
    clock: Instant,
) -> Result<Vec<TimedDelta>> {
    match client.try_send(conversation, script).await? {
        SendOutcome::Accepted(stream) => time_deltas(stream, clock).await,
        SendOutcome::Refused(refusal) => bail!("refused with {}", refusal.status),
    }
}

/// Measures the deltas of a stream.
pub(crate) async fn time_deltas(stream: Response, clock: Instant) -> Result<Vec<TimedDelta>> {
    let (mut decoder, mut bytes, mut found) =
        (sse::SseDecoder::new(sse::SseLimits::default()), stream.bytes_stream(), Vec::new());
    while let Some(piece) = bytes.next().await {
        ensure!(decoder.push(&piece?).is_ok(), "an event is too large");
        let now = clock.elapsed().as_micros() as f64;
        while let Some(event) = decoder.next() {
            // Deltas have the form `…"delta":"123456 "}`.
            let sent = event.data.strip_suffix(" \"}").and_then(|data| data.rsplit('"').next()?.parse::<f64>().ok());
            found.extend(sent.map(|sent| TimedDelta { sent: sent / 1e6, delay_ms: (now - sent) / 1e3 }));
        }
    }
    Ok(found)
}

/// Returns the 99th percentile, or 0 without values.
pub(crate) fn p99(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) * 99 / 100).copied().unwrap_or_default()
}

/// Returns the maximum resident memory of a process in MB until `over` is set.
pub(crate) async fn peak_memory(id: u32, over: Arc<AtomicBool>) -> f64 {
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

/// The results of short requests.
#[derive(Default)]
pub(crate) struct RequestTimes {
    /// The response times in ms, without refused requests.
    pub(crate) waits: Vec<f64>,
    /// The response times of requests that were refused with `Retry-After`, in ms.
    pub(crate) refused: Vec<f64>,
    /// Requests with another status or without a response.
    pub(crate) wrong: Vec<String>,
}

/// Requests the list of conversations at a fixed rate until `over` is set, without waiting for
/// earlier responses.
pub(crate) async fn send_requests(client: Client, a_second: u32, over: Arc<AtomicBool>) -> RequestTimes {
    let (mut asked, mut found) = (JoinSet::new(), RequestTimes::default());
    let mut tick = tokio::time::interval(Duration::from_secs(1) / a_second.max(1));
    while !over.load(Relaxed) {
        tick.tick().await;
        let client = client.clone();
        asked.spawn(async move {
            let begun = Instant::now();
            let answer =
                client.request(Method::GET, "/api/conversations").timeout(Duration::from_secs(60)).send().await;
            let answer = answer.map(|answer| (answer.status().as_u16(), answer.headers().contains_key(RETRY_AFTER)));
            (begun.elapsed().as_secs_f64() * 1e3, answer)
        });
    }
    while let Some(done) = asked.join_next().await {
        let Ok((wait, answer)) = done else { continue };
        if matches!(answer, Ok((429 | 503, true))) {
            found.refused.push(wait);
            continue;
        }
        found.waits.push(wait);
        match answer {
            Ok((200, _)) => {}
            Ok((status, _)) => found.wrong.push(format!("a request was answered with {status}")),
            Err(error) => found.wrong.push(format!("a request was not answered: {error}")),
        }
    }
    found
}

/// I9: the connections of the streams are closed again.
pub(crate) async fn check_connections_closed(server: &Server, before: usize, outcome: &mut Outcome) -> Result<()> {
    let begun = Instant::now();
    loop {
        let open = server.connections()?;
        if open <= before + 2 {
            return Ok(());
        }
        if begun.elapsed() > Duration::from_secs(15) {
            outcome.violations.push(format!("I9 {open} connections are open, {before} before the load"));
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
