//! Exported traces, as a collector receives them.

use crate::http::chunks;
use crate::operation::operations::{CANARY, SECRET, TRACE_ID, config};
use crate::process::Server;
use crate::provider::start_provider;
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

/// The key header and the body of each request that the collector received.
type ReceivedTraces = Arc<Mutex<Vec<(Option<String>, Bytes)>>>;

async fn start_collector() -> (String, ReceivedTraces) {
    let got = ReceivedTraces::default();
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
async fn runs_are_exported_as_spans() {
    let (endpoint, got) = start_collector().await;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chatwright.yaml"), config(&start_provider().await)).unwrap();
    let variables = [
        ("OPERATIONS_KEY", SECRET),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=collect"),
    ];
    let mut server = Server::start_with_env(&variables, &["--config", folder.path().to_str().unwrap()]);
    let prompt = format!(r#"echo {{"text":"{CANARY}"}}"#);
    let parent = format!("00-{TRACE_ID}-00f067aa0ba902b7-01");
    let sent = server.message_to("desk/helper", "c1", &prompt).header("traceparent", parent).send().await.unwrap();
    chunks(sent).await;
    let failed = server.message_to("desk/broken", "c2", "Hello").send().await.unwrap();
    let failed_trace = failed.headers()["x-trace-id"].to_str().unwrap().to_owned();
    let shown = chunks(failed).await;
    assert!(shown.iter().any(|chunk| chunk.to_string().contains(&failed_trace)), "{shown:?}");
    server.request(reqwest::Method::GET, "/healthz").send().await.unwrap();
    // Pending spans are sent before the server ends.
    server.terminate();
    assert!(tokio::task::spawn_blocking(move || server.wait()).await.unwrap().success());

    let got = got.lock().unwrap();
    assert!(got.iter().all(|(key, _)| key.as_deref() == Some("collect")));
    let requests: Vec<_> =
        got.iter().map(|(_, body)| ExportTraceServiceRequest::decode(body.clone()).unwrap()).collect();
    let whole = format!("{requests:?}");
    for unsaid in [CANARY, SECRET, "Hello"] {
        assert!(!whole.contains(unsaid), "{unsaid} is exported");
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
    // The trace of the client continues down to the tool call.
    let request = find(TRACE_ID, "POST /api/agent/{page}/{agent}")[0];
    assert_eq!(hex(&request.parent_span_id), "00f067aa0ba902b7");
    assert_eq!(attributes(request)["http.response.status_code"], "200");
    let run = find(TRACE_ID, "invoke_agent helper")[0];
    assert_eq!(run.parent_span_id, request.span_id);
    let known = attributes(run);
    assert_eq!(
        (known["gen_ai.operation.name"].as_str(), known["gen_ai.conversation.id"].as_str()),
        ("invoke_agent", "c1")
    );
    assert_eq!(known["chatwright.outcome"], "done");
    let replies = find(TRACE_ID, "chat told");
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
    let call = find(TRACE_ID, "execute_tool echo")[0];
    assert_eq!(call.parent_span_id, run.span_id);
    assert_eq!(attributes(call)["gen_ai.tool.name"], "echo");
    // The trace id in an error message is that of the exported trace.
    let failure = find(&failed_trace, "invoke_agent broken")[0];
    assert_eq!((failure.status.as_ref().unwrap().code, attributes(failure)["error.type"].as_str()), (2, "failed"));
    assert_eq!(failure.parent_span_id, find(&failed_trace, "POST /api/agent/{page}/{agent}")[0].span_id);
    assert!(!spans.iter().any(|span| span.name.contains("healthz")));
}

/// Returns a config in which a boss delegates to the helper, which has a tool.
fn config_with_parent(base_url: &str) -> String {
    let agents = "agents:\n  - { id: boss, type: Agent, connectionId: fake, properties: { model: told }, agents: [{ agentId: helper, description: Helps. }] }\n";
    config(base_url).replace("agents:\n", agents)
}

#[tokio::test]
async fn sub_agents_have_their_own_spans() {
    let (endpoint, got) = start_collector().await;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chatwright.yaml"), config_with_parent(&start_provider().await)).unwrap();
    let variables = [("OPERATIONS_KEY", SECRET), ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)];
    let mut server = Server::start_with_env(&variables, &["--config", folder.path().to_str().unwrap()]);
    let task = serde_json::json!({ "task": format!(r#"echo {{"text":"{CANARY}"}}"#) });
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

/// The check uses the headers that the exporter uses.
#[tokio::test]
async fn doctor_sends_the_collectors_headers() {
    let (endpoint, got) = start_collector().await;
    let folder = tempfile::tempdir().unwrap();
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_chatwright"));
    doctor.args(["doctor", "--database", &format!("sqlite://{}/chat.db", folder.path().display())]);
    doctor.envs([
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*endpoint),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=coll%65ct,x-more=1"),
    ]);
    let printed = tokio::task::spawn_blocking(move || doctor.output().unwrap().stdout).await.unwrap();
    let printed = String::from_utf8_lossy(&printed);
    assert!(printed.contains(&format!("{endpoint} accepts traces")), "{printed}");
    let got = got.lock().unwrap();
    assert_eq!(got.iter().map(|(key, _)| key.as_deref()).collect::<Vec<_>>(), [Some("collect")]);
}
