//! The config of `docs/agents.md`: agents that an app brings along, and those that users make.

use crate::access::*;

fn config_of_docs() -> String {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/agents.md")).unwrap();
    let config = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    config.replace("type: Demo }", "type: Demo, properties: { delayMs: 0 } }")
}

fn with_method(method: Method, path: &str, body: Option<Value>) -> TestRequest {
    TestRequest { method, path: path.to_owned(), body }
}

async fn reply(routes: &Router, caller: &Caller, at: TestRequest) -> (u16, Value) {
    let (status, body) = call_route(routes, caller, at).await;
    (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_are_stored_by_name_once() {
    let routes = serve(&config_of_docs()).await;
    let boss = caller(("boss", true, &["admin"]));
    let all = "/api/agents/definitions";
    let store = async |body: Value| reply(&routes, &boss, post(all.to_owned(), body)).await;
    let definition = json!({
        "name": "order-helper", "display_name": "Order helper", "instructions": "Find orders.", "model": "thorough",
        "tools": { "names": ["find_order"] },
        "workflows": { "execution_mode": "run_max_iterations", "tool_strategy": "predefined_pipeline", "max_iterations": 4 },
    });
    let changed = |field: &str, value: Value| {
        let mut other = definition.clone();
        other[field] = value;
        other
    };

    // Values without a meaning here, and values that do not fit, are rejected.
    for (field, value, path) in [
        ("name", json!("order_helper"), "/name"),
        ("display_name", json!(" "), "/display_name"),
        ("display_name", json!("Helper\u{202e}"), "/display_name"),
        ("instructions", json!(" "), "/instructions"),
        ("from", json!("nobody"), "/from"),
        ("model", json!("agent"), "/model"),
        ("tools", json!({ "names": ["drop_tables"] }), "/tools/names"),
        ("tools", json!({ "names": ["find_order", "knowledge:handbook"] }), "/workflows/tool_strategy"),
        ("workflows", json!({ "execution_mode": "run_once", "max_iterations": 2 }), "/workflows/max_iterations"),
        (
            "workflows",
            json!({ "execution_mode": "run_max_iterations", "max_iterations": 0 }),
            "/workflows/execution_mode",
        ),
        ("workflows", json!({ "execution_mode": "run_twice" }), "/"),
        ("scopes", json!(["data:read"]), "/scopes"),
        ("is_builtin", json!(true), "/is_builtin"),
        ("allow_frontier_fallback", json!(true), "/allow_frontier_fallback"),
        ("temperature", json!(1), "/"),
    ] {
        let (status, refusal) = store(changed(field, value)).await;
        assert_eq!((status, &refusal["error"]["path"]), (422, &json!(path)), "{field}: {refusal}");
    }
    let (_, refusal) = store(changed("tools", json!({ "names": ["drop_tables"] }))).await;
    let message = refusal["error"]["message"].as_str().unwrap();
    assert!(message.contains("It has `"), "the tools that there are: {message}");

    let (status, stored) = store(definition.clone()).await;
    assert_eq!(
        (status, &stored["state"], &stored["results"][0]["state"]),
        (200, &json!("synced"), &json!("created")),
        "{stored}"
    );
    let id = stored["results"][0]["id"].as_str().unwrap().to_owned();
    let (_, stored) = store(definition.clone()).await;
    assert_eq!((&stored["unchanged"], &stored["results"][0]["version"]), (&json!(1), &json!(1)), "{stored}");
    // A request has one definition for each name.
    let again = changed("name", json!("ORDER-HELPER"));
    let list =
        json!([changed("description", json!("About orders")), changed("name", json!("_")), { "name": "x" }, again]);
    let (status, stored) = store(list).await;
    let states: Vec<_> = stored["results"].as_array().unwrap().iter().map(|result| &result["state"]).collect();
    assert_eq!(
        (status, &stored["state"], states),
        (200, &json!("partial"), vec![&json!("updated"), &json!("failed"), &json!("failed"), &json!("failed")]),
        "{stored}"
    );
    assert_eq!(stored["results"][0]["id"], id.as_str());
    assert_eq!(stored["results"][3]["error"]["path"], "/name", "{stored}");

    let (_, found) = reply(&routes, &boss, get(format!("{all}/ORDER-helper"))).await;
    let seen = (&found["version"], &found["available"], &found["workflows"], &found["model"]);
    assert_eq!(seen, (&json!(2), &json!(true), &definition["workflows"], &json!("thorough")), "{found}");
    let (_, listed) = reply(&routes, &boss, get(all.to_owned())).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);

    // It answers with its model.
    let ada = caller(("ada", true, &[]));
    assert_eq!(reply(&routes, &ada, send(&id, &id, "c", "Where is my order?")).await.0, 200);
    let (_, kept) = reply(&routes, &ada, get("/api/conversations/c".to_owned())).await;
    assert!(kept.to_string().contains(r#""modelId":"thorough""#), "{kept}");
    for (caller, expected) in [(&ada, 404), (&boss, 200)] {
        assert_eq!(reply(&routes, caller, get(all.to_owned())).await.0, expected);
    }
    assert_eq!(reply(&routes, &boss, with_method(Method::DELETE, &format!("{all}/order-helper"), None)).await.0, 204);
    assert_eq!(reply(&routes, &ada, send(&id, &id, "d", "Hello")).await.0, 404);
    let (_, stored) = store(definition).await;
    assert_eq!(stored["results"][0]["state"], "created", "the name is free again");
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_of_users_are_theirs_until_shared_and_exceed_nobodys_rights() {
    let routes = serve(&config_of_docs()).await;
    let (ada, bob) = (caller(("ada", true, &["hr"])), caller(("bob", true, &[])));
    let boss = caller(("boss", true, &["admin"]));
    let visitor = caller(("visitor", false, &[]));
    let all = "/api/own-agents";
    let agent = |name: &str, tools: Value| json!({ "name": name, "title": "Clerk", "from": "helper", "instructions": "Be brief.", "tools": tools });
    let make = async |who: &Caller, body: Value| reply(&routes, who, post(all.to_owned(), body)).await;

    let (_, offered) = reply(&routes, &bob, get(all.to_owned())).await;
    assert_eq!(offered["choices"][0]["tools"], json!(["find_order", "questions", "knowledge:handbook"]), "{offered}");
    assert_eq!(make(&visitor, agent("a", json!([]))).await.0, 401);
    assert_eq!(make(&bob, agent("a", json!(["knowledge:salaries"]))).await.0, 422, "he may not read it");
    assert_eq!(make(&bob, agent("a b", json!([]))).await.0, 422);
    let (status, made) = make(&ada, agent("clerk", json!(["knowledge:salaries", "knowledge:handbook"]))).await;
    assert_eq!(status, 201, "{made}");
    assert_eq!(make(&ada, agent("Clerk", json!([]))).await.0, 422, "the name is taken");
    assert_eq!(make(&bob, agent("clerk", json!([]))).await.0, 201, "not by others");
    let id = made["id"].as_str().unwrap().to_owned();
    let one = format!("{all}/{id}");
    let ask =
        async |who: &Caller, conversation: &str| reply(&routes, who, send(&id, &id, conversation, "Hello")).await.0;
    assert_eq!((ask(&ada, "a1").await, ask(&bob, "b1").await, ask(&boss, "c1").await), (200, 404, 404));
    for at in [get(one.clone()), get(format!("/{id}"))] {
        assert_eq!(reply(&routes, &boss, at).await.0, 404);
    }

    // Sharing, and who may change it.
    let share = async |who: &Caller, sharing: Value| {
        reply(&routes, who, with_method(Method::PUT, &format!("{one}/sharing"), Some(sharing))).await.0
    };
    assert_eq!(share(&bob, json!({ "everybody": true })).await, 404);
    assert_eq!(share(&ada, json!({ "roles": ["sales"] })).await, 204);
    let sales = caller(("sam", true, &["sales"]));
    assert_eq!((ask(&sales, "s1").await, ask(&bob, "b2").await), (200, 404));
    assert_eq!(share(&ada, json!({ "everybody": true })).await, 204);
    assert_eq!((ask(&bob, "b3").await, ask(&visitor, "v1").await), (200, 401));
    let (_, listed) = reply(&routes, &bob, get(all.to_owned())).await;
    assert_eq!((&listed["shared"][0]["id"], listed["own"].as_array().unwrap().len()), (&json!(id), 1));
    assert!(!listed.to_string().contains("Be brief"), "what it is told is not shown to others");
    assert_eq!(reply(&routes, &bob, get(one.clone())).await.0, 404);

    // Versions.
    let change = async |version: Value, text: &str| {
        let mut body = agent("clerk", json!([]));
        body["instructions"] = text.into();
        body["version"] = version;
        reply(&routes, &ada, with_method(Method::PUT, &one, Some(body))).await
    };
    assert_eq!(change(json!(1), "Be long.").await.0, 200);
    assert_eq!(change(json!(1), "Be late.").await.0, 409);
    assert_eq!(change(Value::Null, "Be late.").await.0, 422);
    let (_, same) = change(json!(2), "Be long.").await;
    assert_eq!(same["versions"].as_array().unwrap().len(), 2, "nothing has changed: {same}");
    let (status, restored) = reply(&routes, &ada, post(format!("{one}/versions/1/restore"), json!({}))).await;
    let seen = (status, &restored["agent"]["version"], &restored["agent"]["instructions"]);
    assert_eq!(seen, (200, &json!(3), &json!("Be brief.")), "{restored}");
    // Without the role, she may no longer choose one of its libraries.
    let without_role = caller(("ada", true, &[]));
    assert_eq!(reply(&routes, &without_role, post(format!("{one}/versions/1/restore"), json!({}))).await.0, 422);

    // Administrators see and switch it.
    let (_, seen) = reply(&routes, &boss, get("/api/admin/own-agents?text=ada".to_owned())).await;
    assert_eq!((&seen["items"][0]["id"], seen["items"].as_array().unwrap().len()), (&json!(id), 1), "{seen}");
    // They also find it by the name of its maker.
    let owner = caller((auth::LOCAL_OWNER, true, &[]));
    assert_eq!(make(&owner, agent("own", json!([]))).await.0, 201);
    let (_, seen) = reply(&routes, &boss, get("/api/admin/own-agents?text=owne".to_owned())).await;
    assert_eq!(
        (&seen["items"][0]["owner"], seen["items"].as_array().unwrap().len()),
        (&json!(auth::LOCAL_OWNER), 1),
        "{seen}"
    );
    let switch = async |is_on: bool| {
        let at =
            with_method(Method::PUT, &format!("/api/admin/own-agents/{id}/enabled"), Some(json!({ "enabled": is_on })));
        reply(&routes, &boss, at).await.0
    };
    assert_eq!((switch(false).await, ask(&ada, "a2").await), (204, 404));
    assert_eq!((switch(true).await, ask(&ada, "a3").await), (204, 200));

    assert_eq!(reply(&routes, &bob, with_method(Method::DELETE, &one, None)).await.0, 404);
    assert_eq!(reply(&routes, &ada, with_method(Method::DELETE, &one, None)).await.0, 204);
    assert_eq!((ask(&ada, "a4").await, ask(&bob, "b4").await), (404, 404));
    assert_eq!(reply(&routes, &ada, get("/api/conversations/a1".to_owned())).await.0, 200, "conversations stay");
    let (_, rows) = reply(&routes, &boss, get("/api/admin/audit?user=ada".to_owned())).await;
    let rows: Vec<_> = rows["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["tool"].as_str())
        .filter(|tool| tool.starts_with("agents:"))
        .collect();
    assert_eq!(
        rows,
        ["agents:delete", "agents:restore", "agents:change", "agents:share", "agents:share", "agents:make"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_those_whom_the_config_names_make_agents() {
    let config = config_of_docs().replace(
        "users: { perUser: 10 }",
        "users: { auth: { roles: [maker] }, models: [quick], tools: [find_order], share: false, perUser: 1 }",
    );
    let routes = serve(&config).await;
    let (ada, bob) = (caller(("ada", true, &["maker"])), caller(("bob", true, &[])));
    let make = async |who: &Caller, name: &str, change: (&str, Value)| {
        let mut body = json!({ "name": name, "title": "T", "from": "helper", "instructions": "x" });
        body[change.0] = change.1;
        let (status, answer) = reply(&routes, who, post("/api/own-agents".to_owned(), body)).await;
        (status, answer["error"]["path"].as_str().map(str::to_owned), answer["id"].as_str().map(str::to_owned))
    };
    assert_eq!(make(&bob, "a", ("tools", json!([]))).await.0, 403);
    assert_eq!(make(&ada, "a", ("tools", json!(["questions"]))).await.1.as_deref(), Some("/tools"));
    assert_eq!(make(&ada, "a", ("model", json!("thorough"))).await.1.as_deref(), Some("/model"));
    assert_eq!(make(&ada, "a", ("owner", json!("bob"))).await.0, 422);
    let (status, _, id) = make(&ada, "a", ("model", json!("quick"))).await;
    assert_eq!(status, 201);
    assert_eq!(make(&ada, "b", ("tools", json!([]))).await.1.as_deref(), Some("/name"), "one is the maximum");
    let share = with_method(
        Method::PUT,
        &format!("/api/own-agents/{}/sharing", id.unwrap()),
        Some(json!({ "everybody": true })),
    );
    assert_eq!(reply(&routes, &ada, share).await.0, 422);
    let none = serve("connections: [{ id: demo, type: Demo }]\npages: [{ id: p }]\n").await;
    assert_eq!(reply(&none, &ada, get("/api/own-agents".to_owned())).await.0, 404);
}
