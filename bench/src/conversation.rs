//! Measures a conversation of 2,000 turns with 400 tool calls on a model with a context of 32,000 tokens:
//! the largest request, what the turns cost, whether a fact of the third turn is still known, and the
//! time to first text compared with a new conversation.

use crate::load;
use crate::process::{self, MeasuredServer};
use crate::results::{Goal, Table, figure};
use crate::upstream::{closing, event, opening};
use anyhow::{Result, ensure};
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::Response;
use axum::routing::post;
use bytes::Bytes;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;

/// The context of the model in tokens.
const BUDGET: usize = 32_000;
/// The turns of the conversation; each tenth of them is one row.
const TURNS: usize = 2_000;
/// Every such turn calls a tool.
const CALLS_EVERY: usize = 5;
/// The turn that states the fact, from 1.
const FACT_TURN: usize = 3;
/// The words before the fact, by which the model finds it in what it reads.
const FACT: &str = "order number is ";
const NUMBER: &str = "heron-4711";
/// The question for the fact.
const QUESTION: &str = "Which order number have I told you?";
/// The length of a tool's result, a question and an answer, in bytes.
const RESULT_BYTES: usize = 3_000;
const QUESTION_BYTES: usize = 200;
const ANSWER_BYTES: usize = 400;
/// The turns whose time to first text is measured.
const MEASURED: usize = 21;
/// By how much the first text may come later than in a new conversation, with a release build.
const MAX_DELAY: Duration = Duration::from_millis(3);

/// The counts of the requests to the model.
#[derive(Default)]
struct Sent {
    /// The tokens of the largest request.
    largest: usize,
    /// The tokens of all requests since the last look.
    tokens: usize,
    calls: usize,
    summaries: usize,
}

/// The scripted model. It knows nothing but what a request says.
type Model = Arc<Mutex<Sent>>;

/// Runs the conversation. A small run has a tenth of the turns.
pub(crate) async fn measure(binary: &Path, is_small: bool) -> Result<Vec<Table>> {
    let turns = if is_small { TURNS / 10 } else { TURNS };
    let model = Model::default();
    let upstream = start(model.clone()).await?;
    let folder = tempfile::tempdir()?;
    let config = folder.path().join("chatwright.yaml");
    std::fs::write(&config, config_text(&upstream))?;
    let server = process::serve(binary, &config, folder.path()).await?;
    let client = reqwest::Client::builder().build()?;
    let columns = ["tokens sent per turn", "CPU per turn", "first text (median)"];
    let mut table = Table::new("Turns", &columns);
    for from in (0..turns).step_by(turns / 10) {
        add_row(&mut table, &client, &server, &model, from..from + turns / 10).await?;
    }
    let url = format!("{}/api/agent/bench/long", server.origin);
    let answer = load::ask(&client, &url, "long", QUESTION).await?.text;
    let long = median(&client, &url, |_| "long".to_owned()).await?;
    let new = median(&client, &url, |turn| format!("new-{turn}")).await?;
    let sent = take(&model);
    ensure!(sent.calls == turns / CALLS_EVERY && sent.summaries > 0, "the script was not followed");
    ensure!(answer.contains(NUMBER), "the fact of turn {FACT_TURN} is lost");
    let mut end = Table::new("At the end", &["measured"]);
    let largest = figure(sent.largest as f64, "tokens");
    end.add_with_goal("the largest request", [largest], Goal::AtMost(BUDGET as f64));
    end.add("summaries", [figure(sent.summaries as f64, "")]);
    end.add("calls of the tool", [figure(sent.calls as f64, "")]);
    end.add("first text", [figure(millis(long), "ms")]);
    end.add("first text in a new conversation", [figure(millis(new), "ms")]);
    let delay = figure(millis(long) - millis(new), "ms");
    end.add_with_goal("so the first text comes later by", [delay], Goal::AtMost(millis(MAX_DELAY)));
    Ok(vec![table, end])
}

/// Runs some turns and adds what they cost.
async fn add_row(
    table: &mut Table,
    client: &reqwest::Client,
    server: &MeasuredServer,
    model: &Model,
    turns: std::ops::Range<usize>,
) -> Result<()> {
    let url = format!("{}/api/agent/bench/long", server.origin);
    let (before, cpu, count) = (take(model).tokens, server.cpu_s()?, turns.len());
    let mut firsts = Vec::new();
    for turn in turns.clone() {
        let answer = load::ask(client, &url, "long", &question(turn + 1)).await?;
        ensure!(answer.finished, "the stream of turn {turn} is incomplete");
        firsts.push(answer.first);
    }
    firsts.sort_unstable();
    let name = format!("{} to {}", turns.start + 1, turns.end);
    eprintln!("turns {name}");
    let tokens = figure(((take(model).tokens - before) / count) as f64, "");
    let cpu = figure((server.cpu_s()? - cpu) * 1e3 / count as f64, "ms");
    table.add(&name, [tokens, cpu, figure(millis(firsts[count / 2]), "ms")]);
    Ok(())
}

