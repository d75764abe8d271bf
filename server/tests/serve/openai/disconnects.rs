//! Tests of runs whose client disconnects.

use super::start;
use crate::process::Server;
use crate::provider::start_silent_provider;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use std::time::Duration;

/// Reads a stream up to the text of the model; returns what was read.
async fn read_to_text(response: &mut Response) -> String {
    let mut seen = String::new();
    while !seen.contains("Well") {
        seen += &String::from_utf8_lossy(&response.chunk().await.unwrap().unwrap());
    }
    seen
}

/// Returns the status of the newest run when it has ended.
async fn status_of_run(server: &Server) -> Value {
    loop {
        let runs = server.request(Method::GET, "/api/runs").send().await.unwrap();
        let runs: Value = runs.json().await.unwrap();
        let status = &runs["items"][0]["status"];
        if status.is_string() && status != "running" {
            return status.clone();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until a run is active.
async fn wait_for_run(server: &Server) {
    loop {
        let runs = server.request(Method::GET, "/api/runs").send().await.unwrap();
        if runs.json::<Value>().await.unwrap()["items"][0]["status"] == "running" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn run_ends_when_its_client_disconnects() {
    for (path, stream) in [
        ("/v1/chat/completions", true),
        ("/v1/chat/completions", false),
        ("/v1/responses", true),
        ("/v1/responses", false),
    ] {
        let (server, _folder) = start(&start_silent_provider().await, "openaiApi: {}");
        let input = json!([{ "role": "user", "content": "Hi" }]);
        let of = if path == "/v1/responses" { "input" } else { "messages" };
        let request =
            server.request(Method::POST, path).json(&json!({ "model": "helper", of: input, "stream": stream }));
        if stream {
            let mut response = request.send().await.unwrap();
            read_to_text(&mut response).await;
            drop(response);
        } else {
            let sent = tokio::spawn(request.send());
            wait_for_run(&server).await;
            sent.abort();
        }
        assert_eq!(status_of_run(&server).await, "failed", "{path}, stream: {stream}");
    }
}

/// A response whose server is killed while it is written has failed; one that is stopped keeps what was written.
#[tokio::test(flavor = "multi_thread")]
async fn responses_that_are_cut_off_say_so() {
    let (server, folder) = start(&start_silent_provider().await, "openaiApi: {}");
    let begin = async |server: &Server| {
        let body = json!({ "model": "helper", "input": "Hi", "stream": true });
        let mut response = server.request(Method::POST, "/v1/responses").json(&body).send().await.unwrap();
        let seen = read_to_text(&mut response).await;
        let id = seen.split_once("resp_").unwrap().1.split_once('"').unwrap().0;
        (format!("/v1/responses/resp_{id}"), response)
    };
    let get = async |server: &Server, path: &str| -> Value {
        server.request(Method::GET, path).send().await.unwrap().json().await.unwrap()
    };
    let (path, stream) = begin(&server).await;
    assert_eq!(get(&server, &path).await["status"], "in_progress");
    let stopped = server.request(Method::POST, &format!("{path}/cancel")).send().await.unwrap();
    let stopped: Value = stopped.json().await.unwrap();
    assert_eq!(
        (&stopped["status"], &stopped["output"][0]["content"][0]["text"]),
        (&json!("cancelled"), &json!("Well"))
    );
    drop(stream);
    let (path, _stream) = begin(&server).await;
    let server = server.stop();
    let arguments = ["--database", &server.database, "--config", folder.path().to_str().unwrap()];
    let next = Server::start_with(&arguments);
    let left = get(&next, &path).await;
    let deleted = next.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(deleted.status(), 200, "nobody writes it any more");
    assert_eq!((&left["status"], &left["error"]["code"]), (&json!("failed"), &json!("server_error")));
}
