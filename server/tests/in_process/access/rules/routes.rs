//! Access to each route.

use crate::access::*;

/// Returns a request for an object of a kind. It is given the kind, the id of a new conversation
/// and that of one of the caller.
pub(super) type RouteCase = fn(&str, &str, &str) -> TestRequest;

pub(super) const ROUTES: [(&str, RouteCase); 24] = [
    ("a page", |kind, _, _| get(format!("/p_{kind}"))),
    ("a page's definition", |kind, _, _| post("/ui/page".to_owned(), json!({ "id": format!("p_{kind}") }))),
    ("a message on a page", |kind, new, _| send(&format!("p_{kind}"), "a_open", new, "Hello")),
    ("a message from a page", |kind, new, _| send_from_page(&format!("p_{kind}"), "a_open", new)),
    ("a stream on a page", |kind, _, own| get(format!("/api/agent/p_{kind}/a_open/{own}/stream"))),
    ("a stop on a page", |kind, _, own| post(format!("/api/agent/p_{kind}/a_open/{own}/stop"), json!({}))),
    ("an endpoint on a page", |kind, _, _| post(format!("/api/endpoints/p_{kind}/e_open"), json!({}))),
    ("an agent", |kind, new, _| send("p_open", &format!("a_{kind}"), new, "Hello")),
    ("an agent from a page", |kind, new, _| send_from_page("p_open", &format!("a_{kind}"), new)),
    ("an agent's stream", |kind, _, own| get(format!("/api/agent/p_open/a_{kind}/{own}/stream"))),
    ("an agent's stop", |kind, _, own| post(format!("/api/agent/p_open/a_{kind}/{own}/stop"), json!({}))),
    ("a summary on a page", |kind, _, own| compact(&format!("p_{kind}"), "a_open", own)),
    ("an agent's summary", |kind, _, own| compact("p_open", &format!("a_{kind}"), own)),
    ("an agent in a conversation", |kind, _, own| send("p_open", &format!("a_{kind}"), own, "Hello")),
    ("an agent from a page in a conversation", |kind, _, own| send_from_page("p_open", &format!("a_{kind}"), own)),
    ("answers to an agent that asked nothing", |kind, _, own| send_answers("p_open", &format!("a_{kind}"), own)),
    ("an agent asked by a program", |kind, _, _| {
        post(
            "/api/runs/invoke".to_owned(),
            json!({ "agent_name": format!("a_{kind}"), "input": { "prompt": "Hello" } }),
        )
    }),
    ("an agent run by a program", |kind, _, _| {
        post("/api/runs".to_owned(), json!({ "agent_name": format!("a_{kind}"), "input": { "prompt": "Hello" } }))
    }),
    ("an agent as a model", |kind, _, _| {
        let messages = json!([{ "role": "user", "content": "Hello" }]);
        post("/v1/chat/completions".to_owned(), json!({ "model": format!("a_{kind}"), "messages": messages }))
    }),
    ("an agent's response", |kind, _, _| {
        post("/v1/responses".to_owned(), json!({ "model": format!("a_{kind}"), "input": "Hello" }))
    }),
    ("an agent of a frontend", |kind, new, _| {
        let messages = json!([{ "id": "m", "role": "user", "content": "Hello" }]);
        let body = json!({ "threadId": new, "runId": "r", "messages": messages });
        post(format!("/ag-ui/a_{kind}"), body)
    }),
    ("an agent of another agent", |kind, new, _| {
        let message =
            json!({ "messageId": "m", "contextId": new, "role": "ROLE_USER", "parts": [{ "text": "Hello" }] });
        let params = json!({ "message": message });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params });
        post(format!("/a2a/a_{kind}?A2A-Version=1.0"), body)
    }),
    ("an agent of another agent, by HTTP+JSON", |kind, new, _| {
        let message =
            json!({ "messageId": "r", "contextId": new, "role": "ROLE_USER", "parts": [{ "text": "Hello" }] });
        post(format!("/a2a/a_{kind}/message:send?A2A-Version=1.0"), json!({ "message": message }))
    }),
    ("an endpoint", |kind, _, _| post(format!("/api/endpoints/p_open/e_{kind}"), json!({}))),
];

