//! What a load is measured by: how late pieces are, what others wait for, memory, and what is open afterwards.

use crate::client::{Client, Offered};
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

/// A piece of an answer.
pub(crate) struct Piece {
    /// When the provider sent it, in seconds of its clock.
    pub(crate) sent: f64,
    /// How long it was on its way, in ms.
    pub(crate) late: f64,
}

/// The pieces of one answer whose script is timed.
pub(crate) async fn pieces(client: &Client, conversation: &str, script: &Script, clock: Instant) -> Result<Vec<Piece>> {
    match client.offer(conversation, script).await? {
        Offered::Accepted(stream) => pieces_of(stream, clock).await,
        Offered::Refused(refusal) => bail!("refused with {}", refusal.status),
    }
}

/// The same of a stream that has begun.
pub(crate) async fn pieces_of(stream: Response, clock: Instant) -> Result<Vec<Piece>> {
    let (mut decoder, mut bytes, mut found) =
        (sse::Decoder::new(sse::Limits::default()), stream.bytes_stream(), Vec::new());
    while let Some(piece) = bytes.next().await {
        ensure!(decoder.push(&piece?).is_ok(), "an event is too large");
        let now = clock.elapsed().as_micros() as f64;
        while let Some(event) = decoder.next() {
            // `…"delta":"123456 "}`
            let sent = event.data.strip_suffix(" \"}").and_then(|data| data.rsplit('"').next()?.parse::<f64>().ok());
            found.extend(sent.map(|sent| Piece { sent: sent / 1e6, late: (now - sent) / 1e3 }));
        }
    }
    Ok(found)
}

/// The 99th percentile; nothing of nothing.
pub(crate) fn p99(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) * 99 / 100).copied().unwrap_or_default()
}

/// The most memory of a process until something is over, in MB.
pub(crate) async fn peak(id: u32, over: Arc<AtomicBool>) -> f64 {
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

/// What short requests met with.
#[derive(Default)]
pub(crate) struct Requests {
    /// How long each was waited for, in ms, but for those that were refused.
    pub(crate) waits: Vec<f64>,
    /// How long those waited that were told to come again, in ms.
    pub(crate) refused: Vec<f64>,
    /// Those that met with anything else than an answer or that.
    pub(crate) wrong: Vec<String>,
}

/// Asks for the list of conversations so many times a second, whether or not the one before is answered, until something is over.
pub(crate) async fn requests(client: Client, a_second: u32, over: Arc<AtomicBool>) -> Requests {
    let (mut asked, mut found) = (JoinSet::new(), Requests::default());
    let mut tick = tokio::time::interval(Duration::from_secs(1) / a_second.max(1));
    while !over.load(Relaxed) {
        tick.tick().await;
        let client = client.clone();
        asked.spawn(async move {
            let begun = Instant::now();
            let answer = client.ask(Method::GET, "/api/conversations").timeout(Duration::from_secs(60)).send().await;
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

/// I9: what was open for the streams is closed again.
pub(crate) async fn freed(server: &Server, before: usize, outcome: &mut Outcome) -> Result<()> {
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
