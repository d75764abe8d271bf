//! Calls of endpoints: how they end, what they report, and who may make them.

use super::{ENDLESS, answer_of, call, context, endpoints};
use contract::{ApprovalTerms, CallReport, CallReports, Tool, ToolContext};
use endpoints::{CallContext, EndpointError};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn call_ends_when_cancelled_or_timed_out() {
    let routines = [
        ("endless", answer_of("SqlQuery", ENDLESS, json!({}))),
        ("quick", answer_of("SqlQuery", "select 1 as n", json!({}))),
    ];
    let q = || json!({ "q": "" });
    let short = endpoints(false, Duration::from_secs(1), &routines).await;
    assert_eq!(call(&short, "endless", q()).await, "The routine did not finish within 1 s.");
    // Longer than anything here takes on a busy machine.
    let endpoints = endpoints(false, Duration::from_secs(60), &routines).await;
    assert_eq!(call(&endpoints, "quick", q()).await, r#"[{"n":1}]"#);
    assert_eq!(endpoints.call("none", json!({}), &context()).await, Err(EndpointError::NotFound));

    let context = context();
    let stop = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        context.cancel.cancel();
    };
    let (ended, ()) = tokio::join!(endpoints.call("endless", q(), &context), stop);
    assert_eq!(ended, Err(EndpointError::Cancelled));
    assert_eq!(call(&endpoints, "quick", q()).await, r#"[{"n":1}]"#);
}

#[tokio::test]
async fn statuses_of_a_call_are_reported_up_to_a_limit() {
    let say = json!({ ":status": { "_template": "Reading {{ item.page }} {{ payload.q }}" } });
    let nested = json!({ "id": "c", "type": "CallEndpoint", "properties": { "endpointId": "inner", "payload": { "q": "deep" } } });
    let pages: Vec<u32> = (0..200).collect();
    let outer = json!([nested, { ":for": "page", ":in": pages, ":do": say }]);
    let inner = json!([{ ":status": { "_payload": "q" } }]);
    let endpoints = endpoints(false, Duration::from_secs(20), &[("outer", outer), ("inner", inner)]).await;
    let (sender, mut received) = tokio::sync::mpsc::channel(500);
    let context = CallContext { reports: CallReports::new("call", sender), ..context() };
    endpoints.call("outer", json!({ "q": "x".repeat(1_000) }), &context).await.unwrap();
    let mut said = Vec::new();
    while let Ok((call, CallReport::Data { name, id, data })) = received.try_recv() {
        assert_eq!((call.as_str(), name.as_str(), id.as_deref()), ("call", "status", Some("call")));
        said.push(data["message"].as_str().unwrap().to_owned());
    }
    assert_eq!((said.len(), said[0].as_str(), said[1].chars().count()), (100, "deep", 300));
    assert!(said[1].starts_with("Reading 0 xxx"), "{}", said[1]);
}

#[tokio::test]
async fn endpoint_can_be_called_as_a_tool() {
    let routine = json!([{ ":if": { "_eq": [{ "_payload": "q" }, ""] }, ":then": { ":reject": "Say what." } }, { ":return": "found" }]);
    let endpoints = Arc::new(endpoints(false, Duration::from_secs(20), &[("search", routine)]).await);
    assert!(endpoints.tool("none", "none", false, ApprovalTerms::default()).is_none());
    let tool = endpoints
        .tool("search", "find", true, ApprovalTerms::default())
        .unwrap()
        .for_caller(Arc::new(|_: &str| Ok(())));
    let spec = tool.spec();
    assert_eq!((spec.name.as_str(), spec.description.as_str(), spec.needs_approval), ("find", "Does something.", true));
    let context = || ToolContext {
        call_id: "c".to_owned(),
        scope: Arc::new(contract::RunScope {
            user_id: "ada".to_owned(),
            conversation_id: "v".to_owned(),
            ..contract::RunScope::default()
        }),
        cancel: CancellationToken::new(),
        reports: CallReports::default(),
        may_repeat: false,
        models: contract::ModelUse::default(),
    };
    assert_eq!(tool.call(json!({ "q": "x" }), context()).await, Ok(json!("found")));
    assert_eq!(tool.call(json!({ "q": "" }), context()).await.unwrap_err().message, "Say what.");
    let unfit = tool.call(json!({}), context()).await.unwrap_err().message;
    assert_eq!(unfit, r#"The payload is invalid at /: "q" is a required property"#);
}

/// Also the endpoints that the tool's endpoint calls read the agent; other callers have none.
#[tokio::test]
async fn endpoint_reads_which_agent_calls_it() {
    let call_inner =
        json!({ "id": "i", "type": "CallEndpoint", "properties": { "endpointId": "inner", "payload": { "q": "" } } });
    let outer = json!([call_inner, { ":return": [{ "_agent": "id" }, { "_step": "i" }] }]);
    let inner = json!([{ ":return": { "_template": "{{ agent.id }} in {{ agent.conversationId }}" } }]);
    let whole = json!([{ ":return": { "_agent": true } }]);
    let routines = [("outer", outer), ("inner", inner), ("whole", whole)];
    let endpoints = Arc::new(endpoints(false, Duration::from_secs(20), &routines).await);
    let check = async |endpoint: &str, conversation_id: &str, expected: serde_json::Value| {
        let tool = endpoints.tool(endpoint, endpoint, false, ApprovalTerms::default()).unwrap();
        let scope = contract::RunScope {
            agent_id: "support".to_owned(),
            conversation_id: conversation_id.to_owned(),
            ..contract::RunScope::default()
        };
        let context = ToolContext {
            call_id: "c".to_owned(),
            scope: Arc::new(scope),
            cancel: CancellationToken::new(),
            reports: CallReports::default(),
            may_repeat: false,
            models: contract::ModelUse::default(),
        };
        let called = tool.for_caller(Arc::new(|_: &str| Ok(()))).call(json!({ "q": "" }), context).await;
        assert_eq!(called, Ok(expected), "{endpoint}");
    };
    check("outer", "v", json!(["support", "support in v"])).await;
    check("whole", "v", json!({ "id": "support", "conversationId": "v" })).await;
    check("whole", "", json!({ "id": "support", "conversationId": null })).await;
    assert_eq!(call(&endpoints, "whole", json!({ "q": "" })).await, "null");
}

#[tokio::test]
async fn nested_endpoints_are_checked_for_the_caller() {
    let call_inner =
        json!({ "id": "i", "type": "CallEndpoint", "properties": { "endpointId": "inner", "payload": { "q": "" } } });
    let outer = json!([{ ":try": call_inner, ":catch": { ":return": "caught" } }, { ":return": { "_step": "i" } }]);
    let inner = json!([{ ":return": "done" }]);
    let time = Duration::from_secs(20);
    let endpoints = Arc::new(endpoints(false, time, &[("outer", outer), ("inner", inner)]).await);
    let check = async |refused: &'static str, error: EndpointError, expected: &str| {
        let gate = move |id: &str| if id == refused { Err(error.clone()) } else { Ok(()) };
        let context = CallContext { gate: Arc::new(gate), ..context() };
        let answer = endpoints.call("outer", json!({ "q": "" }), &context).await;
        assert_eq!(answer.map_or_else(|error| error.to_string(), |value| value.to_string()), expected, "{refused}");
    };
    check("none", EndpointError::NotFound, "\"done\"").await;
    check("outer", EndpointError::NotFound, "There is no such endpoint.").await;
    check("inner", EndpointError::NotFound, "\"caught\"").await;
    check("outer", EndpointError::Unauthenticated, "The user is not signed in.").await;
    check("inner", EndpointError::Unauthenticated, "The user is not signed in.").await;
}
