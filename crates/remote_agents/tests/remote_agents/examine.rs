//! The examination of a server.

use crate::server::{KEY, Server, TOKEN, VARIABLE, answer};
use axum::response::Response;
use remote_agents::{RemoteAgentSettings, Verdict, examine};
use serde_json::json;

const NONCE: &str = "n0nce";
const LIST: &str =
    r#"{"tools":[{"name":"find","description":"Finds.","parameters":{"type":"object","properties":{}}}]}"#;
const REFUSED: &str = r#"{"success":false,"error":{"message":"No.","code":1,"details":""}}"#;

/// Returns the findings about a server, and its requests.
async fn seen(server: &Server) -> String {
    let examined = examine(server.settings(), NONCE).await.unwrap();
    let tools = examined.tools.iter().map(|tool| format!("{} {:?}", tool.title, tool.parameters));
    let findings = examined.findings.iter().map(|finding| format!("{:?} {}", finding.verdict, finding.text));
    let report = tools.chain(findings).collect::<Vec<_>>().join("\n");
    assert!([KEY, TOKEN, VARIABLE].iter().all(|secret| !report.contains(secret)), "{report}");
    report
}

/// Starts a server that lists a tool if the key is right, and answers everything else with these:
/// `unknown` tool, `resource`, `stranger`.
async fn server(unknown: (u16, &str), resource: (u16, &str), stranger: (u16, &str)) -> Server {
    let [unknown, resource, stranger] = [unknown, resource, stranger].map(|(status, body)| (status, body.to_owned()));
    Server::with(move |seen| {
        let reply = |(status, body): &(u16, String)| -> Response { answer(*status, body.clone()) };
        match seen.line.as_str() {
            _ if seen.headers["x-api-key"] != KEY => reply(&stranger),
            "GET /v1/tools" => answer(200, LIST),
            "POST /v1/resource" => reply(&resource),
            _ => reply(&unknown),
        }
    })
    .await
}

#[tokio::test]
async fn a_compliant_server_has_good_findings() {
    let server = server((404, REFUSED), (200, "{}"), (401, REFUSED)).await;
    insta::assert_snapshot!(seen(&server).await, @"
    find — Finds. []
    Good GET /tools lists 1 tool
    Good an unknown tool has the status 404
    Good POST /resource answers
    Good GET /tools with a wrong key has the status 401
    Good POST /tools/{name} with a wrong key has the status 401
    Good POST /resource with a wrong key has the status 401
    ");
    let asked = server.seen();
    let lines: Vec<_> = asked.iter().map(|seen| seen.line.as_str()).collect();
    assert!(lines.iter().all(|line| !line.ends_with("/find")), "a tool was called: {lines:?}");
}

#[tokio::test]
async fn wrong_refusals_are_reported() {
    let without_resource = (404, REFUSED);
    let all = server((200, REFUSED), without_resource, (403, REFUSED)).await;
    insta::assert_snapshot!(seen(&all).await, @"
    find — Finds. []
    Good GET /tools lists 1 tool
    Wrong an unknown tool has the status 200 instead of 404
    Note there is no POST /resource, which is optional
    Wrong GET /tools with a wrong key has the status 403 instead of 401
    Wrong POST /tools/{name} with a wrong key has the status 403 instead of 401
    Wrong POST /resource with a wrong key has the status 403 instead of 401
    ");
    let misshaped = server((404, r#"{"message":"x"}"#), without_resource, (401, "Unauthorized")).await;
    insta::assert_snapshot!(seen(&misshaped).await, @"
    find — Finds. []
    Good GET /tools lists 1 tool
    Wrong an unknown tool has the status 404, but its body is not {success: false, error: {message, code, details}}
    Note there is no POST /resource, which is optional
    Note GET /tools with a wrong key has the status 401, but its body is not {success: false, error: {message, code, details}}
    Note POST /tools/{name} with a wrong key has the status 401, but its body is not {success: false, error: {message, code, details}}
    Note POST /resource with a wrong key has the status 401, but its body is not {success: false, error: {message, code, details}}
    ");
}

#[tokio::test]
async fn the_resource_is_checked() {
    let check = async |status: u16, body: &str, verdict: Verdict, expected: &str| {
        let server = server((404, REFUSED), (status, body), (401, REFUSED)).await;
        let findings = examine(server.settings(), NONCE).await.unwrap().findings;
        let finding = &findings[2];
        assert_eq!((finding.verdict, finding.text.as_str()), (verdict, expected), "{status} {body}");
    };
    check(200, r#"{"success":true,"data":{"text":"x"}}"#, Verdict::Good, "POST /resource answers").await;
    check(404, "<html>", Verdict::Note, "there is no POST /resource, which is optional").await;
    check(200, REFUSED, Verdict::Wrong, "POST /resource reports a failure with the status 200").await;
    check(500, "", Verdict::Wrong, "POST /resource has the status 500").await;
    check(200, "<html>", Verdict::Wrong, "POST /resource answers with something that is not JSON").await;
}

#[tokio::test]
async fn violations_in_the_list_are_reported() {
    let check = async |status: u16, list: String, expected: &[&str]| {
        let server = Server::with(move |_| answer(status, list.clone())).await;
        let findings = examine(server.settings(), NONCE).await.unwrap().findings;
        let wrong = findings.iter().filter(|finding| finding.verdict == Verdict::Wrong);
        let seen: Vec<_> = wrong.map(|finding| finding.text.as_str()).take(expected.len()).collect();
        assert_eq!(seen, expected);
    };
    check(200, r#"{"tools":[]}"#.to_owned(), &["GET /tools lists no tool that can be used"]).await;
    check(200, "<html>".to_owned(), &["the list of tools: the answer has no valid list"]).await;
    check(500, LIST.to_owned(), &["GET /tools has the status 500"]).await;
    let quoting = json!({ "tools": [{ "name": "x", "description": format!("{KEY}\n{TOKEN}") }] }).to_string();
    check(200, quoting, &["`x`: its `parameters` are not `{type: object, properties: {…}}`"]).await;
}

#[tokio::test]
async fn findings_are_limited_and_sanitized() {
    let properties: serde_json::Map<_, _> =
        (0..300).map(|index| (format!("p{index}"), json!({ "type": "string" }))).collect();
    let parameters = json!({ "type": "object", "properties": properties });
    let long = json!({ "name": "x", "description": "é".repeat(5_000), "parameters": parameters });
    let list = json!({ "tools": [long] }).to_string();
    let server = Server::with(move |_| answer(200, list.clone())).await;
    let examined = examine(server.settings(), NONCE).await.unwrap();
    assert!(examined.tools[0].title.len() <= 300);
    assert_eq!(examined.findings[201].text, "100 more findings are not shown");
}

#[tokio::test]
async fn unusable_settings_and_unreachable_servers_are_errors() {
    let server = Server::with(|_| answer(200, LIST)).await;
    let check = async |settings: RemoteAgentSettings, expected: &str| {
        assert_eq!(examine(settings, NONCE).await.unwrap_err(), expected);
    };
    let base_url = "https://127.0.0.1:9".parse().unwrap();
    let private = "the address is not public, and the connection does not allow private addresses";
    check(RemoteAgentSettings { base_url, allow_private: false, ..server.settings() }, private).await;
    check(RemoteAgentSettings { api_key: " ".into(), ..server.settings() }, "the api key is empty").await;
    assert_eq!(server.seen().len(), 0);
}
