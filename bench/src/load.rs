//! Runs turns against a server and checks that each stream is complete.

use crate::process::MeasuredServer;
use anyhow::{Result, ensure};
use futures::StreamExt;
use serde::Deserialize;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The parameters of a load.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    /// The agent, and the scripted model behind it.
    pub(crate) model: &'static str,
    /// The total number of turns.
    pub(crate) turns: usize,
    /// The number of concurrent turns.
    pub(crate) at_once: usize,
    /// The number of text deltas that each turn must have.
    pub(crate) deltas: usize,
    /// The number of rounds, alternating with the baseline; the one with the median ratio counts.
    pub(crate) rounds: usize,
}

/// The measured cost.
pub(crate) struct LoadCost {
    /// The server's CPU time per text delta in microseconds.
    pub(crate) cpu_us_per_delta: f64,
    /// The time to first text in milliseconds, p50 and p99.
    pub(crate) first_text_ms: (f64, f64),
    /// The memory of an open stream.
    pub(crate) kb_per_stream: f64,
}

/// Runs a load.
pub(crate) async fn run(server: &MeasuredServer, load: &Load) -> Result<LoadCost> {
    let client = reqwest::Client::builder().pool_max_idle_per_host(load.at_once).build()?;
    let url = format!("{}/api/agent/bench/{}", server.origin, load.model);
    let (next, firsts) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (cpu, memory) = (server.cpu_s()?, server.memory_mb()?);
    let workers = (0..load.at_once).map(|_| {
        let (client, url, next, firsts, load) = (client.clone(), url.clone(), next.clone(), firsts.clone(), *load);
        tokio::spawn(async move {
            while next.fetch_add(1, Relaxed) < load.turns {
                let first = turn(&client, &url, load.deltas).await?;
                firsts.lock().unwrap_or_else(PoisonError::into_inner).push(first.as_secs_f64() * 1e3);
            }
            anyhow::Ok(())
        })
    });
    let workers: Vec<_> = workers.collect();
    let all = futures::future::try_join_all(workers);
    tokio::pin!(all);
    let mut peak = memory;
    let results = loop {
        tokio::select! {
            results = &mut all => break results?,
            () = tokio::time::sleep(Duration::from_millis(50)) => peak = peak.max(server.memory_mb()?),
        }
    };
    results.into_iter().collect::<Result<()>>()?;
    let mut firsts = std::mem::take(&mut *firsts.lock().unwrap_or_else(PoisonError::into_inner));
    firsts.sort_by(f64::total_cmp);
    let at = |share: f64| firsts[((firsts.len() - 1) as f64 * share) as usize];
    Ok(LoadCost {
        cpu_us_per_delta: (server.cpu_s()? - cpu) * 1e6 / (load.turns * load.deltas) as f64,
        first_text_ms: (at(0.5), at(0.99)),
        kb_per_stream: (peak - memory) * 1024.0 / load.at_once as f64,
    })
}

/// Runs one turn in a conversation; returns the time to first text.
pub(crate) async fn run_turn(
    client: &reqwest::Client,
    server: &MeasuredServer,
    agent: &str,
    conversation: &str,
) -> Result<Duration> {
    let url = format!("{}/api/agent/bench/{agent}", server.origin);
    let result = ask(client, &url, conversation, "hello").await?;
    ensure!(result.finished, "a stream is incomplete");
    Ok(result.first)
}

/// Runs one turn in a new conversation; returns the time to first text.
async fn turn(client: &reqwest::Client, url: &str, deltas: usize) -> Result<Duration> {
    static CONVERSATION: AtomicUsize = AtomicUsize::new(0);
    let conversation = format!("c{}", CONVERSATION.fetch_add(1, Relaxed));
    let TurnResult { first, deltas: received, finished, .. } = ask(client, url, &conversation, "hello").await?;
    ensure!(
        received == deltas && finished,
        "a stream is incomplete: {received} of {deltas} deltas, finished: {finished}"
    );
    Ok(first)
}

/// The result of a turn.
pub(crate) struct TurnResult {
    /// The time to first text.
    pub(crate) first: Duration,
    deltas: usize,
    pub(crate) finished: bool,
    pub(crate) text: String,
}

/// A delta of a text.
#[derive(Deserialize)]
struct TextDelta {
    delta: String,
}

/// Sends a message and reads the whole reply.
pub(crate) async fn ask(client: &reqwest::Client, url: &str, conversation: &str, text: &str) -> Result<TurnResult> {
    read_reply(client.post(url), conversation, text).await
}

/// Like [`ask`], with a prepared request.
pub(crate) async fn read_reply(request: reqwest::RequestBuilder, conversation: &str, text: &str) -> Result<TurnResult> {
    static MESSAGE: AtomicUsize = AtomicUsize::new(0);
    let message = MESSAGE.fetch_add(1, Relaxed);
    let message =
        serde_json::json!({ "id": format!("m{message}"), "role": "user", "parts": [{ "type": "text", "text": text }] });
    let body = serde_json::json!({ "id": conversation, "trigger": "submit-message", "messages": [message] });
    let began = Instant::now();
    let response = request.json(&body).send().await?;
    ensure!(response.status().is_success(), "{}: {}", response.status(), response.text().await?);
    let (mut first, mut deltas, mut finished, mut text) = (None, 0, false, String::new());
    let mut decoder = sse::SseDecoder::new(sse::SseLimits::default());
    let mut bytes = response.bytes_stream();
    while let Some(piece) = bytes.next().await {
        ensure!(decoder.push(&piece?).is_ok(), "an event is too large");
        while let Some(event) = decoder.next() {
            let data: &str = event.data.as_ref();
            if data.starts_with(r#"{"type":"text-delta""#) {
                first.get_or_insert_with(|| began.elapsed());
                deltas += 1;
                text.push_str(&serde_json::from_str::<TextDelta>(data)?.delta);
            }
            finished |= data.starts_with(r#"{"type":"finish""#) && !data.contains("finish-step");
        }
    }
    Ok(TurnResult { first: first.unwrap_or_default(), deltas, finished, text })
}
