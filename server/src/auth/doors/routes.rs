//! The routes, one after the other.

use super::*;
use crate::router::router;

/// A door to something of a kind. It is given the kind, a new conversation and one that the caller has.
pub(super) type Door = fn(&str, &str, &str) -> Knock;

pub(super) const DOORS: [(&str, Door); 16] = [
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
    ("an agent in a conversation", |kind, _, own| send("p_open", &format!("a_{kind}"), own, "Hello")),
    ("an agent from a page in a conversation", |kind, _, own| send_from_page("p_open", &format!("a_{kind}"), own)),
    ("answers to an agent that asked nothing", |kind, _, own| answers("p_open", &format!("a_{kind}"), own)),
    ("an agent asked by a program", |kind, _, _| {
        post(
            "/api/runs/invoke".to_owned(),
            json!({ "agent_name": format!("a_{kind}"), "input": { "prompt": "Hello" } }),
        )
    }),
    ("an endpoint", |kind, _, _| post(format!("/api/endpoints/p_open/e_{kind}"), json!({}))),
];

/// Doors into the conversation that the caller has with the agent `a_open`.
const IN_CONVERSATION: [&str; 2] = ["an agent in a conversation", "an agent from a page in a conversation"];

/// What a door answers, where the rules of its kind say `by_rules`: a conversation is with one agent, so another one is refused, but only
/// to those who may know of it.
pub(super) fn answered(door: &str, kind: &str, by_rules: u16) -> u16 {
    if by_rules == 200 && kind != "open" && IN_CONVERSATION.contains(&door) { 409 } else { by_rules }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_door_asks_who_calls() {
    let routes = serve(&config()).await;
    for (name, is_authenticated, roles, expected) in CALLERS {
        let caller = caller((name, is_authenticated, roles));
        let own = format!("own-{name}");
        assert_eq!(knock(&routes, &caller, send("p_open", "a_open", &own, "Hello")).await.0, 200);
        for (number, (door, at)) in DOORS.iter().enumerate() {
            let missing = knock(&routes, &caller, at(NOWHERE, &format!("{name}-{number}"), &own)).await;
            assert_eq!(missing.0, 404, "{door}, {name}");
            for ((kind, _), expected) in RULES.iter().zip(expected) {
                let expected = answered(door, kind, expected);
                let new = format!("{name}-{number}-{kind}");
                let (status, body) = knock(&routes, &caller, at(kind, &new, &own)).await;
                let seen = if status == 204 { 200 } else { status };
                assert_eq!(seen, expected, "{door}, {kind}, {name}: {body}");
                if expected == 404 {
                    let (seen, missing) = (comparable(&body, kind), comparable(&missing.1, NOWHERE));
                    assert_eq!(seen, missing, "{door}, {name}: this tells that it is there");
                }
                if expected != 200 {
                    let (status, _) = knock(&routes, &caller, get(format!("/api/conversations/{new}"))).await;
                    assert_eq!(status, 404, "{door}, {name}: something was kept");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn internal_endpoints_are_not_there_from_outside() {
    let routes = serve(&config()).await;
    for (name, is_authenticated, roles, _) in CALLERS {
        let caller = caller((name, is_authenticated, roles));
        let call =
            async |id: &str| knock(&routes, &caller, post(format!("/api/endpoints/p_open/{id}"), json!({}))).await;
        let missing = call(NOWHERE).await;
        for (kind, _) in RULES {
            assert_eq!(call(&format!("inner_{kind}")).await, missing, "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_start_page_is_the_first_that_the_caller_may_open() {
    let check = async |config: &str, expected: [(u16, &str); 6]| {
        let routes = serve(config).await;
        for ((name, is_authenticated, roles, _), (status, id)) in CALLERS.into_iter().zip(expected) {
            let caller = caller((name, is_authenticated, roles));
            let seen = knock(&routes, &caller, post("/ui/page".to_owned(), json!({ "id": null }))).await;
            let page: Value = serde_json::from_str(&seen.1).unwrap_or_default();
            assert_eq!((seen.0, page["id"].as_str().unwrap_or_default()), (status, id), "{name}: {}", seen.1);
            assert_eq!(knock(&routes, &caller, get("/".to_owned())).await.0, status, "{name}");
        }
    };
    let (open, members, editors) = ((200, "p_open"), (200, "p_members"), (200, "p_editors"));
    check(&config(), [open, open, members, members, editors, editors]).await;
    let closed = "pages: [{ id: p_editors, auth: { roles: [editor, admin] } }]";
    check(closed, [(401, ""), (401, ""), (404, ""), (404, ""), editors, editors]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_no_longer_ask_an_agent_still_reads_what_was_said() {
    let routes = serve(&config()).await;
    let (editor, former) = (caller(("ada", true, &["editor"])), caller(("ada", true, &[])));
    assert_eq!(knock(&routes, &editor, send("p_editors", "a_editors", "c", "Hello")).await.0, 200);
    let list = knock(&routes, &former, get("/api/conversations".to_owned())).await;
    assert_eq!((list.0, list.1.contains(r#""id":"c""#)), (200, true), "{}", list.1);
    let check = async |knocked: Knock, expected: u16| {
        let path = knocked.path.clone();
        assert_eq!(knock(&routes, &former, knocked).await.0, expected, "{path}");
    };
    check(get("/api/conversations/c".to_owned()), 200).await;
    check(post("/ui/conversation".to_owned(), json!({ "id": "c" })), 200).await;
    check(post("/ui/watch".to_owned(), json!({ "conversation_id": "c", "after": null })), 200).await;
    check(send("p_open", "a_editors", "c", "And now?"), 404).await;
    check(send_from_page("p_open", "a_editors", "c"), 404).await;
}

/// A conversation and a folder are their owner's, whatever is asked of them and whoever asks (A1); a change names only what can be
/// changed (A7).
#[tokio::test(flavor = "multi_thread")]
async fn another_users_ids_are_as_good_as_unknown_ones() {
    let routes = serve(&config()).await;
    let (ada, eve) = (caller(("ada", true, &[])), caller(("eve", true, &["admin"])));
    assert_eq!(knock(&routes, &ada, send("p_open", "a_open", "c", "Hello")).await.0, 200);
    let made = knock(&routes, &ada, post("/api/folders".to_owned(), json!({ "name": "Work" }))).await;
    let folder = serde_json::from_str::<Value>(&made.1).unwrap()["id"].as_str().unwrap().to_owned();
    let patch = |path: String, body: Value| Knock { method: Method::PATCH, path, body: Some(body) };
    let delete = |path: String| Knock { method: Method::DELETE, path, body: None };
    let change = |id: &str, change: Value| post("/ui/change".to_owned(), json!({ "ids": [id], "change": change }));
    let shared = knock(&routes, &ada, post("/api/conversations/c/shares".to_owned(), json!({}))).await;
    let share = serde_json::from_str::<Value>(&shared.1).unwrap()["id"].as_str().unwrap().to_owned();
    let doors = |id: &str, folder: &str, share: &str| {
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
            delete(of),
            post("/ui/folders".to_owned(), json!({ "id": folder, "name": "mine" })),
            post("/ui/folders".to_owned(), json!({ "id": folder, "name": null })),
            get(format!("/api/conversations/{id}/export")),
            get(format!("/api/conversations/{id}/export?format=markdown")),
            get(format!("/api/conversations/{id}/shares")),
            post(format!("/api/conversations/{id}/shares"), json!({})),
            delete(format!("/api/shares/{share}")),
        ]
    };
    for (theirs, nobodys) in doors("c", &folder, &share).into_iter().zip(doors(NOWHERE, NOWHERE, NOWHERE)) {
        let path = theirs.path.clone();
        let seen = knock(&routes, &eve, theirs).await;
        assert_eq!((seen.0, &seen), (404, &knock(&routes, &eve, nobodys).await), "{path}");
    }
    for path in ["/api/conversations", "/api/conversations?archived=true", "/api/folders", "/api/search?q=hello"] {
        let seen = knock(&routes, &eve, get(path.to_owned())).await;
        assert_eq!(seen, (200, r#"{"items":[]}"#.to_owned()), "{path}");
    }
    let of_folder = get(format!("/api/conversations?folder={folder}"));
    assert_eq!(knock(&routes, &eve, of_folder).await, (200, r#"{"items":[]}"#.to_owned()));

    let unchangeable =
        ["id", "owner", "user_id", "agentId", "pageId", "createdAt", "updatedAt", "running", "folder_id", "x"];
    for field in unchangeable {
        let refused = knock(&routes, &ada, patch("/api/conversations/c".to_owned(), json!({ field: "c" }))).await;
        assert_eq!((refused.0, refused.1.contains("unknown field")), (422, true), "{field}: {}", refused.1);
        let body = json!({ "name": "x", field: "c" });
        assert_eq!(knock(&routes, &ada, post("/api/folders".to_owned(), body)).await.0, 422, "{field}");
    }
    let kept = knock(&routes, &ada, get("/api/conversations/c".to_owned())).await;
    let kept: Value = serde_json::from_str(&kept.1).unwrap();
    assert_eq!((kept["title"].as_str(), kept["pinned"].as_bool()), (Some("Hello"), Some(false)));

    // What its owner may.
    let own = |change: Value| patch("/api/conversations/c".to_owned(), change);
    for (change, listed) in [
        (json!({ "folderId": folder, "pinned": true }), format!("?folder={folder}")),
        (json!({ "archived": true }), "?archived=true".to_owned()),
    ] {
        assert_eq!(knock(&routes, &ada, own(change)).await.0, 204);
        let list = knock(&routes, &ada, get(format!("/api/conversations{listed}"))).await.1;
        assert!(list.contains(r#""id":"c""#), "{list}");
    }
    let found = knock(&routes, &ada, get("/api/search?q=hel".to_owned())).await.1;
    assert!(found.contains(r#""messageId":"#) && found.contains(r#""passage":["","Hello"#), "{found}");
    assert_eq!(knock(&routes, &ada, delete("/api/conversations/c".to_owned())).await.0, 204);
    assert_eq!(knock(&routes, &ada, get("/api/conversations/c".to_owned())).await.0, 404);
    assert_eq!(knock(&routes, &ada, own(json!({ "deleted": false }))).await.0, 204);
    assert_eq!(knock(&routes, &ada, get("/api/conversations/c".to_owned())).await.0, 200);
}

/// What is exported comes back whole under its importer's name, and nothing in a file is authority.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_its_importers() {
    let routes = serve(&config()).await;
    let (ada, eve) = (caller(("ada", true, &[])), caller(("eve", true, &[])));
    for text in ["Hello", "Search for refunds"] {
        assert_eq!(knock(&routes, &ada, send("p_open", "a_open", "c", text)).await.0, 200);
    }
    let file = knock(&routes, &ada, get("/api/conversations/c/export".to_owned())).await.1;
    let file: Value = serde_json::from_str(&file).unwrap();
    let import = async |file: &Value| {
        let (status, body) = knock(&routes, &eve, post("/api/conversations".to_owned(), file.clone())).await;
        (status, serde_json::from_str::<Value>(&body).unwrap_or_default())
    };
    let (status, made) = import(&file).await;
    assert_eq!(status, 201, "{made}");
    let id = made["id"].as_str().unwrap();
    assert_ne!(id, "c");
    let again = knock(&routes, &eve, get(format!("/api/conversations/{id}/export"))).await.1;
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(without_ids(again), without_ids(file.clone()), "nothing is lost");
    assert_eq!(knock(&routes, &ada, get(format!("/api/conversations/{id}"))).await.0, 404);

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

    // A call that waits for a decision in the file waits for nobody here.
    let mut waiting = file;
    let part = json!({ "type": "tool-pay", "toolCallId": "x", "state": "approval-requested", "input": {}, "approval": { "id": "a" } });
    waiting["messages"][1]["message"]["parts"] = json!([part, { "type": "data-suspended-call", "data": {} }]);
    let id = import(&waiting).await.1["id"].as_str().unwrap().to_owned();
    let seen = knock(&routes, &eve, get(format!("/api/conversations/{id}/export"))).await.1;
    assert!(
        seen.contains("output-error") && !seen.contains("approval-requested") && !seen.contains("data-suspended-call"),
        "{seen}"
    );
}

/// A file with ids that say only which message follows which.
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
async fn a_link_shows_a_frozen_copy_to_anyone() {
    let served = router(state(&config()).await);
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
