//! Row L7: a conversation of 2,000 messages and 20 MB is opened and continued beside a hundred
//! streams.

use crate::client::Client;
use crate::history::Op;
use crate::measure;
use crate::provider::Script;
use crate::scenario::{Outcome, RunOptions, Testbed};
use anyhow::{Context, Result, ensure};
use futures::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Instant;

/// The number of imported messages, and their size in bytes.
const MESSAGES: usize = 2_000;
const MESSAGE_BYTES: usize = 10_000;

/// The maximum time to open it in ms, for a release build.
const MAX_OPEN_MS: f64 = 500.0;

/// The maximum time to the first event of a reply in ms.
const MAX_FIRST_EVENT_MS: f64 = 1_000.0;

/// The maximum p99 delay of the other streams in ms.
const MAX_STREAM_DELAY_MS: f64 = 250.0;

/// How often it is opened and continued.
const ROUNDS: usize = 10;

const STREAMS: usize = 100;

/// Runs the scenario.
pub(crate) async fn long_conversation(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "long-conversation").await?;
    let mut setup = testbed.setup.clone();
    setup.limits = ", bodyBytes: 67108864";
    let server = setup.start(&testbed.history).await?;
    let client = testbed.client(&server, "u0")?;
    let id = import(&client).await?;
    testbed.history.add(Op::Imported { conversation: id.clone() });
    let (mut outcome, slack) = (Outcome { injected: ROUNDS as u64, ..Outcome::default() }, options.time_factor());
    fetch_conversation(&client, &id, MESSAGES).await?;
    let quiet = fetch_conversation(&client, &id, MESSAGES).await?;
    let clock = testbed.provider.clock;
    let mut beside = Vec::new();
    for number in 0..STREAMS {
        let user = format!("beside{number}");
        let client = testbed.client(&server, &user)?;
        let pause = 20 * u64::from(options.load_divisor());
        let script = Script {
            tag: format!("{user}-0"),
            deltas: 500 / options.load_divisor() as usize,
            pause,
            timed: true,
            ..Script::default()
        };
        beside.push(tokio::spawn(async move {
            measure::send_and_time(&client, &format!("c-{user}"), &script, clock).await
        }));
    }
    let (mut opened, mut begun) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        opened.push(fetch_conversation(&client, &id, MESSAGES + 2 * round).await?);
        begun.push(run_turn(&client, &id, round, &mut outcome).await?);
    }
    let mut late = Vec::new();
    for stream in beside {
        late.extend(stream.await??.into_iter().map(|piece| piece.delay_ms));
    }
    let slowest = |times: Vec<f64>| times.into_iter().fold(0.0, f64::max);
    let (opened, begun, late) = (slowest(opened), slowest(begun), measure::p99(late));
    outcome.expect(quiet <= MAX_OPEN_MS * slack, || format!("it is opened in {quiet:.0} ms"));
    outcome.expect(opened <= 2.0 * MAX_OPEN_MS * slack, || {
        format!("it is opened in {opened:.0} ms beside {STREAMS} streams")
    });
    outcome.expect(begun <= MAX_FIRST_EVENT_MS * slack, || {
        format!("the first event of a reply comes after {begun:.0} ms")
    });
    outcome.expect(late <= MAX_STREAM_DELAY_MS * slack, || format!("p99 of the other streams is {late:.0} ms"));
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    outcome.worst = format!(
        "opened in {quiet:.0} ms, under load in {opened:.0} ms; first event of a reply after {begun:.0} ms; p99 of the other streams {late:.0} ms"
    );
    Ok(outcome)
}

/// Imports the conversation; returns its id.
async fn import(client: &Client) -> Result<String> {
    let message = |number: usize| {
        let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
        let mut text = String::from(Op::IMPORT_PREFIX);
        while text.len() < MESSAGE_BYTES {
            // Writing into a string cannot fail.
            let _ = write!(text, " word{number}-{}", text.len());
        }
        let parent = number.checked_sub(1).map(|before| format!("m{before}"));
        let parts = json!([{ "type": "text", "text": text }]);
        let message = json!({ "id": format!("m{number}"), "role": role, "parts": parts });
        let mut message = json!({ "createdAt": 1_700_000_000_000_u64 + number as u64, "message": message });
        if let Some(parent) = parent {
            message["parentId"] = parent.into();
        }
        message
    };
    let messages: Vec<_> = (0..MESSAGES).map(message).collect();
    let file = json!({
        "format": "chatwright.conversation.1",
        "title": "u0-long",
        "pageId": "page",
        "agentId": "worker",
        "createdAt": 1_700_000_000_000_u64,
        "head": format!("m{}", MESSAGES - 1),
        "messages": messages,
    });
    let answer = client.request(Method::POST, "/api/conversations").json(&file).send().await?;
    let status = answer.status();
    let answer: Value = answer.json().await?;
    ensure!(status == 201, "the import failed: {status} {answer}");
    Ok(answer["id"].as_str().context("the response has no id")?.to_owned())
}

/// Fetches the conversation; returns the time in ms.
async fn fetch_conversation(client: &Client, id: &str, messages: usize) -> Result<f64> {
    let begun = Instant::now();
    let answer = client.request(Method::GET, &format!("/api/conversations/{id}")).send().await?.error_for_status()?;
    let bytes = answer.bytes().await?;
    let took = begun.elapsed().as_secs_f64() * 1e3;
    // Parsed on a blocking thread, since the clients of the other streams are in this process, too.
    let view = tokio::task::spawn_blocking(move || serde_json::from_slice::<Value>(&bytes)).await??;
    let there = view["messages"].as_array().map_or(0, Vec::len);
    ensure!(there == messages, "{there} messages of {messages} are shown");
    Ok(took)
}

/// Sends a message and reads the reply; returns the time to its first event in ms.
async fn run_turn(client: &Client, id: &str, round: usize, outcome: &mut Outcome) -> Result<f64> {
    let script = Script { tag: format!("u0-{round}"), deltas: 20, pause: 5, ..Script::default() };
    let begun = Instant::now();
    let stream = client.send(id, &script).await?;
    let Ok(stream) = stream else { anyhow::bail!("a message was refused") };
    let mut reader = crate::client::StreamReader::new(client.history(), id);
    let (mut bytes, mut first, mut kinds) = (stream.bytes_stream(), None, None);
    while let Some(piece) = bytes.next().await {
        first.get_or_insert_with(|| begun.elapsed().as_secs_f64() * 1e3);
        kinds = reader.feed(&piece?).or(kinds);
    }
    let is_finished = kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "finish"));
    outcome.expect(is_finished, || format!("the reply {round} does not finish"));
    first.context("nothing was received")
}
