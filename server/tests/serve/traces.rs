//! Traces, as a collector on a real socket gets them.

use crate::http::chunks;
use crate::operations::{SAID, SECRET, TRACE, config};
use crate::process::Server;
use crate::provider::provider;
use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::process::Command;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

/// What was sent, as it came, with the key that came along.
type Got = Arc<Mutex<Vec<(Option<String>, Bytes)>>>;

async fn collector() -> (String, Got) {
    let got = Got::default();
    let kept = got.clone();
    let take = move |headers: HeaderMap, body: Bytes| {
        let key = headers.get("x-key").and_then(|key| key.to_str().ok()).map(str::to_owned);
        kept.lock().unwrap().push((key, body));
        std::future::ready(())
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/v1/traces", post(take))).await });
    (format!("http://{address}"), got)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn attributes(span: &Span) -> BTreeMap<&str, String> {
    let value = |value: &Value| match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        Value::ArrayValue(all) => format!("{} values", all.values.len()),
        _ => String::new(),
    };
    let all = span.attributes.iter();
    all.map(|one| (one.key.as_str(), value(one.value.as_ref().unwrap().value.as_ref().unwrap()))).collect()
}

#[tokio::test]
async fn what_runs_did_is_traced() {
    let (endpoint, got) = collector().await;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chatwright.yaml"), config(&provider().await)).unwrap();
    let variables = [
        ("OPERATIONS_KEY", SECRET),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=collect"),
    ];
    let mut server = Server::start_in(&variables, &["--config", folder.path().to_str().unwrap()]);
    let said = format!(r#"echo {{"text":"{SAID}"}}"#);
    let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
    let sent = server.message_to("desk/helper", "c1", &said).header("traceparent", parent).send().await.unwrap();
    chunks(sent).await;
    let failed = server.message_to("desk/broken", "c2", "Hello").send().await.unwrap();
    let told = failed.headers()["x-trace-id"].to_str().unwrap().to_owned();
    let shown = chunks(failed).await;
    assert!(shown.iter().any(|chunk| chunk.to_string().contains(&told)), "{shown:?}");
    server.ask(reqwest::Method::GET, "/healthz").send().await.unwrap();
    // What is left is sent before it ends.
    server.terminate();
    assert!(tokio::task::spawn_blocking(move || server.wait()).await.unwrap().success());

    let got = got.lock().unwrap();
    assert!(got.iter().all(|(key, _)| key.as_deref() == Some("collect")));
    let requests: Vec<_> =
        got.iter().map(|(_, body)| ExportTraceServiceRequest::decode(body.clone()).unwrap()).collect();
    let whole = format!("{requests:?}");
    for unsaid in [SAID, SECRET, "Hello"] {
        assert!(!whole.contains(unsaid), "{unsaid} is content");
    }
    let resources: Vec<_> = requests.iter().flat_map(|request| &request.resource_spans).collect();
    assert!(format!("{:?}", resources[0].resource).contains("chatwright"));
    let spans: Vec<_> = resources.iter().flat_map(|of| &of.scope_spans).flat_map(|of| &of.spans).collect();
    let find = |trace: &str, name: &str| {
        let found: Vec<&Span> =
            spans.iter().filter(|span| hex(&span.trace_id) == trace && span.name == name).copied().collect();
        assert!(!found.is_empty(), "{name} is not in {trace}: {whole}");
        found
    };
    // The client's trace goes on, down to the call.
    let request = find(TRACE, "POST /api/agent/{page}/{agent}")[0];
    assert_eq!(hex(&request.parent_span_id), "00f067aa0ba902b7");
    assert_eq!(attributes(request)["http.response.status_code"], "200");
    let run = find(TRACE, "invoke_agent helper")[0];
    assert_eq!(run.parent_span_id, request.span_id);
    let known = attributes(run);
    assert_eq!(
        (known["gen_ai.operation.name"].as_str(), known["gen_ai.conversation.id"].as_str()),
        ("invoke_agent", "c1")
    );
    assert_eq!(known["chatwright.outcome"], "done");
    let replies = find(TRACE, "chat told");
    assert_eq!(replies.len(), 2);
    for reply in replies {
        assert_eq!(reply.parent_span_id, run.span_id);
        let known = attributes(reply);
        assert_eq!(
            (known["gen_ai.provider.name"].as_str(), known["gen_ai.request.model"].as_str()),
            ("openai", "told")
        );
        assert!(known.contains_key("gen_ai.usage.input_tokens") && known.contains_key("gen_ai.usage.output_tokens"));
        assert!(reply.end_time_unix_nano >= reply.start_time_unix_nano);
    }
    let call = find(TRACE, "execute_tool echo")[0];
    assert_eq!(call.parent_span_id, run.span_id);
    assert_eq!(attributes(call)["gen_ai.tool.name"], "echo");
    // A user who names the trace of a failure names the one that is traced.
    let failure = find(&told, "invoke_agent broken")[0];
    assert_eq!((failure.status.as_ref().unwrap().code, attributes(failure)["error.type"].as_str()), (2, "failed"));
    assert_eq!(failure.parent_span_id, find(&told, "POST /api/agent/{page}/{agent}")[0].span_id);
    assert!(!spans.iter().any(|span| span.name.contains("healthz")));
}

/// A boss who has the helper, who has a tool.
fn boss(base_url: &str) -> String {
    let agents = "agents:\n  - { id: boss, type: Agent, connectionId: fake, properties: { model: told }, agents: [{ agentId: helper, description: Helps. }] }\n";
    config(base_url).replace("agents:\n", agents)
}

#[tokio::test]
async fn an_agent_below_has_a_span_of_its_own() {
    let (endpoint, got) = collector().await;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chatwright.yaml"), boss(&provider().await)).unwrap();
    let variables = [("OPERATIONS_KEY", SECRET), ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)];
    let mut server = Server::start_in(&variables, &["--config", folder.path().to_str().unwrap()]);
    let task = serde_json::json!({ "task": format!(r#"echo {{"text":"{SAID}"}}"#) });
    chunks(server.message_to("desk/boss", "c1", &format!("helper {task}")).send().await.unwrap()).await;
    server.terminate();
    assert!(tokio::task::spawn_blocking(move || server.wait()).await.unwrap().success());

    let got = got.lock().unwrap();
    let requests = got.iter().map(|(_, body)| ExportTraceServiceRequest::decode(body.clone()).unwrap());
    let resources = requests.flat_map(|request| request.resource_spans);
    let spans: Vec<_> = resources.flat_map(|of| of.scope_spans).flat_map(|of| of.spans).collect();
    let under = |parent: &Span| {
        let mut below: Vec<_> = spans.iter().filter(|span| span.parent_span_id == parent.span_id).collect();
        below.sort_by_key(|span| span.start_time_unix_nano);
        below
    };
    let names = |below: &[&Span]| below.iter().map(|span| span.name.clone()).collect::<Vec<_>>();
    let run = spans.iter().find(|span| span.name == "invoke_agent boss").unwrap();
    let of_boss = under(run);
    assert_eq!(names(&of_boss), ["chat told", "execute_tool helper", "chat told"]);
    let task = of_boss[1];
    let agent = under(task);
    assert_eq!(names(&agent), ["invoke_agent helper"]);
    assert_eq!(attributes(agent[0])["gen_ai.agent.id"], "helper");
    let of_helper = under(agent[0]);
    assert_eq!(names(&of_helper), ["chat told", "execute_tool echo", "chat told"]);
    for (inner, outer) in [(of_helper[1], agent[0]), (agent[0], task), (task, run)] {
        assert!(outer.start_time_unix_nano <= inner.start_time_unix_nano);
        assert!(inner.end_time_unix_nano <= outer.end_time_unix_nano, "{} ends after {}", inner.name, outer.name);
    }
}

/// What is asked whether it takes traces is asked as it is sent them later.
#[tokio::test]
async fn doctor_brings_the_collectors_key() {
    let (endpoint, got) = collector().await;
    let folder = tempfile::tempdir().unwrap();
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_chatwright"));
    doctor.args(["doctor", "--database", &format!("sqlite://{}/chat.db", folder.path().display())]);
    doctor.envs([
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*endpoint),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=coll%65ct,x-more=1"),
    ]);
    let said = tokio::task::spawn_blocking(move || doctor.output().unwrap().stdout).await.unwrap();
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains(&format!("{endpoint} takes them")), "{said}");
    let got = got.lock().unwrap();
    assert_eq!(got.iter().map(|(key, _)| key.as_deref()).collect::<Vec<_>>(), [Some("collect")]);
}