/// Returns the counts so far.
fn take(model: &Model) -> Sent {
    let Sent { largest, tokens, calls, summaries } = *model.lock().unwrap_or_else(PoisonError::into_inner);
    Sent { largest, tokens, calls, summaries }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

async fn median(client: &reqwest::Client, url: &str, conversation: impl Fn(usize) -> String) -> Result<Duration> {
    let mut times = Vec::new();
    for turn in 0..MEASURED {
        times.push(load::ask(client, url, &conversation(turn), "Hello.").await?.first);
    }
    times.sort_unstable();
    Ok(times[MEASURED / 2])
}

/// Returns the user's message of a turn.
fn question(turn: usize) -> String {
    let mut text = match turn {
        FACT_TURN => format!("My {FACT}{NUMBER}. "),
        turn if turn.is_multiple_of(CALLS_EVERY) => format!("Please look up {turn}. "),
        turn => format!("This is turn {turn}. "),
    };
    fill(&mut text, QUESTION_BYTES, turn);
    text
}

/// Fills a text up to a length, differently for each turn.
fn fill(text: &mut String, bytes: usize, turn: usize) {
    while text.len() < bytes {
        // Writing into a string cannot fail.
        let _ = write!(text, "word {turn} {} ", text.len());
    }
}

fn config_text(upstream: &str) -> String {
    let mut found = String::new();
    fill(&mut found, RESULT_BYTES, 0);
    format!(
        "connections:\n  - id: upstream\n    type: Anthropic\n    properties: {{ apiKey: none, baseURL: \"{upstream}\" }}\n\
         agents:\n  - id: long\n    type: ClaudeAgent\n    connectionId: upstream\n    tools: [look_up]\n\
         \x20   properties: {{ model: long, contextTokens: {BUDGET}, instructions: You help. }}\n\
         api:\n  - id: look_up\n    description: Looks something up.\n    payloadSchema: {{ type: object, properties: {{ number: {{ type: number }} }} }}\n\
         \x20   routine: [{{ \":return\": \"{found}\" }}]\n\
         pages:\n  - id: bench\n    blocks: []\n"
    )
}

async fn start(model: Model) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let app = Router::new().route("/v1/messages", post(messages)).layer(DefaultBodyLimit::disable()).with_state(model);
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok(format!("http://{address}/v1"))
}

/// A reply of the scripted model.
enum Reply {
    Says(String),
    Calls(u64),
}

async fn messages(State(model): State<Model>, body: Bytes) -> Response {
    // As the product estimates them; the JSON around the texts counts, too.
    let tokens = body.len().div_ceil(4);
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (reply, is_summary) = reply(&request);
    {
        let mut sent = model.lock().unwrap_or_else(PoisonError::into_inner);
        sent.largest = sent.largest.max(tokens);
        sent.tokens += tokens;
        sent.summaries += usize::from(is_summary);
        sent.calls += usize::from(matches!(reply, Reply::Calls(_)));
    }
    let events = match reply {
        Reply::Says(text) => text_events(&text, tokens),
        Reply::Calls(number) => call_events(number, tokens),
    };
    let body = Body::from_stream(futures::stream::iter(events));
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap_or_default()
}

/// Answers from nothing but the request. Returns whether it asks for a summary.
fn reply(request: &Value) -> (Reply, bool) {
    let read = request["messages"].to_string();
    let known = read.split_once(FACT).and_then(|(_, after)| after.split(['.', ' ', '"']).next());
    let known = known.map_or_else(|| "I know none.".to_owned(), |number| format!("The {FACT}{number}."));
    if request["system"].to_string().contains("You summarise") {
        return (Reply::Says(format!("They talked about many things. {known}")), true);
    }
    let newest = request["messages"].as_array().and_then(|all| all.last()).map(|last| &last["content"]);
    let blocks = newest.and_then(Value::as_array);
    let text = blocks.and_then(|blocks| blocks.last()?["text"].as_str()).or_else(|| newest?.as_str());
    match text {
        Some(QUESTION) => (Reply::Says(known), false),
        Some(text) => match text.split_once("look up ").and_then(|(_, rest)| rest.split('.').next()?.parse().ok()) {
            Some(number) => (Reply::Calls(number), false),
            None => (Reply::Says(answer(text)), false),
        },
        None => (Reply::Says(answer("Found.")), false),
    }
}

fn answer(about: &str) -> String {
    let mut text = format!("Yes: {}. ", about.chars().take(20).collect::<String>());
    fill(&mut text, ANSWER_BYTES, about.len());
    text
}

type Events = Vec<Result<Bytes, Infallible>>;

fn text_events(text: &str, tokens: usize) -> Events {
    let delta = json!({ "type": "text_delta", "text": text });
    let mut events: Events = opening("long", tokens).into();
    events.push(event(json!({ "type": "content_block_delta", "index": 0, "delta": delta })));
    events.extend(closing(text.len() / 4, "end_turn"));
    events
}

fn call_events(number: u64, tokens: usize) -> Events {
    let block = json!({ "type": "tool_use", "id": format!("toolu_{number}"), "name": "look_up", "input": {} });
    let input = json!({ "type": "input_json_delta", "partial_json": json!({ "number": number }).to_string() });
    let mut events: Events = opening("long", tokens).into_iter().take(1).collect();
    events.push(event(json!({ "type": "content_block_start", "index": 0, "content_block": block })));
    events.push(event(json!({ "type": "content_block_delta", "index": 0, "delta": input })));
    events.extend(closing(10, "tool_use"));
    events
}
