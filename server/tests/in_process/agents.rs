//! `server::embedded`: the same conversation as over HTTP, and what starting and dropping does.

use crate::process::Server;
use client::Client;
use insta::assert_snapshot;
use serde_json::{Value, json};
use server::embedded::{Builder, Chatwright, Reply, StartError};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use wire::api::{Answer, MessageMetadata, Outcome, RunOptions, Submission};
use wire::{Chunk, ErrorCode, UserError};

const CONFIG: &str = "
connections:
  - { id: demo, type: Demo, properties: { delayMs: 0 } }
agents:
  - { id: helper, type: Agent, connectionId: demo, tools: [search_articles], properties: { model: demo } }
api:
  - id: search_articles
    description: Search articles.
    payloadSchema: { type: object, properties: { query: { type: string } } }
    routine: [{ ':return': { articles: [{ title: Refunds, body: Within 30 days. }] } }]
  - id: double
    routine: [{ ':return': { _product: [{ _payload: n }, 2] } }]
pages:
  - id: support
    blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }]
prices: { demo: { input: 1, output: 2 } }
";

async fn start(config: &str) -> Chatwright {
    Builder::from_text(config).start().await.unwrap()
}

/// Replaces what differs between two conversations with the same messages: ids and times.
fn normalized(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(normalized),
        Value::Object(fields) => {
            // Only requests over HTTP are traced, and only the program's own agents are asked by a program.
            fields.remove("traceId");
            fields.remove("textOrigin");
            for (key, field) in fields {
                match key.as_str() {
                    "id" | "createdAt" | "updatedAt" | "toolCallId" | "runId" => *field = json!(null),
                    _ => normalized(field),
                }
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn conversation_equals_that_over_http() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("chatwright.yaml");
    std::fs::write(&file, CONFIG).unwrap();
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    let client = Client::new(&server.origin).unwrap();
    let chat = client.chat("support", "helper");
    let chatwright = Builder::from_path(&file).start().await.unwrap();
    let agent = chatwright.agent("helper").unwrap();
    for text in ["What do you know about refunds?", "hello", "simulate a failure"] {
        let over_http = chat.ask_in("c", text).await.unwrap().finish().await.unwrap();
        let answer = agent.ask_in("c", text).await.unwrap().finish().await.unwrap();
        let (mut over_http, mut here) = (json!(over_http), json!(answer.message));
        normalized(&mut over_http);
        normalized(&mut here);
        assert_eq!(here, over_http, "{text}");
    }
    let (mut over_http, mut here) =
        (json!(client.conversation("c").await.unwrap()), json!(agent.conversation("c").await.unwrap()));
    assert_eq!(over_http["messages"].as_array().unwrap().len(), 6);
    normalized(&mut over_http);
    normalized(&mut here);
    assert_eq!(here, over_http);
}

#[tokio::test]
async fn answer_is_streamed_and_has_usage_and_cost() {
    let chatwright = start(CONFIG).await;
    let agent = chatwright.agent("helper").unwrap();
    let mut reply = agent.ask("What do you know about refunds?").await.unwrap();
    let (mut streamed, mut calls) = (String::new(), 0);
    while let Some(chunk) = reply.next().await.unwrap() {
        match chunk {
            Chunk::TextDelta { delta, .. } => streamed.push_str(&delta),
            Chunk::ToolOutputAvailable { .. } => calls += 1,
            _ => {}
        }
    }
    let answer = reply.finish().await.unwrap();
    assert_eq!(calls, 1);
    assert!(streamed.contains("Within 30 days."), "{streamed}");
    assert_eq!(answer.metadata.outcome, Some(Outcome::Done));
    let (usage, cost) = (answer.metadata.usage.unwrap(), answer.metadata.cost_usd.unwrap());
    let expected = (usage.input_tokens + 2 * usage.output_tokens) as f64 / 1e6;
    assert!(usage.output_tokens > 0 && (cost - expected).abs() < 1e-9, "{cost} of {usage:?}");
    let recorded = agent.usage(&answer.conversation_id).await.unwrap();
    assert_eq!((recorded.steps.len(), recorded.total.cost_usd), (2, Some(cost)));
    let of_message: MessageMetadata = serde_json::from_value(answer.message.metadata.unwrap()).unwrap();
    assert_eq!(of_message, answer.metadata);
}

/// Reads the events of an answer.
async fn stream_events(reply: Reply) -> (Vec<Value>, Option<UserError>) {
    let (mut events, mut read) = (reply.stream_events(), Vec::new());
    let error = loop {
        match events.next().await {
            Ok(Some(event)) => read.push(json!(event)),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert_eq!(events.next().await, Ok(None));
    (read, error)
}

#[tokio::test]
async fn answer_is_streamed_as_events_of_deerflow() {
    // The kinds of the events, without repetitions, and the messages of the last state.
    fn describe(events: &[Value], message_id: &str) -> String {
        let kind = |event: &Value| {
            let (kind, data) = (event["type"].as_str().unwrap(), &event["data"]);
            let calls = if data["tool_calls"].is_array() { " with calls" } else { "" };
            format!("{kind} {}{calls}", data["type"].as_str().unwrap_or_default()).trim_end().to_owned()
        };
        let mut lines: Vec<_> = events.iter().map(kind).collect();
        lines.dedup();
        let [.., values, end] = events else { panic!("{events:?}") };
        assert!(end["data"]["usage"]["total_tokens"].as_u64().unwrap() > 0, "{end}");
        let pieces: Vec<_> = events.iter().filter(|event| event["type"] == "messages-tuple").collect();
        for message in values["data"]["messages"].as_array().unwrap() {
            let id = message["id"].as_str().unwrap().replace(message_id, "ANSWER");
            let id = if id.starts_with("ANSWER") { id } else { "…".to_owned() };
            let calls = message["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|call| format!(" {}{}", call["name"], call["args"]));
            lines.push(format!("{} {id}: {}{}", message["type"], message["content"], calls.collect::<String>()));
            // The pieces add up to the message.
            let own = pieces.iter().map(|event| &event["data"]).filter(|piece| piece["id"] == message["id"]);
            let own = own.filter(|piece| piece["type"] == message["type"]);
            let text: String = own.filter_map(|piece| piece["content"].as_str()).collect();
            assert!(text.is_empty() || message["content"] == text, "{text}: {message}");
        }
        lines.join("\n")
    }

    let config = CONFIG.replace("[search_articles]", "[{ endpointId: search_articles, confirm: true }]");
    let chatwright = start(&config).await;
    let agent = chatwright.agent("helper").unwrap();
    let reply = agent.ask("What do you know about refunds?").await.unwrap();
    let id = reply.conversation_id().to_owned();
    let (asked, error) = stream_events(reply).await;
    assert_eq!(error, None);
    let conversation = agent.conversation(&id).await.unwrap();
    let message = &conversation.messages[1];
    let first = describe(&asked, &message.id);
    let approval = Answer::Approval {
        tool_call_id: message.tools().next().unwrap().tool_call_id.clone(),
        approval_id: None,
        approved: true,
        input_hash: None,
        reason: None,
        input: None,
        remember: None,
    };
    let decided = agent.send(&id, Submission::Answers { answers: vec![approval] }, RunOptions::default()).await;
    let (answered, error) = stream_events(decided.unwrap()).await;
    assert_eq!(error, None);
    assert_snapshot!(format!("{first}\n\n{}", describe(&answered, &message.id)), @r#"
    messages-tuple ai
    messages-tuple ai with calls
    values
    end
    "human" …: "What do you know about refunds?"
    "ai" ANSWER: "Let me look that up." "search_articles"{"query":"refunds"}

    messages-tuple tool
    messages-tuple ai
    values
    end
    "human" …: "What do you know about refunds?"
    "ai" ANSWER: "Let me look that up." "search_articles"{"query":"refunds"}
    "tool" …: "{\"articles\":[{\"title\":\"Refunds\",\"body\":\"Within 30 days.\"}]}"
    "ai" ANSWER-1: "Within 30 days.\n\nSource: the article *Refunds*."
    "#);
}

#[tokio::test]
async fn failed_answer_is_an_error_of_the_events() {
    let chatwright = start(CONFIG).await;
    let reply = chatwright.agent("helper").unwrap().ask("simulate a failure").await.unwrap();
    let (_, error) = stream_events(reply).await;
    assert_snapshot!(
        error.unwrap().message,
        @"The model provider did not accept this request. Try again, or start a new conversation."
    );
}

#[tokio::test]
async fn answer_is_stopped() {
    let slow = CONFIG.replace("delayMs: 0", "delayMs: 20");
    let chatwright = start(&slow).await;
    let agent = chatwright.agent("helper").unwrap();
    let mut reply = agent.ask("count to 1500").await.unwrap();
    while !matches!(reply.next().await.unwrap(), Some(Chunk::TextDelta { .. })) {}
    let busy = agent.ask_in(reply.conversation_id(), "and now?").await.err().unwrap();
    assert_eq!(busy.code, ErrorCode::Busy);
    reply.stop().await.unwrap();
    let answer = reply.finish().await.unwrap();
    assert_eq!(answer.metadata.outcome, Some(Outcome::Stopped));
    assert!(answer.text().starts_with('1'));
}

#[tokio::test]
async fn endpoint_is_called() {
    let chatwright = start(CONFIG).await;
    assert_eq!(chatwright.call_endpoint("double", json!({ "n": 4 })).await, Ok(json!(8)));
    assert_eq!(chatwright.call_endpoint("unknown", json!(null)).await.unwrap_err().code, ErrorCode::Invalid);
    assert_eq!(chatwright.agent("unknown").err().unwrap().code, ErrorCode::NotFound);
}

/// A conversation in a given database can be continued by another process, here a second start.
#[tokio::test]
async fn conversations_stay_in_a_given_database() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/chat.db", folder.path().display());
    // The config's own database is another one, which is not used.
    let config = format!("{CONFIG}\nstore: {{ url: 'sqlite://{}/other.db' }}\n", folder.path().display());
    let started = || Builder::from_text(&config).database(&url).start();
    let first = started().await.unwrap();
    let answer = first.agent("helper").unwrap().ask("hello").await.unwrap().finish().await.unwrap();
    first.shutdown(Duration::from_secs(5)).await;
    let second = started().await.unwrap();
    let agent = second.agent("helper").unwrap();
    agent.ask_in(&answer.conversation_id, "count to 2").await.unwrap().finish().await.unwrap();
    assert_eq!(agent.conversation(&answer.conversation_id).await.unwrap().messages.len(), 4);
    assert!(!folder.path().join("other.db").exists());
}

/// A service that workflows call: its address, and the requests so far.
async fn service() -> (String, Arc<AtomicUsize>) {
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = requests.clone();
    let count = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        std::future::ready("{}")
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, axum::Router::new().fallback(count)).await });
    (origin, requests)
}

/// Starts agents with a workflow that calls the service after each answer.
async fn with_trigger(origin: &str, with: impl Fn(Builder) -> Builder) -> Chatwright {
    let connection = format!(
        "connections:\n  - {{ id: web, type: Http, properties: {{ baseURL: '{origin}/', allowPrivate: true }} }}\n"
    );
    let api = "api:\n  - id: tell\n    type: InternalApi\n    routine: [{ id: a, type: Http, connectionId: web, properties: { path: told } }]\n";
    let workflow = "
workflows:
  - id: follow
    triggers: [{ id: ended, type: event, event: run.ended, runAs: { roles: [staff] } }]
    steps: [{ id: tell, type: endpoint, endpointId: tell }]
";
    let config = CONFIG.replacen("connections:\n", &connection, 1).replacen("api:\n", api, 1) + workflow;
    with(Builder::from_text(config)).start().await.unwrap()
}

/// Background work, such as triggers, does not run unless the program enables it.
#[tokio::test]
async fn background_work_runs_only_on_request() {
    let ((quiet, quiet_requests), (busy, busy_requests)) = (service().await, service().await);
    let without = with_trigger(&quiet, |builder| builder).await;
    let with = with_trigger(&busy, Builder::background_work).await;
    for chatwright in [&without, &with] {
        chatwright.agent("helper").unwrap().ask("hello").await.unwrap().finish().await.unwrap();
    }
    let told = async {
        while busy_requests.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), told).await.expect("the trigger has started its workflow");
    assert_eq!(quiet_requests.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn dropping_ends_all_tasks() {
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let slow = CONFIG.replace("delayMs: 0", "delayMs: 50");
    let chatwright = start(&slow).await;
    let agent = chatwright.agent("helper").unwrap();
    let reply = agent.ask("count to 2000").await.unwrap();
    drop(chatwright);
    assert!(tasks() > before, "the agent still has a handle");
    drop((agent, reply));
    // The answer would take minutes.
    tokio::time::timeout(Duration::from_secs(30), async {
        while tasks() > before {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .expect("all tasks have ended");
}

#[tokio::test]
async fn problems_of_the_config_have_their_positions() {
    let config = CONFIG.replace("connectionId: demo", "connectionId: dem");
    let Err(StartError::Config(problems)) = Builder::from_text(config).start().await else { panic!("it started") };
    let first = problems[0].to_string();
    assert!(first.starts_with("chatwright.yaml:5:"), "{first}");
    assert!(first.contains("`demo`"), "{first}");
}
