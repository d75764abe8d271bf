//! Tasks over what happens to runs and servers, and to whom they belong.

use super::{SECTION, call, config, message, result, start};
use crate::process::Server;
use crate::provider::{start_provider, start_silent_provider};
use crate::sign_in::callers::TokenIssuer;
use futures::StreamExt;
use insta::assert_snapshot;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Sends a request and reads events of its stream until one fits.
async fn until(request: RequestBuilder, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
    read_until(request.send().await.unwrap(), fits).await
}

/// Reads events of a stream until one fits.
async fn read_until(response: Response, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut events = Vec::new();
    let (mut bytes, mut text) = (response.bytes_stream(), String::new());
    loop {
        while let Some((event, rest)) = text.split_once("\n\n") {
            if let Some(data) = event.strip_prefix("data: ") {
                events.push(serde_json::from_str::<Value>(data).unwrap()["result"].take());
            }
            text = rest.to_owned();
            if events.last().is_some_and(&fits) {
                return events;
            }
        }
        let Some(more) = bytes.next().await else { return events };
        text += std::str::from_utf8(&more.unwrap()).unwrap();
    }
}

fn is_text(event: &Value) -> bool {
    event.get("artifactUpdate").is_some()
}

/// Returns what events are about.
fn kinds(events: &[Value]) -> Vec<String> {
    let kind = |event: &Value| {
        let state = |status: &Value| status["state"].as_str().unwrap().to_owned();
        match event.as_object().and_then(|event| event.iter().next()).unwrap() {
            (kind, event) if kind == "artifactUpdate" => format!("{}", event["artifact"]["parts"]),
            (_, event) => state(&event["status"]),
        }
    };
    events.iter().map(kind).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn task_goes_on_without_its_client_and_can_be_canceled() {
    let (server, _folder) = start(&config(&start_silent_provider().await, SECTION), &[]);
    let send = || call(&server, "SendStreamingMessage", &message("m", "Hello"));
    let events = until(send(), is_text).await;
    assert_eq!(kinds(&events), ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", r#"[{"text":"Well"}]"#]);
    let id = events[0]["task"]["id"].as_str().unwrap();
    let task = json!({ "id": id });
    let got = result(call(&server, "GetTask", &task)).await;
    assert_eq!(
        (&got["status"]["state"], &got["artifacts"][0]["parts"][0]["text"]),
        (&json!("TASK_STATE_WORKING"), &json!("Well"))
    );
    // Others see the same from the beginning.
    for again in [call(&server, "SubscribeToTask", &task), send()] {
        let events = until(again, is_text).await;
        assert_eq!(kinds(&events), ["TASK_STATE_WORKING", r#"[{"text":"Well"}]"#]);
        assert_eq!(events[0]["task"]["id"], id);
    }
    let mut more = message("m2", "More");
    more["message"]["taskId"] = id.into();
    assert_eq!(result(call(&server, "SendMessage", &more)).await["code"], -32_004);
    let subscription = call(&server, "SubscribeToTask", &task).send().await.unwrap();
    let subscribed = tokio::spawn(read_until(subscription, |event| {
        event["statusUpdate"]["status"]["state"] == "TASK_STATE_CANCELED"
    }));
    let canceled = result(call(&server, "CancelTask", &task)).await;
    assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED", "{canceled}");
    assert_eq!(subscribed.await.unwrap().last().unwrap()["statusUpdate"]["status"]["state"], "TASK_STATE_CANCELED");
    assert_eq!(result(call(&server, "CancelTask", &task)).await["code"], -32_002);
}

#[tokio::test(flavor = "multi_thread")]
async fn task_survives_the_server() {
    let folder = TempDir::new().unwrap();
    let database = format!("sqlite://{}/chat.db", folder.path().display());
    let text = config(&start_silent_provider().await, SECTION);
    let (mut server, _folder) = start(&text, &["--database", &database]);
    let events = until(call(&server, "SendStreamingMessage", &message("m", "Hello")), is_text).await;
    server.kill();
    let (server, _folder) = start(&config(&start_provider().await, SECTION), &["--database", &database]);
    let id = events[0]["task"]["id"].as_str().unwrap();
    let task = result(call(&server, "GetTask", &json!({ "id": id }))).await;
    assert_eq!(task["status"]["state"], "TASK_STATE_FAILED", "{task}");
    assert_eq!(task["status"]["message"]["parts"][0]["text"], "The answer was cut off.");
    // The message does not run again, and the context goes on.
    let again = result(call(&server, "SendMessage", &message("m", "Hello"))).await;
    assert_eq!((&again["task"]["id"], &again["task"]["status"]["state"]), (&json!(id), &json!("TASK_STATE_FAILED")));
    let mut next = message("m2", "say hello");
    next["message"]["contextId"] = task["contextId"].clone();
    let next = result(call(&server, "SendMessage", &next)).await;
    // The model is told of the cut, which the scripted one repeats.
    let text = next["task"]["artifacts"][0]["parts"][0]["text"].as_str().unwrap();
    assert!(text.ends_with("say hello"), "{next}");
    // A task that waits for the user still waits after a restart.
    let held = result(call(&server, "SendMessage", &message("m3", r#"send {"to":"Ada"}"#))).await;
    drop(server);
    let (server, _folder) = start(&config(&start_provider().await, SECTION), &["--database", &database]);
    let id = &held["task"]["id"];
    let mut yes = message("m4", "yes");
    yes["message"]["taskId"] = id.clone();
    let done = result(call(&server, "SendMessage", &yes)).await;
    assert_eq!(done["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{done}");
    // The same answer has no further effect.
    let again = result(call(&server, "SendMessage", &yes)).await;
    assert_eq!(again["task"], done["task"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_answer_does_not_answer_what_is_asked_later() {
    // Its model asks for another call after each one.
    let (server, _folder) = start(&config(&start_insisting_provider().await, SECTION), &[]);
    let held = result(call(&server, "SendMessage", &message("m", "Hello"))).await;
    let mut yes = message("yes", "yes");
    yes["message"]["taskId"] = held["task"]["id"].clone();
    let asked = |answer: &Value| answer["task"]["status"]["message"]["parts"][1]["data"]["id"].clone();
    let second = result(call(&server, "SendMessage", &yes)).await;
    assert_eq!(second["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{second}");
    assert_ne!(asked(&second), asked(&held));
    let again = result(call(&server, "SendMessage", &yes)).await;
    assert_eq!(again["task"], second["task"]);
}

/// Starts a provider that always calls `send`.
async fn start_insisting_provider() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let answer = async |axum::Json(request): axum::Json<Value>| {
        let no = request["messages"].as_array().unwrap().len();
        let function = json!({ "name": "send", "arguments": format!(r#"{{"no":{no}}}"#) });
        let call = json!({ "index": 0, "id": format!("call_{no}"), "type": "function", "function": function });
        let chunk = |delta: Value, reason: Value| {
            let choices = json!([{ "index": 0, "delta": delta, "finish_reason": reason }]);
            format!("data: {}\n\n", json!({ "id": "x", "object": "chat.completion.chunk", "choices": choices }))
        };
        let chunks = [chunk(json!({ "tool_calls": [call] }), Value::Null), chunk(json!({}), json!("tool_calls"))];
        ([("content-type", "text/event-stream")], format!("{}data: [DONE]\n\n", chunks.concat()))
    };
    let router = axum::Router::new().route("/v1/chat/completions", axum::routing::post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

/// Returns the status, who may keep it, and the names in the card at a path.
async fn card(request: RequestBuilder) -> String {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body: Value = response.json().await.unwrap_or_default();
    if status != 200 {
        return format!("{status} {}", body["error"]["code"]);
    }
    let kept = headers["cache-control"].to_str().unwrap();
    let mut schemes: Vec<_> = body["securitySchemes"].as_object().into_iter().flat_map(|all| all.keys()).collect();
    schemes.sort();
    format!("{status} {} {kept} {schemes:?} {}", body["name"], body["securityRequirements"].is_array())
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_and_cards_follow_the_rights_of_the_caller() {
    let issuer = TokenIssuer::new();
    let editors =
        "  - { id: editors, type: Agent, connectionId: model, auth: { roles: [editor] }, properties: { model: m } }
  - { id: open, type: Agent, connectionId: model, auth: public, properties: { model: m } }\napi:";
    let start_with = async |section: &str| {
        let text = config(&start_provider().await, section).replace("api:", editors);
        start(&format!("auth: {}\n{text}", issuer.auth_config()), &[])
    };
    let (server, _folder) = start_with("a2a: {}").await;
    let reader = issuer.token_with_roles(("eve", &["reader"]), "chat", 60);
    let editor = issuer.token_with_roles(("ada", &["editor"]), "chat", 60);

    // Another user's task is answered like one that there is not.
    let own = result(call(&server, "SendMessage", &message("m", "say x")).bearer_auth(&editor)).await;
    let (id, context) = (&own["task"]["id"], &own["task"]["contextId"]);
    for method in ["GetTask", "CancelTask", "SubscribeToTask"] {
        let other = result(call(&server, method, &json!({ "id": id })).bearer_auth(&reader)).await;
        let none = result(call(&server, method, &json!({ "id": "none" })).bearer_auth(&reader)).await;
        assert_eq!((&other, &other["code"]), (&none, &json!(-32_001)), "{method}");
    }
    let list = call(&server, "ListTasks", &json!({ "contextId": context })).bearer_auth(&reader);
    assert_eq!(result(list).await["totalSize"], 0);
    for (key, value) in [("taskId", id), ("contextId", context)] {
        let mut into = message("m2", "say x");
        into["message"][key] = value.clone();
        let refused = result(call(&server, "SendMessage", &into).bearer_auth(&reader)).await;
        assert_eq!(refused["code"], if key == "taskId" { -32_001 } else { -32_602 }, "{refused}");
    }
    // The same message of another user is another one.
    let other = result(call(&server, "SendMessage", &message("m", "say x")).bearer_auth(&reader)).await;
    assert_ne!(&other["task"]["id"], id);
    // A task goes with its conversation.
    let path = format!("/api/conversations/{}", context.as_str().unwrap());
    server.request(Method::DELETE, &path).bearer_auth(&editor).send().await.unwrap().error_for_status().unwrap();
    let gone = result(call(&server, "GetTask", &json!({ "id": id })).bearer_auth(&editor)).await;
    assert_eq!(gone["code"], -32_001);

    let path = |agent: &str| format!("/a2a/{agent}/.well-known/agent-card.json");
    let of = async |server: &Server, path: String, token: Option<&String>| {
        let request = server.request(Method::GET, &path);
        card(match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        })
        .await
    };
    let mut all = Vec::new();
    for agent in ["helper", "editors", "open", "nobody"] {
        for (name, token) in [("nobody", None), ("reader", Some(&reader)), ("editor", Some(&editor))] {
            all.push(format!("{agent} {name} {}", of(&server, path(agent), token).await));
        }
    }
    all.push(format!("default {}", of(&server, "/.well-known/agent-card.json".to_owned(), None).await));
    drop(server);
    // Agents that are listed are public.
    let (server, _folder) = start_with("a2a: { agents: [helper, editors], defaultAgent: editors }").await;
    for agent in ["helper", "editors", "open"] {
        all.push(format!("listed {agent} {}", of(&server, path(agent), None).await));
    }
    all.push(format!("default {}", of(&server, "/.well-known/agent-card.json".to_owned(), None).await));
    let refused = call(&server, "SendMessage", &message("m", "say x")).send().await.unwrap();
    all.push(format!("call {} {:?}", refused.status(), refused.headers().get("www-authenticate")));
    assert_snapshot!(all.join("\n"), @r#"
    helper nobody 401 -32000
    helper reader 200 "Helper" private, max-age=300 ["apiKey", "apiKeyHeader", "token"] true
    helper editor 200 "Helper" private, max-age=300 ["apiKey", "apiKeyHeader", "token"] true
    editors nobody 401 -32000
    editors reader 404 -32000
    editors editor 200 "editors" private, max-age=300 ["apiKey", "apiKeyHeader", "token"] true
    open nobody 200 "open" public, max-age=300 ["apiKey", "apiKeyHeader", "token"] false
    open reader 200 "open" public, max-age=300 ["apiKey", "apiKeyHeader", "token"] false
    open editor 200 "open" public, max-age=300 ["apiKey", "apiKeyHeader", "token"] false
    nobody nobody 404 -32000
    nobody reader 404 -32000
    nobody editor 404 -32000
    default 404 -32000
    listed helper 200 "Helper" public, max-age=300 ["apiKey", "apiKeyHeader", "token"] true
    listed editors 200 "editors" public, max-age=300 ["apiKey", "apiKeyHeader", "token"] true
    listed open 404 -32000
    default 200 "editors" public, max-age=300 ["apiKey", "apiKeyHeader", "token"] true
    call 401 Unauthorized Some("Bearer")
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_and_cards_are_checked() {
    let (server, _folder) = start(&config(&start_provider().await, SECTION), &[]);
    let body = json!({ "jsonrpc": "2.0", "id": "x", "method": "ListTasks" });
    let post = |query: &str| server.request(Method::POST, &format!("/a2a/helper{query}")).json(&body);
    for (request, is_spoken) in [
        (post(""), false),
        (post("").header("A2A-Version", "0.3"), false),
        (post("").header("A2A-Version", "1.1"), false),
        (post("").header("A2A-Version", "1.0"), true),
        (post("").header("a2a-version", "1.0.3"), true),
        (post("?A2A-Version=1.0"), true),
    ] {
        let answer: Value = request.send().await.unwrap().json().await.unwrap();
        let code = answer["error"]["code"].as_i64();
        assert_eq!((code, &answer["id"]), ((!is_spoken).then_some(-32_009), &json!("x")), "{answer}");
    }
    let path = "/a2a/helper/.well-known/agent-card.json";
    let first = server.request(Method::GET, path).send().await.unwrap();
    let tag = first.headers()["etag"].clone();
    let again = server.request(Method::GET, path).header("if-none-match", tag).send().await.unwrap();
    assert_eq!(again.status(), 304);
    for (method, code) in
        [("GetExtendedAgentCard", -32_004), ("ListTaskPushNotificationConfigs", -32_003), ("x", -32_601)]
    {
        assert_eq!(result(call(&server, method, &json!({ "taskId": "t" }))).await["code"], code, "{method}");
    }
    let off = start(&config("http://127.0.0.1:9/v1", ""), &[]);
    let refused = call(&off.0, "ListTasks", &json!({})).send().await.unwrap();
    assert_eq!(refused.status(), 404);
}
