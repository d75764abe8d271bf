//! L7: a conversation of 2,000 messages and 20 MB. It opens at once and is answered in, beside a hundred streams.

use crate::client::Client;
use crate::history::Op;
use crate::measure;
use crate::provider::Script;
use crate::scenario::{Given, Outcome, World};
use anyhow::{Context, Result, ensure};
use futures::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Instant;

/// What is imported: so many messages, of so many bytes each.
const MESSAGES: usize = 2_000;
const BYTES: usize = 10_000;

/// How long opening it may take, in ms, for a release build.
const OPENS: f64 = 500.0;

/// How long it may take until the first event of an answer in it, in ms.
const BEGINS: f64 = 1_000.0;

/// The 99th percentile of the streams beside it, in ms.
const BESIDE: f64 = 250.0;

/// How often it is opened and answered in.
const ROUNDS: usize = 10;

const STREAMS: usize = 100;

/// All of it.
pub(crate) async fn long_conversation(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "long-conversation").await?;
    let mut setup = world.setup.clone();
    setup.limits = ", bodyBytes: 67108864";
    let server = setup.start(&world.history).await?;
    let client = world.client(&server, "u0")?;
    let id = import(&client).await?;
    world.history.add(Op::Imported { conversation: id.clone() });
    let (mut outcome, slack) = (Outcome { injected: ROUNDS as u64, ..Outcome::default() }, given.slack());
    open(&client, &id, MESSAGES).await?;
    let quiet = open(&client, &id, MESSAGES).await?;
    let clock = world.provider.began;
    let mut beside = Vec::new();
    for number in 0..STREAMS {
        let user = format!("beside{number}");
        let client = world.client(&server, &user)?;
        let pause = 20 * u64::from(given.slowness());
        let script = Script {
            tag: format!("{user}-0"),
            deltas: 500 / given.slowness() as usize,
            pause,
            timed: true,
            ..Script::default()
        };
        beside.push(tokio::spawn(async move { measure::pieces(&client, &format!("c-{user}"), &script, clock).await }));
    }
    let (mut opened, mut begun) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        opened.push(open(&client, &id, MESSAGES + 2 * round).await?);
        begun.push(answer(&client, &id, round, &mut outcome).await?);
    }
    let mut late = Vec::new();
    for stream in beside {
        late.extend(stream.await??.into_iter().map(|piece| piece.late));
    }
    let slowest = |times: Vec<f64>| times.into_iter().fold(0.0, f64::max);
    let (opened, begun, late) = (slowest(opened), slowest(begun), measure::p99(late));
    outcome.expect(quiet <= OPENS * slack, || format!("it opens after {quiet:.0} ms"));
    outcome.expect(opened <= 2.0 * OPENS * slack, || format!("it opens after {opened:.0} ms beside {STREAMS} streams"));
    outcome.expect(begun <= BEGINS * slack, || format!("an answer begins after {begun:.0} ms"));
    outcome.expect(late <= BESIDE * slack, || format!("p99 of the streams beside it is {late:.0} ms"));
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    outcome.worst = format!(
        "open after {quiet:.0} ms, under load {opened:.0} ms; an answer begins after {begun:.0} ms; p99 beside it {late:.0} ms"
    );
    Ok(outcome)
}

/// Imports the conversation; its id.
async fn import(client: &Client) -> Result<String> {
    let message = |number: usize| {
        let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
        let mut text = String::from(Op::OF_IMPORT);
        while text.len() < BYTES {
            // Writing into a text cannot fail.
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
    let answer = client.ask(Method::POST, "/api/conversations").json(&file).send().await?;
    let status = answer.status();
    let answer: Value = answer.json().await?;
    ensure!(status == 201, "it is not imported: {status} {answer}");
    Ok(answer["id"].as_str().context("it has no id")?.to_owned())
}

/// Reads it as it stands; how long that took, in ms.
async fn open(client: &Client, id: &str, messages: usize) -> Result<f64> {
    let begun = Instant::now();
    let answer = client.ask(Method::GET, &format!("/api/conversations/{id}")).send().await?.error_for_status()?;
    let bytes = answer.bytes().await?;
    let took = begun.elapsed().as_secs_f64() * 1e3;
    // Elsewhere: those who read the streams beside it are in this process, too.
    let view = tokio::task::spawn_blocking(move || serde_json::from_slice::<Value>(&bytes)).await??;
    let there = view["messages"].as_array().map_or(0, Vec::len);
    ensure!(there == messages, "{there} messages of {messages} are there");
    Ok(took)
}

/// Sends a message and reads the answer; after how many ms its first event came.
async fn answer(client: &Client, id: &str, round: usize, outcome: &mut Outcome) -> Result<f64> {
    let script = Script { tag: format!("u0-{round}"), deltas: 20, pause: 5, ..Script::default() };
    let begun = Instant::now();
    let stream = client.send(id, &script).await?;
    let Ok(stream) = stream else { anyhow::bail!("a message was refused") };
    let mut reader = crate::client::Reader::new(client.history(), id);
    let (mut bytes, mut first, mut kinds) = (stream.bytes_stream(), None, None);
    while let Some(piece) = bytes.next().await {
        first.get_or_insert_with(|| begun.elapsed().as_secs_f64() * 1e3);
        kinds = reader.take(&piece?).or(kinds);
    }
    let is_finished = kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "finish"));
    outcome.expect(is_finished, || format!("the answer {round} does not end"));
    first.context("nothing came")
}
