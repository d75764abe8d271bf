//! Conversations are private: for other users, every route answers as if a conversation did not
//! exist.

use crate::access::*;

/// Returns a request with the id of a conversation and of its newest answer.
type ConversationRoute = fn(&str, &str) -> TestRequest;

/// The last ones delete what the others need.
const ROUTES: [(&str, ConversationRoute); 17] = [
    ("show", |id, _| get(format!("/api/conversations/{id}"))),
    ("show on a page", |id, _| post("/ui/conversation".to_owned(), json!({ "id": id }))),
    ("rename", |id, _| with(Method::PATCH, format!("/api/conversations/{id}"), json!({ "title": "Mine" }))),
    ("rename on a page", |id, _| post("/ui/change".to_owned(), json!({ "ids": [id], "change": { "title": "Mine" } }))),
    ("watch on a page", |id, _| post("/ui/watch".to_owned(), json!({ "conversation_id": id, "after": null }))),
    ("claim events on a page", |id, answer| {
        post("/ui/claim".to_owned(), json!({ "conversation_id": id, "message_id": answer, "keys": ["k"], "by": "b" }))
    }),
    ("stop on a page", |id, _| post("/ui/stop".to_owned(), json!({ "conversation_id": id }))),
    ("switch", |id, answer| change(id, json!({ "kind": "switch", "messageId": answer }))),
    ("rate", |id, answer| change(id, json!({ "kind": "rate", "messageId": answer, "feedback": { "rating": "up" } }))),
    ("rate no more", |id, answer| change(id, json!({ "kind": "rate", "messageId": answer }))),
    ("copy", |id, answer| change(id, json!({ "kind": "copy", "messageId": answer }))),
    ("copy on a page", |id, answer| revise_on_page(id, json!({ "kind": "copy", "messageId": answer }))),
    ("delete a message", |id, answer| change(id, json!({ "kind": "delete", "messageId": answer }))),
    ("restore a message", |id, answer| change(id, json!({ "kind": "restore", "messageId": answer }))),
    ("hand over", |id, _| post(format!("/api/conversations/{id}/agent"), json!({ "agentId": "above_open" }))),
    ("delete a message on a page", |id, answer| revise_on_page(id, json!({ "kind": "delete", "messageId": answer }))),
    ("delete", |id, _| with(Method::DELETE, format!("/api/conversations/{id}"), json!({}))),
];

fn with(method: Method, path: String, body: Value) -> TestRequest {
    TestRequest { method, ..post(path, body) }
}

fn change(id: &str, change: Value) -> TestRequest {
    post(format!("/api/conversations/{id}/change"), change)
}

fn revise_on_page(id: &str, change: Value) -> TestRequest {
    post("/ui/revise".to_owned(), json!({ "id": id, "change": change }))
}

#[tokio::test(flavor = "multi_thread")]
async fn conversation_routes_reject_other_users() {
    let routes = serve(&config()).await;
    let (ada, eve) = (caller(("ada", true, &["admin"])), caller(("eve", true, &["admin"])));
    assert_eq!(call_route(&routes, &ada, send("p_open", "a_open", "c", "Hello")).await.0, 200);
    let shown = call_route(&routes, &ada, get("/api/conversations/c".to_owned())).await.1;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let answer = shown["messages"][1]["id"].as_str().unwrap();
    for (case, at) in ROUTES {
        let missing = call_route(&routes, &eve, at("nothing", answer)).await;
        assert_eq!(missing.0, 404, "{case}: {}", missing.1);
        assert_eq!(
            call_route(&routes, &eve, at("c", answer)).await,
            missing,
            "{case}: the response reveals that it exists"
        );
    }
    let after = call_route(&routes, &ada, get("/api/conversations/c".to_owned())).await.1;
    assert_eq!(serde_json::from_str::<Value>(&after).unwrap(), shown);
    for (case, at) in ROUTES {
        let (status, body) = call_route(&routes, &ada, at("c", answer)).await;
        assert!((200..300).contains(&status), "{case}: {status} {body}");
    }
}
