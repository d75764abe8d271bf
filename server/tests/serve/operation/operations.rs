//! Metrics, logs and trace ids.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::start_provider;
use reqwest::header::HOST;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::time::Duration;

/// Text that must not appear in logs or metrics.
pub(crate) const CANARY: &str = "kumquat-4711";
pub(crate) const SECRET: &str = "sk-canary-0815";
pub(crate) const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

pub(crate) fn config(base_url: &str) -> String {
    format!(
        r#"
connections:
  - {{ id: fake, type: OpenAICompatible, properties: {{ baseURL: "{base_url}", apiKey: {{ _secret: OPERATIONS_KEY }} }} }}
  - {{ id: dead, type: OpenAICompatible, properties: {{ baseURL: "http://127.0.0.1:1/v1", apiKey: {{ _secret: OPERATIONS_KEY }} }} }}
agents:
  - {{ id: helper, type: Agent, connectionId: fake, properties: {{ model: told }}, tools: [echo] }}
  - {{ id: broken, type: Agent, connectionId: dead, properties: {{ model: lost, maxRetries: 0 }} }}
api:
  - id: echo
    description: Says it again.
    payloadSchema: {{ type: object, properties: {{ text: {{ type: string }} }} }}
    routine: [{{ ":return": {{ text: {{ _payload: text }} }} }}]
pages:
  - {{ id: desk, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}
"#
    )
}

async fn fetch_text(request: RequestBuilder) -> String {
    request.send().await.unwrap().text().await.unwrap()
}

/// Returns the lines of `/metrics`.
async fn metrics(server: &Server) -> BTreeSet<String> {
    fetch_text(server.request(Method::GET, "/metrics")).await.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn metrics_count_runs_tool_calls_and_requests() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chatwright.yaml"), config(&start_provider().await)).unwrap();
    let server = Server::start_with_env(&[("OPERATIONS_KEY", SECRET)], &["--config", folder.path().to_str().unwrap()]);
    let prompt = format!(r#"echo {{"text":"{CANARY}"}}"#);
    chunks(server.message_to("desk/helper", "c1", &prompt).send().await.unwrap()).await;
    chunks(server.message_to("desk/helper", "c2", "invented {}").send().await.unwrap()).await;
    chunks(server.message_to("desk/broken", "c3", "Hello").send().await.unwrap()).await;
    server.request(Method::GET, "/api/conversations/none").send().await.unwrap();
    let expected = [
        r#"chatwright_runs_started_total{agent="helper"} 2"#,
        r#"chatwright_runs_total{agent="helper",outcome="done"} 2"#,
        r#"chatwright_runs_total{agent="broken",outcome="failed"} 1"#,
        r#"chatwright_run_seconds_count{agent="broken",outcome="failed"} 1"#,
        r#"chatwright_tool_calls_total{agent="helper",tool="echo",outcome="ok"} 1"#,
        // Names that a model invents do not become label values.
        r#"chatwright_tool_calls_total{agent="helper",tool="unknown",outcome="refused"} 1"#,
        r#"chatwright_tool_seconds_count{tool="echo"} 1"#,
        r#"chatwright_model_requests_total{provider="openai",model="told",outcome="ok"} 4"#,
        r#"chatwright_model_requests_total{provider="openai",model="lost",outcome="unreachable"} 1"#,
        r#"chatwright_model_first_part_seconds_count{provider="openai",model="told"} 4"#,
        r#"chatwright_http_requests_total{method="POST",route="/api/agent/{page}/{agent}",status="200"} 3"#,
        r#"chatwright_http_requests_total{method="GET",route="/api/conversations/{id}",status="404"} 1"#,
        "chatwright_journal_lag_seconds 0",
        "chatwright_journal_events_waiting 0",
        "chatwright_store_writes_waiting 0",
        "chatwright_draining 0",
    ];
    let mut found = metrics(&server).await;
    // The run ends shortly after its stream.
    for _ in 0..250 {
        if expected.iter().all(|expected| found.contains(*expected)) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        found = metrics(&server).await;
    }
    for expected in expected {
        assert!(found.contains(expected), "{expected}\nis not in\n{found:#?}");
    }
    assert!(found.iter().any(|line| line.starts_with(r#"chatwright_store_write_seconds_count{outcome="ok"} "#)));
    assert!(found.iter().all(|line| !line.contains(CANARY) && !line.contains("invented")));
}

#[tokio::test]
async fn tokens_are_counted() {
    let server = Server::start();
    chunks(server.message("c1", "hello").send().await.unwrap()).await;
    let found = metrics(&server).await;
    for kind in ["input", "output"] {
        let name = format!(r#"chatwright_tokens_total{{agent="demo",model="demo/demo",kind="{kind}"}} "#);
        assert!(found.iter().any(|line| line.starts_with(&name)), "{name}\nis not in\n{found:#?}");
    }
}

#[tokio::test]
async fn requests_are_logged_with_their_trace_id() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chatwright.yaml"), config(&start_provider().await)).unwrap();
    let log = folder.path().join("log");
    let arguments = ["--config", folder.path().to_str().unwrap(), "--log-format", "json"];
    let server = Server::start_logging_with_env(&[("OPERATIONS_KEY", SECRET)], &arguments, File::create(&log).unwrap());
    let traceparent = format!("00-{TRACE_ID}-00f067aa0ba902b7-01");
    let failed = server.message_to("desk/broken", "c1", CANARY).header("traceparent", &traceparent);
    let failed = failed.send().await.unwrap();
    assert_eq!(failed.headers()["x-trace-id"], TRACE_ID);
    let received = chunks(failed).await;
    let error = received.iter().find_map(|chunk| chunk.pointer("/messageMetadata/error")).unwrap();
    assert_eq!(error["traceId"], TRACE_ID);
    let prompt = format!(r#"echo {{"text":"{CANARY}"}}"#);
    chunks(server.message_to("desk/helper", "c2", &prompt).send().await.unwrap()).await;
    let refused = server.request(Method::GET, "/api/conversations/none").send().await.unwrap();
    let id = refused.headers()["x-trace-id"].to_str().unwrap().to_owned();
    let refused: Value = refused.json().await.unwrap();
    assert_eq!((id.len(), &refused["error"]["traceId"]), (32, &json!(id)));
    drop(server);

    let log = fs::read_to_string(&log).unwrap();
    assert!(!log.contains(CANARY) && !log.contains(SECRET), "content or a secret is in the log");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_run = |line: &&Value| line["message"] == "run failed";
    let line = lines.iter().find(of_run).unwrap();
    assert_eq!((&line["level"], &line["conversation"]), (&json!("WARN"), &json!("c1")));
    let spans = line["spans"].as_array().unwrap();
    let names: Vec<_> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["request", "run"]);
    assert_eq!((&spans[0]["trace_id"], &spans[1]["agent"]), (&json!(TRACE_ID), &json!("broken")));
}

#[tokio::test]
async fn probes_are_answered_for_any_host() {
    let server = Server::start();
    for (path, status) in [("/healthz", 200), ("/readyz", 200), ("/metrics", 421), ("/", 421)] {
        let asked = server.request(Method::GET, path).header(HOST, "10.0.0.9:3000").send().await.unwrap();
        assert_eq!(asked.status().as_u16(), status, "{path}");
    }
}
