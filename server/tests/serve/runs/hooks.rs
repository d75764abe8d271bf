//! An agent's hooks, from the config to the stream.

use crate::http::chunks;
use crate::process::Server;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Each hook stores its payload in a table; of the two `onFinish` hooks one fails and one adds data
/// parts.
const CONFIG: &str = r#"
connections:
  - { id: demo, type: Demo, properties: { delayMs: 0 } }
  - { id: log, type: Sql, properties: { url: "sqlite::memory:", init: "create table calls (hook text, payload text); create table articles (title text, body text); insert into articles values ('Refunds', 'Within 30 days.')" } }
agents:
  - id: helper
    type: Agent
    connectionId: demo
    properties: { model: demo }
    tools: [search_articles]
    hooks:
      onStart: [on_start]
      onStepStart: [on_step_start]
      onToolCallStart: [on_tool_start]
      onToolCallFinish: [on_tool_finish, broken]
      onStepFinish: [on_step_finish]
      onFinish: [broken, on_finish]
api:
  - id: search_articles
    description: Search.
    payloadSchema: { type: object, properties: { query: { type: string } } }
    routine: [{ id: a, type: SqlQuery, connectionId: log, properties: { query: "select title, body from articles" } }, { ":return": { articles: { _step: a } } }]
  - { id: broken, routine: [{ ":throw": "no" }] }
  - { id: on_start, routine: [{ id: kept, type: SqlExecute, connectionId: log, properties: { query: "insert into calls values ('start', :all)", parameters: { all: { _payload: true } } } }] }
  - { id: on_step_start, routine: [{ id: kept, type: SqlExecute, connectionId: log, properties: { query: "insert into calls values ('step start', :all)", parameters: { all: { _payload: true } } } }] }
  - { id: on_tool_start, routine: [{ id: kept, type: SqlExecute, connectionId: log, properties: { query: "insert into calls values ('tool start', :all)", parameters: { all: { _payload: true } } } }] }
  - { id: on_tool_finish, routine: [{ id: kept, type: SqlExecute, connectionId: log, properties: { query: "insert into calls values ('tool finish', :all)", parameters: { all: { _payload: true } } } }] }
  - { id: on_step_finish, routine: [{ id: kept, type: SqlExecute, connectionId: log, properties: { query: "insert into calls values ('step finish', :all)", parameters: { all: { _payload: true } } } }] }
  - id: on_finish
    routine:
      - { id: kept, type: SqlExecute, connectionId: log, properties: { query: "insert into calls values ('finish', :all)", parameters: { all: { _payload: true } } } }
      - :return: { dataParts: [{ type: data-chat-title, data: { title: "  About \n refunds " } }, { type: text, data: no }, { type: data-suggestions, id: s, data: { items: [More] } }] }
  - { id: calls, routine: [{ id: t, type: SqlQuery, connectionId: log, properties: { query: "select hook, payload from calls order by rowid" } }, { ":return": { _step: t } }] }
pages:
  - { id: demo, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }
"#;

async fn hook_calls(server: &Server) -> Vec<(String, Value)> {
    let request = server.request(Method::POST, "/api/endpoints/demo/calls").json(&json!({}));
    let rows: Value = request.send().await.unwrap().json().await.unwrap();
    let row = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        (text("hook"), serde_json::from_str(&text("payload")).unwrap())
    };
    rows.as_array().unwrap_or_else(|| panic!("{rows}")).iter().map(row).collect()
}

/// Returns the calls of a run with two steps and one tool call.
async fn all_hook_calls(server: &Server) -> Vec<(String, Value)> {
    let mut seen = hook_calls(server).await;
    for _ in 0..1200 {
        if seen.len() == 8 {
            break;
        }
        // The run does not wait for these hooks, so they may end a little later.
        tokio::time::sleep(Duration::from_millis(50)).await;
        seen = hook_calls(server).await;
    }
    let mut names: Vec<_> = seen.iter().map(|(hook, _)| hook.as_str()).collect();
    names.sort_unstable();
    let expected =
        ["finish", "start", "step finish", "step finish", "step start", "step start", "tool finish", "tool start"];
    assert_eq!(names, expected);
    seen
}

