//! Custom agents: who may use them, and which definitions are rejected.

use crate::access::*;

fn put(path: String, body: Value) -> TestRequest {
    TestRequest { method: Method::PUT, ..post(path, body) }
}

fn delete(path: String) -> TestRequest {
    TestRequest { method: Method::DELETE, path, body: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn custom_agent_is_created_used_changed_and_deleted() {
    let custom = "customAgents: { from: [t_e_open, a_open], auth: { roles: [editor] } }\n";
    let routes = serve(&format!("{}{custom}", config())).await;
    let (boss, editor, ada) =
        (caller(("boss", true, &["admin"])), caller(("eddie", true, &["editor"])), caller(("ada", true, &[])));
    let reply = async |caller: &Caller, at: TestRequest| {
        let (status, body) = call_route(&routes, caller, at).await;
        (status, serde_json::from_str::<Value>(&body).unwrap_or(Value::String(body)))
    };
    let all = || "/api/admin/custom-agents".to_owned();
    let agent = |from: &str, tools: Value| json!({ "name": "Pirate", "from": from, "instructions": "Talk like a pirate.", "tools": tools });
    for (body, path) in [
        (agent("a_members", json!([])), "/from"),
        (agent("nothing", json!([])), "/from"),
        (agent("t_e_open", json!(["e_editors"])), "/tools"),
        (json!({ "name": " ", "from": "a_open", "instructions": "x" }), "/name"),
        (json!({ "name": "x", "from": "a_open", "instructions": " " }), "/instructions"),
        (json!({ "name": "x", "from": "a_open", "instructions": "x", "owner": "eve" }), "/"),
    ] {
        let (status, refusal) = reply(&boss, post(all(), body.clone())).await;
        assert_eq!((status, &refusal["error"]["path"]), (422, &json!(path)), "{body}");
    }
    let (status, made) = reply(&boss, post(all(), agent("t_e_open", json!(["search_it"])))).await;
    assert_eq!(status, 201, "{made}");
    let id = made["id"].as_str().unwrap().to_owned();
    let ask = |conversation: &str| send(&id, &id, conversation, "Search for refunds");
    assert_eq!(reply(&editor, ask("c")).await.0, 200, "at once");
    let kept = reply(&editor, get("/api/conversations/c".to_owned())).await.1.to_string();
    assert!(kept.contains("tool-search_it"), "{kept}");
    assert_eq!(reply(&ada, ask("d")).await.0, 404, "only whom the config lets in");
    assert_eq!(reply(&editor, get(format!("/{id}"))).await.0, 200);
    assert_eq!(reply(&ada, get(format!("/{id}"))).await.0, 404);

    // A change by another administrator in between.
    let one = || format!("/api/admin/custom-agents/{id}");
    let change = |version: Value| {
        let mut body = agent("t_e_open", json!([]));
        body["version"] = version;
        put(one(), body)
    };
    assert_eq!(reply(&boss, change(json!(1))).await.0, 200);
    assert_eq!(reply(&boss, change(json!(1))).await.0, 409);
    assert_eq!(reply(&boss, change(Value::Null)).await.0, 422);
    assert_eq!(reply(&editor, ask("e")).await.0, 200);
    let kept = reply(&editor, get("/api/conversations/e".to_owned())).await.1.to_string();
    assert!(!kept.contains("tool-search_it"), "it has no tools any more: {kept}");
    let (_, seen) = reply(&boss, get(one())).await;
    assert_eq!((&seen["version"], seen["versions"].as_array().unwrap().len()), (&json!(2), 2), "{seen}");

    assert_eq!(reply(&boss, delete(one())).await.0, 204);
    assert_eq!(reply(&boss, delete(one())).await.0, 404);
    assert_eq!(reply(&editor, ask("f")).await.0, 404);
    assert_eq!(reply(&editor, get("/api/conversations/c".to_owned())).await.0, 200, "earlier messages stay");
    let rows = reply(&boss, get("/api/admin/audit?user=boss".to_owned())).await.1;
    let rows: Vec<_> = rows["items"].as_array().unwrap().iter().map(|row| row["tool"].as_str().unwrap()).collect();
    assert_eq!(rows, ["admin:delete_agent", "admin:change_agent", "admin:add_agent"]);
}
