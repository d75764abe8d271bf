//! Tasks for a copy of the agent: when it has one, and who decides that.

use crate::access::*;

const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
api:
  - id: e
    description: Deletes an article
    payloadSchema: { type: object, properties: { query: { type: string } } }
    routine: [{ ':return': deleted }]
agents:
  - { id: always, type: Agent, connectionId: demo, properties: { model: demo }, delegate: true, auth: public }
  - id: sometimes
    type: Agent
    connectionId: demo
    properties: { model: demo }
    tools: [{ endpointId: e, name: delete_it, confirm: true }]
    delegate: optional
    auth: public
  - { id: never, type: Agent, connectionId: demo, properties: { model: demo }, auth: public }
pages: [{ id: p, auth: public }]
";

const TASK: &str = "start task: Show me a table and some code.";
/// The part of the card of a copy that contains its id.
const COPY: &str = r#"/general-purpose""#;

async fn ask(routes: &Router, agent: &str, mut body: Value, keys: Value) -> (u16, String) {
    body.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    let who = caller(("ada", true, &[]));
    call_route(routes, &who, post(format!("/api/agent/p/{agent}?conversationId={agent}"), body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_works_where_it_is_allowed() {
    let routes = serve(CONFIG).await;
    let check = async |agent: &str, keys: Value, expected: bool| {
        let (status, stream) = ask(&routes, agent, json!({ "messages": [message(TASK)] }), keys.clone()).await;
        assert_eq!((status, stream.contains(COPY)), (200, expected), "{agent} {keys}: {stream}");
    };
    check("always", json!({}), true).await;
    check("always", json!({ "delegate": true }), true).await;
    check("sometimes", json!({}), false).await;
    check("sometimes", json!({ "delegate": true }), true).await;
    check("sometimes", json!({ "delegate": false }), false).await;
    check("never", json!({}), false).await;
    check("never", json!({ "delegate": false }), false).await;
    for (agent, chosen) in [("always", false), ("never", true)] {
        let (status, body) =
            ask(&routes, agent, json!({ "messages": [message(TASK)] }), json!({ "delegate": chosen })).await;
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &body["error"]["path"]), (422, &json!("/delegate")), "{agent}: {body}");
    }
}

/// A copy that waits for an approval goes on, although the answer to it does not choose the copy again.
#[tokio::test(flavor = "multi_thread")]
async fn copy_goes_on_after_an_approval() {
    let routes = serve(CONFIG).await;
    let task = json!({ "messages": [message("start task: Delete the article about refunds")] });
    let (_, stream) = ask(&routes, "sometimes", task, json!({ "delegate": true })).await;
    assert!(stream.contains("tool-approval-request"), "{stream}");
    let who = caller(("ada", true, &[]));
    let (_, view) = call_route(&routes, &who, get("/api/conversations/sometimes".to_owned())).await;
    let view: Value = serde_json::from_str(&view).unwrap();
    let mut answer = view["messages"][1].clone();
    let parts = answer["parts"].as_array_mut().unwrap();
    let call = parts.iter_mut().find(|part| part["state"] == "approval-requested").unwrap();
    call["state"] = "approval-responded".into();
    call["approval"]["approved"] = true.into();
    let (status, stream) = ask(&routes, "sometimes", json!({ "messages": [answer] }), json!({})).await;
    assert_eq!(status, 200, "{stream}");
    assert!(stream.contains(r#""state":"done""#) && !stream.contains("previous state is lost"), "{stream}");
}
