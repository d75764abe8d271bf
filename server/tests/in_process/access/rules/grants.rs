//! Standing approvals are private: nobody sees, uses or revokes another user's.

use crate::access::*;

/// A public agent that needs approval to delete.
const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
api:
  - id: remove
    type: Api
    auth: public
    description: Delete
    payloadSchema: { type: object, properties: { title: { type: string } } }
    routine: [{ ':return': removed }]
agents:
  - id: a
    type: Agent
    connectionId: demo
    auth: public
    properties: { model: demo }
    tools: [{ endpointId: remove, name: delete_it, confirm: true }]
pages: [{ id: p, auth: public }]
";

const DELETE: &str = "Delete the article about refunds";

fn always(conversation: &str, call: &str) -> TestRequest {
    let answer = json!({ "kind": "approval", "toolCallId": call, "approved": true, "remember": "always" });
    let submission = json!({ "kind": "answers", "answers": [answer] });
    let request = json!({ "pageId": "p", "agentId": "a", "conversationId": conversation, "submission": submission });
    post("/ui/send".to_owned(), json!({ "request": request }))
}

fn revoke(id: &str) -> TestRequest {
    TestRequest { method: Method::DELETE, path: format!("/api/grants/{id}"), body: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn standing_approvals_are_private_to_their_user() {
    let routes = serve(CONFIG).await;
    let mut given = Vec::new();
    for (name, is_authenticated, roles, _) in CALLERS {
        let caller = caller((name, is_authenticated, roles));
        let ask = async |at: TestRequest| call_route(&routes, &caller, at).await;
        let (status, list) = ask(get("/api/grants".to_owned())).await;
        assert_eq!((status, list.as_str()), (200, r#"{"items":[]}"#), "{name}");
        // Standing approvals of other users do not count.
        let (_, asked) = ask(send("p", "a", name, DELETE)).await;
        assert!(asked.contains(r#""type":"tool-approval-request""#), "{name}: {asked}");
        let call = asked.split_once(r#""toolCallId":""#).unwrap().1.split_once('"').unwrap().0;
        assert_eq!(ask(always(name, call)).await.0, 200, "{name}");
        let (_, runs) = ask(send("p", "a", &format!("{name}-2"), DELETE)).await;
        assert!(runs.contains("data-standing-approval") && runs.contains(r#""output":"removed""#), "{name}: {runs}");
        let (_, list) = ask(get("/api/grants".to_owned())).await;
        let list: Value = serde_json::from_str(&list).unwrap();
        assert_eq!(list["items"].as_array().unwrap().len(), 1, "{name}: {list}");
        let (status, from_page) = ask(post("/ui/grants".to_owned(), json!({}))).await;
        assert_eq!((status, serde_json::from_str::<Value>(&from_page).unwrap()), (200, list.clone()), "{name}");
        given.push((caller.clone(), list["items"][0]["id"].as_str().unwrap().to_owned()));
    }
    for (caller, own) in &given {
        let nothing = call_route(&routes, caller, revoke(UNKNOWN_ID)).await;
        for (_, other) in given.iter().filter(|(_, other)| other != own) {
            assert_eq!(call_route(&routes, caller, revoke(other)).await, nothing, "{}", caller.user_id);
            let from_page = call_route(&routes, caller, post("/ui/revoke".to_owned(), json!({ "id": other }))).await;
            assert_eq!(from_page.0, 404, "{}", caller.user_id);
        }
        assert_eq!((nothing.0, call_route(&routes, caller, revoke(own)).await.0), (404, 204), "{}", caller.user_id);
        let again = format!("{}-3", caller.user_id);
        let (_, asked) = call_route(&routes, caller, send("p", "a", &again, DELETE)).await;
        assert!(asked.contains(r#""type":"tool-approval-request""#), "{}: {asked}", caller.user_id);
    }
}
