//! The binding HTTP+JSON, beside the package of Python that uses it.

use super::{SECTION, config, message, start};
use crate::process::Server;
use crate::provider::start_provider;
use insta::assert_snapshot;
use reqwest::Method;
use serde_json::{Value, json};

/// Sends a request; returns the status, the media type and the body.
async fn send(server: &Server, method: Method, path: &str, body: Option<Value>) -> (u16, String, Value) {
    let request = server.request(method, &format!("/a2a/{path}")).header("A2A-Version", "1.0");
    let request = match body {
        Some(body) => request.header("content-type", "application/a2a+json").body(body.to_string()),
        None => request,
    };
    let answer = request.send().await.unwrap();
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    let media = headers.get("content-type").map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    (status, media, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_method_has_a_path() {
    let (server, _folder) = start(&config(&start_provider().await, SECTION), &[]);
    let post = async |path: &str, body: Option<Value>| send(&server, Method::POST, path, body).await;
    let get = async |path: &str| send(&server, Method::GET, path, None).await;
    let (status, media, sent) = post("helper/message:send", Some(message("m1", "say hello"))).await;
    assert_eq!((status, media.as_str()), (200, "application/a2a+json"), "{sent}");
    let task = &sent["task"];
    let (id, context) = (task["id"].as_str().unwrap(), task["contextId"].as_str().unwrap());
    assert_eq!(task["artifacts"][0]["parts"][0]["text"], "hello");
    let again = post("helper/message:send", Some(message("m1", "say hello"))).await.2;
    assert_eq!(again["task"]["id"], *id, "a repeated message has no further effect");
    let (status, _, got) = get(&format!("helper/tasks/{id}?historyLength=0")).await;
    assert_eq!((status, &got["id"], got.get("history")), (200, &json!(id), None));
    let listed = get(&format!("helper/tasks?contextId={context}&pageSize=1&includeArtifacts=true")).await.2;
    assert_eq!((&listed["tasks"][0]["id"], &listed["totalSize"]), (&json!(id), &json!(1)), "{listed}");

    let held = post("helper/message:send", Some(message("m2", "send {}"))).await.2;
    let held = held["task"]["id"].as_str().unwrap();
    let stream =
        server.request(Method::POST, &format!("/a2a/helper/tasks/{held}:subscribe")).header("A2A-Version", "1.0");
    let stream = stream.send().await.unwrap();
    assert!(stream.headers()["content-type"].to_str().unwrap().starts_with("text/event-stream"));
    let text = stream.text().await.unwrap();
    let event: Value = serde_json::from_str(text.split("data: ").nth(1).unwrap().trim()).unwrap();
    assert_eq!(
        event["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED",
        "without the envelope of JSON-RPC: {text}"
    );
    let canceled = post(&format!("helper/tasks/{held}:cancel"), None).await.2;
    assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED", "{canceled}");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_have_the_form_of_the_binding() {
    let (server, _folder) = start(&config(&start_provider().await, SECTION), &[]);
    let shown = |(status, _, body): (u16, String, Value)| {
        let error = &body["error"];
        let reason = &error["details"][0]["reason"];
        assert!(error["message"].is_string(), "{body}");
        format!("{status} {} {} {reason}", error["code"], error["status"])
    };
    let post = async |path: &str, body: Option<Value>| shown(send(&server, Method::POST, path, body).await);
    let get = async |path: &str| shown(send(&server, Method::GET, path, None).await);
    let old = server.request(Method::GET, "/a2a/helper/tasks").send().await.unwrap();
    let old = (old.status().as_u16(), String::new(), old.json::<Value>().await.unwrap());
    let all = [
        get("helper/tasks/nothing").await,
        post("helper/tasks/nothing:cancel", None).await,
        post("helper/tasks/nothing:explode", None).await,
        get("helper/tasks?pageSize=0").await,
        get("helper/tasks?pageSize=many").await,
        get("helper/extendedAgentCard").await,
        get("hidden/tasks").await,
        post("helper/message:send", Some(json!([]))).await,
        post("helper/message:send", Some(json!({ "message": { "role": "ROLE_USER" } }))).await,
        post("helper/message:send", None).await,
        shown(old),
    ];
    assert_snapshot!(all.join("\n"), @r#"
    404 404 "NOT_FOUND" "TASK_NOT_FOUND"
    404 404 "NOT_FOUND" "TASK_NOT_FOUND"
    404 404 "NOT_FOUND" "METHOD_NOT_FOUND"
    400 400 "INVALID_ARGUMENT" "INVALID_PARAMS"
    400 400 "INVALID_ARGUMENT" "INVALID_PARAMS"
    400 400 "FAILED_PRECONDITION" "UNSUPPORTED_OPERATION"
    404 404 "NOT_FOUND" "NOT_FOUND"
    400 400 "INVALID_ARGUMENT" "INVALID_PARAMS"
    400 400 "INVALID_ARGUMENT" "INVALID_PARAMS"
    400 400 "INVALID_ARGUMENT" "INVALID_PARAMS"
    400 400 "FAILED_PRECONDITION" "VERSION_NOT_SUPPORTED"
    "#);
}