/// Demands a summary, in too many words, so that every caller who may demand it is refused alike.
fn compact(page: &str, agent: &str, conversation: &str) -> TestRequest {
    post(format!("/api/agent/{page}/{agent}/{conversation}/compact"), json!({ "focus": "x".repeat(3_000) }))
}

/// Routes that continue the caller's conversation with the agent `a_open`.
const IN_CONVERSATION: [&str; 2] = ["an agent in a conversation", "an agent from a page in a conversation"];

/// Returns the expected status where the access rules alone would give `by_rules`. A conversation
/// belongs to one agent, so another one is refused, but only to callers who may know of it.
pub(super) fn expected_status(case: &str, kind: &str, by_rules: u16) -> u16 {
    if by_rules == 200 && case.contains("summary") {
        return if case.starts_with("an agent") && kind != "open" { 409 } else { 422 };
    }
    if by_rules == 200 && kind != "open" && IN_CONVERSATION.contains(&case) { 409 } else { by_rules }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_enforces_access_rules() {
    let routes = serve(&config()).await;
    for (name, is_authenticated, roles, expected) in CALLERS {
        let caller = caller((name, is_authenticated, roles));
        let own = format!("own-{name}");
        assert_eq!(call_route(&routes, &caller, send("p_open", "a_open", &own, "Hello")).await.0, 200);
        for (number, (case, at)) in ROUTES.iter().enumerate() {
            let missing = call_route(&routes, &caller, at(UNKNOWN_ID, &format!("{name}-{number}"), &own)).await;
            assert_eq!(missing.0, 404, "{case}, {name}");
            for ((kind, _), expected) in RULES.iter().zip(expected) {
                let expected = expected_status(case, kind, expected);
                let new = format!("{name}-{number}-{kind}");
                let (status, body) = call_route(&routes, &caller, at(kind, &new, &own)).await;
                let seen = if status == 204 { 200 } else { status };
                assert_eq!(seen, expected, "{case}, {kind}, {name}: {body}");
                if expected == 404 {
                    let (seen, missing) = (comparable(&body, kind), comparable(&missing.1, UNKNOWN_ID));
                    assert_eq!(seen, missing, "{case}, {name}: the response reveals that it exists");
                }
                if expected != 200 {
                    let (status, _) = call_route(&routes, &caller, get(format!("/api/conversations/{new}"))).await;
                    assert_eq!(status, 404, "{case}, {name}: something was stored");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn internal_endpoints_are_hidden_from_callers() {
    let routes = serve(&config()).await;
    for (name, is_authenticated, roles, _) in CALLERS {
        let caller = caller((name, is_authenticated, roles));
        let call =
            async |id: &str| call_route(&routes, &caller, post(format!("/api/endpoints/p_open/{id}"), json!({}))).await;
        let missing = call(UNKNOWN_ID).await;
        for (kind, _) in RULES {
            assert_eq!(call(&format!("inner_{kind}")).await, missing, "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn start_page_is_the_first_accessible_page() {
    let check = async |config: &str, expected: [(u16, &str); 6]| {
        let routes = serve(config).await;
        for ((name, is_authenticated, roles, _), (status, id)) in CALLERS.into_iter().zip(expected) {
            let caller = caller((name, is_authenticated, roles));
            let seen = call_route(&routes, &caller, post("/ui/page".to_owned(), json!({ "id": null }))).await;
            let page: Value = serde_json::from_str(&seen.1).unwrap_or_default();
            assert_eq!((seen.0, page["id"].as_str().unwrap_or_default()), (status, id), "{name}: {}", seen.1);
            assert_eq!(call_route(&routes, &caller, get("/".to_owned())).await.0, status, "{name}");
        }
    };
    let (open, members, editors) = ((200, "p_open"), (200, "p_members"), (200, "p_editors"));
    check(&config(), [open, open, members, members, editors, editors]).await;
    let closed = "pages: [{ id: p_editors, auth: { roles: [editor, admin] } }]";
    check(closed, [(401, ""), (401, ""), (404, ""), (404, ""), editors, editors]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conversation_stays_readable_after_losing_its_agent() {
    let routes = serve(&config()).await;
    let (editor, former) = (caller(("ada", true, &["editor"])), caller(("ada", true, &[])));
    assert_eq!(call_route(&routes, &editor, send("p_editors", "a_editors", "c", "Hello")).await.0, 200);
    let list = call_route(&routes, &former, get("/api/conversations".to_owned())).await;
    assert_eq!((list.0, list.1.contains(r#""id":"c""#)), (200, true), "{}", list.1);
    let check = async |spec: TestRequest, expected: u16| {
        let path = spec.path.clone();
        assert_eq!(call_route(&routes, &former, spec).await.0, expected, "{path}");
    };
    check(get("/api/conversations/c".to_owned()), 200).await;
    check(post("/ui/conversation".to_owned(), json!({ "id": "c" })), 200).await;
    check(post("/ui/watch".to_owned(), json!({ "conversation_id": "c", "after": null })), 200).await;
    check(send("p_open", "a_editors", "c", "And now?"), 404).await;
    check(send_from_page("p_open", "a_editors", "c"), 404).await;
}

/// Conversations and folders are private for every kind of request. A change may name only fields
/// that can be changed.
#[tokio::test(flavor = "multi_thread")]
async fn ids_of_other_users_answer_like_unknown_ids() {
    let routes = serve(&config()).await;
    let (ada, eve) = (caller(("ada", true, &[])), caller(("eve", true, &["admin"])));
    assert_eq!(call_route(&routes, &ada, send("p_open", "a_open", "c", "Hello")).await.0, 200);
    let made = call_route(&routes, &ada, post("/api/folders".to_owned(), json!({ "name": "Work" }))).await;
    let folder = serde_json::from_str::<Value>(&made.1).unwrap()["id"].as_str().unwrap().to_owned();
    let patch = |path: String, body: Value| TestRequest { method: Method::PATCH, path, body: Some(body) };
    let put = |path: String, body: Value| TestRequest { method: Method::PUT, path, body: Some(body) };
    let delete = |path: String| TestRequest { method: Method::DELETE, path, body: None };
    let change = |id: &str, change: Value| post("/ui/change".to_owned(), json!({ "ids": [id], "change": change }));
    let shared = call_route(&routes, &ada, post("/api/conversations/c/shares".to_owned(), json!({}))).await;
    let share = serde_json::from_str::<Value>(&shared.1).unwrap()["id"].as_str().unwrap().to_owned();
    let requests = |id: &str, folder: &str, share: &str| {
        let (one, of) = (format!("/api/conversations/{id}"), format!("/api/folders/{folder}"));
        vec![
            get(one.clone()),
            delete(one.clone()),
            patch(one.clone(), json!({})),
            patch(one.clone(), json!({ "title": "mine" })),
            patch(one.clone(), json!({ "pinned": true })),
            patch(one.clone(), json!({ "archived": true })),
            patch(one.clone(), json!({ "folderId": null })),
            patch(one.clone(), json!({ "folderId": folder })),
            patch(one.clone(), json!({ "unread": true })),
            patch(one.clone(), json!({ "deleted": true })),
            patch(one, json!({ "deleted": false })),
            change(id, json!({ "title": "mine" })),
            change(id, json!({ "deleted": true })),
            patch(of.clone(), json!({ "name": "mine" })),
            put(format!("{of}/parent"), json!({ "parentId": null })),
            put(format!("{of}/parent"), json!({ "parentId": folder })),
            get(format!("{of}/export")),
            delete(of),
            post("/ui/move-folder".to_owned(), json!({ "id": folder, "parent_id": null })),
            post("/ui/move-folder".to_owned(), json!({ "id": folder, "parent_id": null, "new_name": "mine" })),
            post("/ui/folders".to_owned(), json!({ "id": folder, "name": "mine" })),
            post("/ui/folders".to_owned(), json!({ "id": folder, "name": null })),
            get(format!("/api/conversations/{id}/export")),
            get(format!("/api/conversations/{id}/export?format=markdown")),
            get(format!("/api/conversations/{id}/shares")),
            post(format!("/api/conversations/{id}/shares"), json!({})),
            delete(format!("/api/shares/{share}")),
        ]
    };
    for (theirs, nobodys) in
        requests("c", &folder, &share).into_iter().zip(requests(UNKNOWN_ID, UNKNOWN_ID, UNKNOWN_ID))
    {
        let path = theirs.path.clone();
        let seen = call_route(&routes, &eve, theirs).await;
        assert_eq!((seen.0, &seen), (404, &call_route(&routes, &eve, nobodys).await), "{path}");
    }
    for path in ["/api/conversations", "/api/conversations?archived=true", "/api/folders", "/api/search?q=hello"] {
        let seen = call_route(&routes, &eve, get(path.to_owned())).await;
        assert_eq!(seen, (200, r#"{"items":[]}"#.to_owned()), "{path}");
    }
    let of_folder = get(format!("/api/conversations?folder={folder}"));
    assert_eq!(call_route(&routes, &eve, of_folder).await, (200, r#"{"items":[]}"#.to_owned()));

    let unchangeable =
        ["id", "owner", "user_id", "agentId", "pageId", "createdAt", "updatedAt", "running", "folder_id", "x"];
    for field in unchangeable {
        let refused = call_route(&routes, &ada, patch("/api/conversations/c".to_owned(), json!({ field: "c" }))).await;
        assert_eq!((refused.0, refused.1.contains("unknown field")), (422, true), "{field}: {}", refused.1);
        let body = json!({ "name": "x", field: "c" });
        assert_eq!(call_route(&routes, &ada, post("/api/folders".to_owned(), body)).await.0, 422, "{field}");
    }
    let kept = call_route(&routes, &ada, get("/api/conversations/c".to_owned())).await;
    let kept: Value = serde_json::from_str(&kept.1).unwrap();
    assert_eq!((kept["title"].as_str(), kept["pinned"].as_bool()), (Some("Hello"), Some(false)));

    // Nobody moves a folder of their own into one of others.
    let made = call_route(&routes, &eve, post("/api/folders".to_owned(), json!({ "name": "Mine" }))).await;
    let mine = serde_json::from_str::<Value>(&made.1).unwrap()["id"].as_str().unwrap().to_owned();
    for parent in [folder.as_str(), UNKNOWN_ID] {
        let place = put(format!("/api/folders/{mine}/parent"), json!({ "parentId": parent }));
        assert_eq!(call_route(&routes, &eve, place).await.0, 404, "{parent}");
    }
    let nowhere = put(format!("/api/folders/{mine}/parent"), json!({}));
    assert_eq!(call_route(&routes, &eve, nowhere).await.0, 422, "a body without the other folder");

    // A folder moves into a new one only if both are possible.
    let mut outermost = mine;
    for (name, status, count) in [("Around", 200, 2), ("Outer", 200, 3), ("Too deep", 422, 3)] {
        let body = json!({ "id": outermost, "parent_id": null, "new_name": name });
        assert_eq!(call_route(&routes, &eve, post("/ui/move-folder".to_owned(), body)).await.0, status, "{name}");
        let list = call_route(&routes, &eve, get("/api/folders".to_owned())).await.1;
        let list: Value = serde_json::from_str(&list).unwrap();
        let folders = list["items"].as_array().unwrap();
        assert_eq!(folders.len(), count, "{name}");
        let found = folders.iter().find(|folder| folder.get("parentId").is_none()).unwrap();
        outermost = found["id"].as_str().unwrap().to_owned();
    }

    // The rights of the owner.
    let own = |change: Value| patch("/api/conversations/c".to_owned(), change);
    for (change, listed) in [
        (json!({ "folderId": folder, "pinned": true }), format!("?folder={folder}")),
        (json!({ "archived": true }), "?archived=true".to_owned()),
    ] {
        assert_eq!(call_route(&routes, &ada, own(change)).await.0, 204);
        let list = call_route(&routes, &ada, get(format!("/api/conversations{listed}"))).await.1;
        assert!(list.contains(r#""id":"c""#), "{list}");
    }
    let found = call_route(&routes, &ada, get("/api/search?q=hel".to_owned())).await.1;
    assert!(found.contains(r#""messageId":"#) && found.contains(r#""passage":["","Hello"#), "{found}");
    assert_eq!(call_route(&routes, &ada, delete("/api/conversations/c".to_owned())).await.0, 204);
    assert_eq!(call_route(&routes, &ada, get("/api/conversations/c".to_owned())).await.0, 404);
    assert_eq!(call_route(&routes, &ada, own(json!({ "deleted": false }))).await.0, 204);
    assert_eq!(call_route(&routes, &ada, get("/api/conversations/c".to_owned())).await.0, 200);
}

/// An exported conversation can be imported completely by another user, and nothing in the file
/// grants any rights.
#[tokio::test(flavor = "multi_thread")]
async fn imported_conversation_belongs_to_its_importer() {
    let routes = serve(&config()).await;
    let (ada, eve) = (caller(("ada", true, &[])), caller(("eve", true, &[])));
    for text in ["Hello", "Search for refunds"] {
        assert_eq!(call_route(&routes, &ada, send("p_open", "a_open", "c", text)).await.0, 200);
    }
    let file = call_route(&routes, &ada, get("/api/conversations/c/export".to_owned())).await.1;
    let file: Value = serde_json::from_str(&file).unwrap();
    let import = async |file: &Value| {
        let (status, body) = call_route(&routes, &eve, post("/api/conversations".to_owned(), file.clone())).await;
        (status, serde_json::from_str::<Value>(&body).unwrap_or_default())
    };
    let (status, made) = import(&file).await;
    assert_eq!(status, 201, "{made}");
    let id = made["id"].as_str().unwrap();
    assert_ne!(id, "c");
    let again = call_route(&routes, &eve, get(format!("/api/conversations/{id}/export"))).await.1;
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(without_ids(again), without_ids(file.clone()), "nothing is lost");
    assert_eq!(call_route(&routes, &ada, get(format!("/api/conversations/{id}"))).await.0, 404);

    let check = async |at: &str, value: Value, path: &str| {
        let mut file = file.clone();
        *file.pointer_mut(at).unwrap() = value;
        let (status, body) = import(&file).await;
        assert_eq!((status, body["error"]["path"].as_str()), (422, Some(path)), "{at}: {body}");
    };
    check("/format", json!("other"), "/format").await;
    check("/title", json!(" "), "/title").await;
    check("/title", json!("x".repeat(201)), "/title").await;
    check("/pageId", json!("../x"), "/pageId").await;
    check("/head", json!("none"), "/head").await;
    check("/messages", json!([]), "/messages").await;
    check("/messages/0/message/role", json!("system"), "/messages/0/message/role").await;
    check("/messages/1/message/id", file["messages"][0]["message"]["id"].clone(), "/messages/1/message/id").await;
    check("/messages/1/parentId", file["messages"][2]["message"]["id"].clone(), "/messages/1/parentId").await;
    for field in ["id", "owner", "pinned", "updatedAt"] {
        let mut file = file.clone();
        file[field] = json!("x");
        assert_eq!(import(&file).await.0, 422, "{field}");
    }

    // A call that waits for approval in the file does not wait after the import.
    let mut waiting = file;
    let part = json!({ "type": "tool-pay", "toolCallId": "x", "state": "approval-requested", "input": {}, "approval": { "id": "a" } });
    waiting["messages"][1]["message"]["parts"] = json!([part, { "type": "data-suspended-call", "data": {} }]);
    let id = import(&waiting).await.1["id"].as_str().unwrap().to_owned();
    let seen = call_route(&routes, &eve, get(format!("/api/conversations/{id}/export"))).await.1;
    assert!(
        seen.contains("output-error") && !seen.contains("approval-requested") && !seen.contains("data-suspended-call"),
        "{seen}"
    );
}

/// Replaces ids by indexes, so that files with different ids can be compared.
fn without_ids(mut file: Value) -> Value {
    let ids: Vec<Value> =
        file["messages"].as_array().unwrap().iter().map(|kept| kept["message"]["id"].clone()).collect();
    let number = |id: &Value| json!(ids.iter().position(|known| known == id));
    file["head"] = number(&file["head"]);
    for kept in file["messages"].as_array_mut().unwrap() {
        kept["message"]["id"] = number(&kept["message"]["id"]);
        kept["parentId"] = number(&kept["parentId"]);
    }
    file
}

#[tokio::test(flavor = "multi_thread")]
async fn shared_link_shows_a_frozen_copy_to_anyone() {
    let served = open(&config()).await.routes();
    let routes = served.clone();
    let ask = async |method: Method, path: &str, body: Option<Value>| {
        let request = Request::builder().method(method).uri(path).header(header::HOST, "127.0.0.1");
        let request = request.header(header::CONTENT_TYPE, "application/json");
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let response = routes.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, headers, String::from_utf8(body.to_vec()).unwrap())
    };
    let say = async |text: &str| {
        let body = json!({ "id": "chat", "trigger": "submit-message", "messages": [message(text)] });
        let path = "/api/agent/p_open/t_e_open?conversationId=c";
        assert_eq!(ask(Method::POST, path, Some(body)).await.0, 200);
    };
    say("Search for <b>refunds</b>").await;
    let share = async |tool_results: bool| {
        let body = json!({ "toolResults": tool_results });
        let (status, _, made) = ask(Method::POST, "/api/conversations/c/shares", Some(body)).await;
        assert_eq!(status, 201, "{made}");
        serde_json::from_str::<Value>(&made).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let (bare, whole) = (share(false).await, share(true).await);
    assert_eq!(bare.len(), 32);
    say("And something secret").await;
    for (id, results) in [(&bare, false), (&whole, true)] {
        let (status, headers, page) = ask(Method::GET, &format!("/shared/{id}"), None).await;
        assert_eq!(status, 200);
        assert_eq!(headers[header::CACHE_CONTROL], "no-store");
        assert!(headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap().starts_with("default-src 'none'"));
        assert!(page.contains("&lt;b&gt;refunds") && page.contains("search_it: done"), "{page}");
        assert!(!page.contains("secret"), "the copy is frozen: {page}");
        assert_eq!(page.contains("\"done\": \"e_open\""), results, "{page}");
    }
    assert_eq!(ask(Method::DELETE, &format!("/api/shares/{bare}"), None).await.0, 204);
    for gone in [&bare, "0"] {
        let (status, headers, page) = ask(Method::GET, &format!("/shared/{gone}"), None).await;
        assert_eq!((status, page.contains("Nothing is shared here")), (404, true));
        assert_eq!(headers[header::CACHE_CONTROL], "no-store");
    }
    assert_eq!(ask(Method::DELETE, "/api/conversations/c", None).await.0, 204);
    assert_eq!(ask(Method::GET, &format!("/shared/{whole}"), None).await.0, 404);
}