/// A program's question has neither a page nor a conversation nor a message for data parts.
#[tokio::test]
async fn all_hooks_are_called_for_the_question_of_a_program() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("chatwright.yaml");
    std::fs::write(&file, CONFIG).unwrap();
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    let prompt = "What do you know about refunds?";
    let body = json!({ "agent_name": "helper", "input": { "prompt": prompt }, "tools": true });
    let answer = server.request(Method::POST, "/api/runs/invoke").json(&body).send().await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    let seen = all_hook_calls(&server).await;
    for (hook, payload) in &seen {
        assert_eq!((&payload["agentId"], payload.get("pageId")), (&json!("helper"), None), "{hook}");
        assert_eq!((payload.get("conversationId"), &payload["sharedState"]), (None, &json!({})), "{hook}");
    }
    let end = &seen.iter().find(|(hook, _)| hook == "finish").unwrap().1;
    let said = |at: usize| &end["messages"][at]["parts"][0]["text"];
    assert_eq!((said(0), said(1)), (&json!(prompt), &answer["output"]));
}

#[tokio::test]
async fn all_hooks_are_called_and_on_finish_adds_data_parts() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("chatwright.yaml");
    std::fs::write(&file, CONFIG).unwrap();
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    let ask = server.message_to("demo/helper", "c1", "What do you know about refunds?");
    let answer = chunks(ask.send().await.unwrap()).await;
    let data: Vec<_> = answer.iter().filter(|chunk| chunk["type"].as_str().unwrap().starts_with("data-")).collect();
    assert_eq!(
        data,
        [
            &json!({ "type": "data-chat-title", "data": { "title": "  About \n refunds " } }),
            &json!({ "type": "data-suggestions", "id": "s", "data": { "items": ["More"] } }),
        ]
    );
    assert_eq!(answer.last().unwrap()["type"], "finish");
    // The parts are stored, and the title becomes the conversation's title.
    let record = server.conversation("c1").await;
    assert_eq!(record["title"], "About refunds");
    let parts = record["messages"][1]["parts"].as_array().unwrap();
    assert_eq!(parts.last().unwrap()["data"], json!({ "items": ["More"] }));

    let seen = all_hook_calls(&server).await;
    let payload = |hook: &str| seen.iter().find(|(name, _)| name == hook).unwrap().1.clone();
    for (_, payload) in &seen {
        assert_eq!(
            (&payload["agentId"], &payload["pageId"], &payload["conversationId"]),
            (&json!("helper"), &json!("demo"), &json!("c1"))
        );
    }
    assert_eq!(payload("start")["tools"], json!(["search_articles"]));
    let tool = payload("tool finish");
    assert_eq!((&tool["success"], &tool["toolCall"]["toolName"]), (&json!(true), &json!("search_articles")));
    let end = payload("finish");
    assert_eq!((end["steps"].as_array().unwrap().len(), end["messages"].as_array().unwrap().len()), (2, 2));
    assert_eq!((&end["finishReason"], &end["isAborted"]), (&json!("stop"), &json!(false)));
    assert_eq!(end["messages"][1]["role"], "assistant");
}

/// The turn in which an approved call runs begins after the reply that contained the call.
#[tokio::test]
async fn hooks_are_told_which_call_was_approved() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("chatwright.yaml");
    let asking = "tools: [{ endpointId: search_articles, confirm: true }]";
    std::fs::write(&file, CONFIG.replace("tools: [search_articles]", asking)).unwrap();
    let server = Server::start_with(&["--config", file.to_str().unwrap()]);
    let ask = server.message_to("demo/helper", "c1", "What do you know about refunds?");
    let asked = chunks(ask.send().await.unwrap()).await;
    let call = asked.iter().find(|chunk| chunk["type"] == "tool-approval-request").unwrap();
    let answer = json!({ "kind": "approval", "toolCallId": call["toolCallId"], "approved": true });
    let submission = json!({ "kind": "answers", "answers": [answer] });
    let request = json!({ "pageId": "demo", "agentId": "helper", "conversationId": "c1", "submission": submission });
    let sent = server.request(Method::POST, "/ui/send").json(&json!({ "request": request })).send().await.unwrap();
    sent.text().await.unwrap();
    for _ in 0..1200 {
        let seen = hook_calls(&server).await;
        if let Some((_, finished)) = seen.iter().find(|(hook, _)| hook == "tool finish") {
            let started = &seen.iter().find(|(hook, _)| hook == "tool start").unwrap().1;
            assert_eq!((&started["stepNumber"], &started["toolCall"]), (&json!(0), &finished["toolCall"]));
            let told = &finished["toolCall"];
            assert_eq!((&told["toolCallId"], &told["toolName"]), (&call["toolCallId"], &json!("search_articles")));
            assert!(told["input"]["query"].as_str().is_some_and(|query| query.contains("refunds")), "{told}");
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the hook was not called");
}

/// Starts a service that never responds, or responds with a very large body.
async fn start_hanging_service() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut asked = [0; 64];
                let read = stream.read(&mut asked).await.unwrap_or_default();
                if String::from_utf8_lossy(&asked[..read]).contains("/huge") {
                    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 10000000\r\n\r\n";
                    let _ = stream.write_all(format!("{head}{}", "x".repeat(10_000_000)).as_bytes()).await;
                }
                tokio::time::sleep(Duration::from_secs(90)).await;
            });
        }
    });
    address
}

