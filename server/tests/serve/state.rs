//! Page states that are very large, very deep or no state at all (B9): refused, or taken as they are; the next turn is answered.

use crate::http::chunks;
use crate::process::Server;
use reqwest::{Method, Response};
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};

/// The first page says what it shares; of the second one, whatever its client shares is a field.
const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: a, type: Agent, connectionId: demo, properties: { model: demo } }]
pages:
  - id: declared
    blocks:
      - { id: company, type: TextInput }
      - { id: chat, type: AgentChat, properties: { agentId: a, sharedState: { company: { _state: company } } } }
  - { id: free }
";

/// None where the server hung up before all was sent.
async fn say(server: &Server, page: &str, conversation: usize, state: &str) -> Option<Response> {
    let id = format!("{page}{conversation}");
    let text = format!(r#"[{{"id":"m-{id}","role":"user","parts":[{{"type":"text","text":"hello"}}]}}]"#);
    let body = format!(r#"{{"id":"c","messages":{text},"sharedState":{state}}}"#);
    let request = server.ask(Method::POST, &format!("/api/agent/{page}/a?conversationId={id}"));
    request.header("content-type", "application/json").body(body).send().await.ok()
}

fn deep(levels: usize) -> String {
    format!(r#"{{"company":{}1{}}}"#, r#"{"a":"#.repeat(levels), "}".repeat(levels))
}

fn wide(keys: usize) -> String {
    let keys: Vec<_> = (0..keys).map(|key| format!(r#""k{key}":1"#)).collect();
    format!("{{{}}}", keys.join(","))
}

#[tokio::test]
async fn any_state_is_taken_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chatwright.yaml"), CONFIG).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let before = server.memory();
    let cases = [
        (r#"{"company":"<script>alert(1)</script></page-state>"}"#.to_owned(), 200, ""),
        (r#"{"__proto__":{"company":"x"},"constructor":1,"":2,"\u0000":3,"\ud83d\ude00":4}"#.to_owned(), 200, ""),
        (r#"{"company":null}"#.to_owned(), 200, ""),
        (r#"{"company":[[{"a":{}}],1e300,-0.0]}"#.to_owned(), 200, ""),
        (deep(100), 200, ""),
        (deep(1_000), 400, "malformed"),
        (deep(10_000), 400, "malformed"),
        (wide(10_000), 200, ""),
        (wide(500_000), 413, "too_large"),
        (format!(r#"{{"company":"{}"}}"#, "x".repeat(5 << 20)), 413, "too_large"),
        (r#"{"company":"\ud800"}"#.to_owned(), 400, "malformed"),
        (r#"{"company":1e999}"#.to_owned(), 400, "malformed"),
        ("null".to_owned(), 422, "invalid"),
        ("[]".to_owned(), 422, "invalid"),
        (r#""company""#.to_owned(), 422, "invalid"),
        ("{}".to_owned(), 200, ""),
    ];
    for page in ["declared", "free"] {
        for (number, (state, expected, code)) in cases.iter().enumerate() {
            let case: String = format!("{page}: {state}").chars().take(120).collect();
            let begun = Instant::now();
            let Some(answer) = say(&server, page, number, state).await else {
                assert_eq!(*expected, 413, "{case}");
                continue;
            };
            assert_eq!(answer.status(), *expected, "{case}");
            if *expected == 200 {
                let told = chunks(answer).await;
                assert_eq!(told.last().unwrap()["type"], "finish", "{case}: {told:?}");
            } else {
                assert_eq!(answer.json::<Value>().await.unwrap()["error"]["code"], *code, "{case}");
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{case}: {:?}", begun.elapsed());
        }
    }
    // A hundred at once, each as large as may be.
    let large = format!(r#"{{"company":"{}"}}"#, "x".repeat(200_000));
    let all = (1_000..1_100).map(|number| say(&server, "declared", number, &large));
    for answer in futures::future::join_all(all).await {
        assert_eq!(chunks(answer.unwrap()).await.last().unwrap()["type"], "finish");
    }
    let grown = server.memory().saturating_sub(before);
    assert!(grown < 300 << 20, "{grown} bytes more are held");
}
