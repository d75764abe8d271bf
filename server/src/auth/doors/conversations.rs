//! Conversations are their owner's: every door to one answers another as if it were not there.

use super::*;

/// A door to a conversation. It is given the conversation and its newest answer.
type Door = fn(&str, &str) -> Knock;

/// The last ones end what the others need.
const DOORS: [(&str, Door); 16] = [
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
    ("delete a message on a page", |id, answer| revise_on_page(id, json!({ "kind": "delete", "messageId": answer }))),
    ("delete", |id, _| with(Method::DELETE, format!("/api/conversations/{id}"), json!({}))),
];

fn with(method: Method, path: String, body: Value) -> Knock {
    Knock { method, ..post(path, body) }
}

fn change(id: &str, change: Value) -> Knock {
    post(format!("/api/conversations/{id}/change"), change)
}

fn revise_on_page(id: &str, change: Value) -> Knock {
    post("/ui/revise".to_owned(), json!({ "id": id, "change": change }))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_door_to_a_conversation_is_its_owners() {
    let routes = serve(&config()).await;
    let (ada, eve) = (caller(("ada", true, &["admin"])), caller(("eve", true, &["admin"])));
    assert_eq!(knock(&routes, &ada, send("p_open", "a_open", "c", "Hello")).await.0, 200);
    let shown = knock(&routes, &ada, get("/api/conversations/c".to_owned())).await.1;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let answer = shown["messages"][1]["id"].as_str().unwrap();
    for (door, at) in DOORS {
        let missing = knock(&routes, &eve, at("nothing", answer)).await;
        assert_eq!(missing.0, 404, "{door}: {}", missing.1);
        assert_eq!(knock(&routes, &eve, at("c", answer)).await, missing, "{door}: this tells that it is there");
    }
    let after = knock(&routes, &ada, get("/api/conversations/c".to_owned())).await.1;
    assert_eq!(serde_json::from_str::<Value>(&after).unwrap(), shown);
    for (door, at) in DOORS {
        let (status, body) = knock(&routes, &ada, at("c", answer)).await;
        assert!((200..300).contains(&status), "{door}: {status} {body}");
    }
}