fn failing_config(address: &str) -> String {
    let ask = |id: &str, path: &str| {
        let step = format!("{{ id: a, type: Http, connectionId: web, properties: {{ path: {path} }} }}");
        let part = "{ type: data-late, data: { _step: a.body } }";
        format!("  - {{ id: {id}, routine: [{step}, {{ ':return': {{ dataParts: [{part}] }} }}] }}\n")
    };
    format!(
        "connections:
  - {{ id: demo, type: Demo, properties: {{ delayMs: 0 }} }}
  - {{ id: web, type: Http, properties: {{ baseURL: '{address}', allowPrivate: true }} }}
api:
{}{}  - {{ id: odd, routine: [{{ ':return': [7, {{ dataParts: yes }}] }}] }}
  - {{ id: late, routine: [{{ ':return': {{ dataParts: [{{ type: data-late, data: here }}] }} }}] }}
agents:
  - {{ id: slow, type: Agent, connectionId: demo, properties: {{ model: demo }}, hooks: {{ onStart: [hang], onStepStart: [hang], onStepFinish: [hang], onFinish: [late, hang, late] }} }}
  - {{ id: broken, type: Agent, connectionId: demo, properties: {{ model: demo }}, hooks: {{ onFinish: [huge, odd, late] }} }}
pages: [{{ id: p }}]
",
        ask("hang", "silence"),
        ask("huge", "huge")
    )
}

/// Hooks that the run does not wait for delay nothing. `onFinish` hooks have ten seconds, and the
/// reply is stored before they start.
#[tokio::test]
async fn hanging_hooks_do_not_block_replies() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), failing_config(&start_hanging_service().await)).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let has_reply = |message: &Value| message["parts"].to_string().contains("Hello!");
    let late = |sent: &[Value]| sent.iter().filter(|chunk| chunk["type"] == "data-late").count();

    let begun = Instant::now();
    let asked = server.message_to("p/slow", "c1", "hello").send();
    let (sent, kept) = tokio::join!(async { (chunks(asked.await.unwrap()).await, begun.elapsed()) }, async {
        loop {
            let answer = server.conversation("c1").await["messages"][1].clone();
            if has_reply(&answer) {
                return begun.elapsed();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let (sent, took) = sent;
    assert!(kept < took, "the reply is stored while the hook hangs: {kept:?} {took:?}");
    assert_eq!((sent.last().unwrap()["type"].as_str(), late(&sent)), (Some("finish"), 1), "{sent:?}");
    assert!(took > Duration::from_secs(9), "{took:?}");
    // The next message is accepted.
    let next = server.message_to("p/slow", "c1", "hello").send();
    assert_eq!(next.await.unwrap().status(), 200);

    // Results that are too large or invalid are ignored, and the others are used.
    let sent = chunks(server.message_to("p/broken", "c2", "hello").send().await.unwrap()).await;
    assert_eq!((sent.last().unwrap()["type"].as_str(), late(&sent)), (Some("finish"), 1), "{sent:?}");
    let record = server.conversation("c2").await;
    assert!(has_reply(&record["messages"][1]) && record["running"] != true, "{record}");
}
