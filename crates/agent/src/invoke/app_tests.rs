//! Calls of user interfaces of tools: which tools they have, and what the user is asked.

use super::{AppCall, AppDecision, InvocationObserver, ToolFailure, ToolRequest, call_tool};
use crate::{Agent, Event, SinkClosed, TurnLimits};
use contract::testing::{RecordingTool, ScriptedModel};
use contract::{Annotations, Exposure, RunScope, SourceTools, Tool, ToolCall, ToolError, ToolSource, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

struct Ignores;

impl InvocationObserver for Ignores {
    fn observe<'a>(&'a self, _: &'a Event) -> BoxFuture<'a, Result<(), SinkClosed>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// A source with the tools `read`, `send`, which sends data to others, and `pay`, which needs an approval.
struct Source(&'static str);

fn tool(source: &str, spec: ToolSpec) -> Arc<dyn Tool> {
    let output = json!(format!("{source}: {}", spec.name));
    Arc::new(RecordingTool::new(spec, move |_, _| std::future::ready(Ok(output.clone()))))
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec::new(name, "", json!({ "type": "object", "properties": { "n": { "type": "integer" } } }))
}

fn pay() -> ToolSpec {
    ToolSpec { needs_approval: true, ..spec("pay") }
}

impl ToolSource for Source {
    fn name(&self) -> &str {
        self.0
    }

    fn tools<'a>(&'a self, _: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        let annotations = Annotations { egress: true, ..Annotations::default() };
        let specs = [spec("read"), ToolSpec { annotations, ..spec("send") }, pay()];
        let tools = specs.map(|spec| tool(self.0, spec)).into();
        Box::pin(std::future::ready(Ok(SourceTools { tools, ..SourceTools::default() })))
    }
}

async fn call(app: Option<AppCall>, name: &str, input: Value) -> Result<Value, ToolFailure> {
    let mut agent = Agent::new("a", Arc::new(ScriptedModel::new(Vec::new())));
    agent.tools = vec![tool("own", spec("own"))];
    agent.sources = vec![Arc::new(Source("one")), Arc::new(Source("two"))];
    let request = ToolRequest {
        call: ToolCall { id: "c".to_owned(), name: name.to_owned(), input, provider_executed: false, metadata: None },
        is_approved: false,
        app,
        limits: TurnLimits::default(),
        time: Duration::from_secs(5),
        scope: RunScope::default(),
        observer: Arc::new(Ignores),
        cancel: CancellationToken::new(),
    };
    call_tool(&agent, request).await.output
}

fn app(source: &str) -> AppCall {
    AppCall { source: source.to_owned(), ..AppCall::default() }
}

#[tokio::test]
async fn an_app_has_the_tools_of_its_source_only() {
    let check = async |source: &str, name: &str, input: Value, expected: Result<&str, &str>| {
        let seen = call(Some(app(source)), name, input).await;
        let seen = seen.map_err(|failure| failure.to_string());
        let begins = |text: &str, with: &str| text.starts_with(with);
        match (&seen, expected) {
            (Ok(Value::String(said)), Ok(expected)) => assert_eq!(said, expected),
            (Err(error), Err(expected)) => assert!(begins(error, expected), "{name}: {error}"),
            _ => panic!("{source} {name}: {seen:?}"),
        }
    };
    check("one", "read", json!({}), Ok("one: read")).await;
    check("two", "read", json!({}), Ok("two: read")).await;
    check("one", "own", json!({}), Err("There is no tool")).await;
    check("three", "read", json!({}), Err("There is no tool")).await;
    check("one", "read", json!({ "n": "x" }), Err("The arguments do not fit")).await;
    assert_eq!(call(None, "own", json!({})).await, Ok(json!("own: own")), "a program has all of them");
}

#[tokio::test]
async fn the_user_approves_what_they_would_approve_for_the_model() {
    let both = Exposure { private: Some("a".to_owned()), untrusted: Some("b".to_owned()) };
    let check = async |name: &str, exposure: Exposure, decision: Option<(bool, &str)>, expected: Result<(), &str>| {
        let decision = decision.map(|(approved, of)| AppDecision { approved, fingerprint: of.to_owned() });
        let seen = call(Some(AppCall { exposure, decision, ..app("one") }), name, json!({})).await;
        let seen = seen.map(|_| ()).map_err(|failure| match failure {
            ToolFailure::NeedsApproval(fingerprint) => fingerprint,
            other => other.to_string(),
        });
        assert_eq!(seen.as_ref().map_err(String::as_str).copied(), expected, "{name}");
    };
    let (asked, clear) = (pay().fingerprint(), Exposure::default);
    check("pay", clear(), None, Err(&asked)).await;
    check("pay", clear(), Some((true, &asked)), Ok(())).await;
    check("pay", clear(), Some((false, &asked)), Err("The user denied the call.")).await;
    check("pay", clear(), Some((true, "of another tool")), Err(&asked)).await;
    check("send", clear(), None, Ok(())).await;
    let exposed = format!("{}+exposed", spec("send").fingerprint());
    check("send", both.clone(), None, Err(&exposed)).await;
    check("send", both.clone(), Some((true, &exposed)), Ok(())).await;
    check("read", both, None, Ok(())).await;
    let refused = call(None, "pay", json!({})).await.unwrap_err();
    assert!(matches!(refused, ToolFailure::Refused(_)), "a program is not asked: {refused:?}");
}
