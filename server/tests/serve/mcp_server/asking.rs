//! Tests of approvals and questions that clients show to their users. The server asks with requests, and in the newest version
//! of the protocol with results.

mod unrecorded;

use super::{ACCEPTED, SECTION, call, config, config_folder, last_message, message, start};
use crate::process::Server;
use crate::provider::start_provider;
use crate::sign_in::callers::TokenIssuer;
use insta::{assert_json_snapshot, assert_snapshot};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};
use std::time::Duration;
use tempfile::TempDir;

/// The newest version of the protocol.
const NEWEST: &str = "2026-07-28";

/// A call whose response is read message by message.
struct Stream {
    response: Response,
    received: Vec<u8>,
}

impl Stream {
    async fn begin(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, received: Vec::new() }
    }

    /// Returns the next message.
    async fn next(&mut self) -> Value {
        loop {
            while let Some(end) = self.received.windows(2).position(|pair| pair == b"\n\n") {
                let event = String::from_utf8(self.received.drain(..end + 2).collect()).unwrap();
                if let Some(data) = event.lines().find_map(|line| line.strip_prefix("data:")) {
                    return serde_json::from_str(data.trim()).unwrap();
                }
            }
            let more = self.response.chunk().await.unwrap().expect("the stream continues");
            // It may end within a character.
            self.received.extend_from_slice(&more);
        }
    }

    /// Returns the result of the call, which comes next.
    async fn result(&mut self) -> Value {
        self.next().await["result"].clone()
    }
}

/// Begins a session of a client with these capabilities; returns its id.
async fn session(server: &Server, capabilities: Value, token: Option<&str>) -> String {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let request = server.request(Method::POST, "/mcp").header("accept", ACCEPTED).json(&body);
    let response = with_token(request, token).send().await.unwrap();
    response.headers()["mcp-session-id"].to_str().unwrap().to_owned()
}

fn with_token(request: RequestBuilder, token: Option<&str>) -> RequestBuilder {
    match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    }
}

/// Begins a session whose client shows forms.
async fn session_with_forms(server: &Server) -> String {
    session(server, json!({ "elicitation": {} }), None).await
}

/// Calls the agent in a session.
async fn ask(server: &Server, session: &str, text: &str) -> Stream {
    let body = call(7, "helper", &json!({ "message": text }));
    Stream::begin(message(server, &body).header("mcp-session-id", session)).await
}

/// Returns a request with the answer to a question.
fn reply(server: &Server, session: &str, question: &Value, result: &Value) -> RequestBuilder {
    let body = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    message(server, &body).header("mcp-session-id", session)
}

async fn status(request: RequestBuilder) -> u16 {
    request.send().await.unwrap().status().as_u16()
}

fn accepted(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// Returns the outcome and the answer of a result.
fn told(result: &Value) -> String {
    let content = &result["structuredContent"];
    format!("{} {}", content["outcome"].as_str().unwrap_or_default(), content["answer"].as_str().unwrap_or_default())
}

/// Returns for each answer over MCP in the audit log whether it approved the call.
async fn audited(server: &Server) -> Vec<Value> {
    let rows = server.get("/api/admin/audit?tool=mcp:answer").await;
    rows["items"].as_array().unwrap().iter().map(|row| row["arguments"]["approved"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn client_is_asked_for_an_approval() {
    let (server, _folder) = start(&start_provider().await, SECTION);
    let session = session_with_forms(&server).await;
    let mut stream = ask(&server, &session, r#"send {"to":"Ada"}"#).await;
    let question = stream.next().await;
    assert_eq!((question["id"].as_str().unwrap().len(), &question["method"]), (32, &json!("elicitation/create")));
    assert_json_snapshot!(question["params"], @r#"
    {
      "message": "The agent asks for your approval to run “send”.\n\nThe arguments:\n{\n  \"to\": \"Ada\"\n}",
      "requestedSchema": {
        "type": "object",
        "properties": {
          "decision": {
            "type": "string",
            "title": "Decision",
            "enum": [
              "approve",
              "deny"
            ]
          },
          "reason": {
            "type": "string",
            "title": "Reason",
            "description": "Why you deny it, for the agent. You can leave it empty.",
            "maxLength": 1000
          }
        },
        "required": [
          "decision"
        ]
      }
    }
    "#);
    // Only the question that was asked can be answered, in its session.
    assert_eq!(status(reply(&server, &session, &json!({ "id": "7" }), &accepted(json!({})))).await, 400);
    let other = session_with_forms(&server).await;
    let approved = accepted(json!({ "decision": "approve" }));
    assert_eq!(status(reply(&server, &other, &question, &approved)).await, 400);
    assert_eq!(status(reply(&server, &session, &question, &approved)).await, 202);
    let result = stream.result().await;
    assert!(told(&result).starts_with("done sent"), "{result}");
    assert_eq!(audited(&server).await, [json!(true)]);
    // It is answered only once.
    assert_eq!(status(reply(&server, &session, &question, &approved)).await, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_decide() {
    let (server, _folder) = start(&start_provider().await, SECTION);
    let session = session_with_forms(&server).await;
    let check = async |body: Value, outcome: &str, text: &str| {
        let mut stream = ask(&server, &session, "send {}").await;
        let question = stream.next().await;
        let mut body = body;
        body["jsonrpc"] = "2.0".into();
        body["id"] = question["id"].clone();
        let request = message(&server, &body).header("mcp-session-id", &session);
        assert_eq!(status(request).await, 202, "{body}");
        let result = stream.result().await;
        assert_eq!(result["structuredContent"]["outcome"], outcome, "{body}");
        assert!(result["content"].to_string().contains(text), "{body} {result}");
    };
    let denied = json!({ "decision": "deny", "reason": "not to her" });
    check(json!({ "result": accepted(denied) }), "done", "not to her").await;
    check(json!({ "result": { "action": "decline" } }), "done", "find send").await;
    let waits = "The user must approve or deny `send`";
    check(json!({ "result": { "action": "cancel" } }), "waiting", waits).await;
    check(json!({ "result": accepted(json!({})) }), "waiting", waits).await;
    check(json!({ "error": { "code": -32601, "message": "There is no such method." } }), "waiting", waits).await;
    assert_eq!(audited(&server).await, [json!(false), json!(false)]);
}

/// Arguments that the form does not show cannot be approved in it.
#[tokio::test(flavor = "multi_thread")]
async fn long_arguments_are_not_approved_blindly() {
    let (server, _folder) = start(&start_provider().await, SECTION);
    let session = session_with_forms(&server).await;
    let mut stream = ask(&server, &session, &format!(r#"send {{"text":"{}"}}"#, "x".repeat(5_000))).await;
    let question = stream.next().await;
    assert_eq!(question["params"]["requestedSchema"]["properties"]["decision"]["enum"], json!(["deny"]));
    assert!(question["params"]["message"].as_str().unwrap().contains("1016 more characters"), "{question}");
    let approved = accepted(json!({ "decision": "approve" }));
    assert_eq!(status(reply(&server, &session, &question, &approved)).await, 202);
    assert_eq!(stream.result().await["structuredContent"]["outcome"], "waiting");
    assert!(audited(&server).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn client_without_forms_is_not_asked() {
    let (server, _folder) = start(&start_provider().await, SECTION);
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let session = session(&server, capabilities, None).await;
        let result = ask(&server, &session, "send {}").await.result().await;
        assert_eq!(result["structuredContent"]["outcome"], "waiting");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn client_is_asked_a_question_of_the_agent() {
    let (server, _folder) = start_with_questions().await;
    let session = session_with_forms(&server).await;
    let mut stream = ask(&server, &session, &question_about_seats()).await;
    let question = stream.next().await;
    assert_snapshot!(question["params"], @r#"{"message":"Where to?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","title":"Name","maxLength":10000},"seats":{"type":"number","title":"Seats"}},"required":["name"]}}"#);
    let filled = accepted(json!({ "name": "Ada", "seats": 2 }));
    assert_eq!(status(reply(&server, &session, &question, &filled)).await, 202);
    let result = stream.result().await;
    assert!(told(&result).starts_with(r#"done {"fields":{"name":"Ada","seats":2}}"#), "{result}");
}

/// Starts a server whose agent can ask the user.
async fn start_with_questions() -> (Server, TempDir) {
    let folder = TempDir::new().unwrap();
    let text = config(&start_provider().await, SECTION);
    let text = text.replace("properties: { model: m }\n", "properties: { model: m, askUser: true }\n");
    std::fs::write(folder.path().join("chatwright.yaml"), text).unwrap();
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

/// Returns the message for which the agent asks with a form.
fn question_about_seats() -> String {
    let fields = json!([
        { "key": "name", "label": "Name", "type": "text", "required": true },
        { "key": "seats", "label": "Seats", "type": "number" },
    ]);
    format!("ask-user {}", json!({ "kind": "missing_info", "question": "Where to?", "fields": fields }))
}

/// The user may decide on the web page, too. Then the request to the client is cancelled.
#[tokio::test(flavor = "multi_thread")]
async fn decision_in_the_conversation_ends_the_question() {
    let (server, _folder) = start(&start_provider().await, SECTION);
    let session = session_with_forms(&server).await;
    let mut stream = ask(&server, &session, "send {}").await;
    let question = stream.next().await;
    let id = server.get("/api/conversations").await["items"][0]["id"].as_str().unwrap().to_owned();
    let mut answer = server.conversation(&id).await["messages"][1].clone();
    for part in answer["parts"].as_array_mut().unwrap().iter_mut().filter(|part| part["approval"].is_object()) {
        part["state"] = "approval-responded".into();
        part["approval"] = json!({ "id": part["approval"]["id"], "approved": true });
    }
    let body = json!({ "id": "chat", "trigger": "submit-message", "messages": [answer] });
    let decided = server.request(Method::POST, &format!("/api/agent/desk/helper?conversationId={id}")).json(&body);
    assert_eq!(status(decided).await, 200);
    let cancelled = stream.next().await;
    assert_eq!(
        (&cancelled["method"], &cancelled["params"]["requestId"]),
        (&json!("notifications/cancelled"), &question["id"])
    );
    let result = stream.result().await;
    assert!(told(&result).starts_with("done sent"), "{result}");
    assert!(audited(&server).await.is_empty());
}

/// Waits until the server asks nothing any more. A request cannot find this out: an answer would end the question itself.
async fn wait_for_no_questions(server: &Server) {
    let mut database = SqliteConnection::connect(&server.database).await.unwrap();
    for _ in 0..3_000 {
        let count = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM mcp_client_questions");
        if count.fetch_one(&mut database).await.unwrap() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the question is still open");
}

/// The approval stays in the conversation of a client that has gone, and its question cannot be answered any more.
#[tokio::test(flavor = "multi_thread")]
async fn approval_waits_when_the_client_has_gone() {
    let (server, _folder) = start(&start_provider().await, SECTION);
    let session = session_with_forms(&server).await;
    let mut stream = ask(&server, &session, "send {}").await;
    let question = stream.next().await;
    drop(stream);
    wait_for_no_questions(&server).await;
    let nothing = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "cancel" } });
    assert_eq!(status(message(&server, &nothing).header("mcp-session-id", &session)).await, 400);
    let id = server.get("/api/conversations").await["items"][0]["id"].as_str().unwrap().to_owned();
    let answer = server.conversation(&id).await["messages"][1].clone();
    assert_eq!(answer["metadata"]["outcome"], "waiting");
    assert!(answer["parts"].to_string().contains("approval-requested"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_cannot_answer() {
    let issuer = TokenIssuer::new();
    let folder = TempDir::new().unwrap();
    let text = format!("auth: {}\n{}", issuer.auth_config(), config(&start_provider().await, SECTION));
    std::fs::write(folder.path().join("chatwright.yaml"), text).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let [ada, eve] = ["ada", "eve"].map(|user| issuer.token_with_roles((user, &[]), "chat", 60));
    let session = session(&server, json!({ "elicitation": { "form": {} } }), Some(&ada)).await;
    let body = call(7, "helper", &json!({ "message": "send {}" }));
    let mut stream = Stream::begin(message(&server, &body).header("mcp-session-id", &session).bearer_auth(&ada)).await;
    let question = stream.next().await;
    let approved = accepted(json!({ "decision": "approve" }));
    assert_eq!(status(reply(&server, &session, &question, &approved).bearer_auth(&eve)).await, 400);
    let denied = accepted(json!({ "decision": "deny", "reason": "mine" }));
    assert_eq!(status(reply(&server, &session, &question, &denied).bearer_auth(&ada)).await, 202);
    let result = stream.result().await;
    assert!(result["content"].to_string().contains("mine"), "{result}");
}

/// An answer needs the same scope as a decision over the API.
#[tokio::test(flavor = "multi_thread")]
async fn keys_answer_with_the_scope_of_agents() {
    let (server, _folder) = start(&start_provider().await, SECTION);
    let session = session_with_forms(&server).await;
    let mut stream = ask(&server, &session, "send {}").await;
    let question = stream.next().await;
    let approved = accepted(json!({ "decision": "approve" }));
    for (scope, expected) in [("endpoints", 403), ("agents", 202)] {
        let key = server.api_key(&[scope]).await;
        assert_eq!(status(reply(&server, &session, &question, &approved).bearer_auth(key)).await, expected, "{scope}");
    }
    let result = stream.result().await;
    assert!(told(&result).starts_with("done sent"), "{result}");
}

/// The answer may reach another server than the one that runs the call.
#[tokio::test(flavor = "multi_thread")]
async fn another_server_takes_the_answer() {
    let Some(url) = test_postgres::new_database().await else { return };
    let folder = config_folder(&start_provider().await, SECTION);
    let start = || Server::start_with(&["--config", folder.path().to_str().unwrap(), "--database", &url]);
    let (first, second) = (start(), start());
    let session = session_with_forms(&second).await;
    let approved = accepted(json!({ "decision": "approve" }));
    for (result, expected) in [(approved, "done sent"), (json!({ "action": "cancel" }), "waiting ")] {
        let mut stream = ask(&first, &session, "send {}").await;
        let question = stream.next().await;
        assert_eq!(status(reply(&second, &session, &question, &result)).await, 202);
        let result = stream.result().await;
        assert!(told(&result).starts_with(expected), "{result}");
    }
}

/// Returns a call in the newest version, with more parameters, of a client that shows forms.
fn newest(server: &Server, more: &Value) -> RequestBuilder {
    let mut body = call(7, "helper", &json!({ "message": "send {}" }));
    body["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    for (key, value) in more.as_object().unwrap() {
        body["params"][key] = value.clone();
    }
    let request = server.request(Method::POST, "/mcp").header("accept", ACCEPTED).json(&body);
    let request = request.header("mcp-protocol-version", NEWEST);
    request.header("mcp-method", "tools/call").header("mcp-name", "helper")
}

async fn result_of(request: RequestBuilder) -> Value {
    last_message(&request.send().await.unwrap().text().await.unwrap())["result"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn newest_version_asks_with_a_result() {
    let (server, _folder) = start(&start_provider().await, SECTION);
    let approve = accepted(json!({ "decision": "approve" }));
    let check = async |response: &Value, expected: &str| {
        let asked = result_of(newest(&server, &json!({}))).await;
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let requests = asked["inputRequests"].as_object().unwrap();
        let (key, request) = requests.iter().next().unwrap();
        assert_eq!((requests.len(), &request["method"]), (1, &json!("elicitation/create")));
        assert_eq!(request["params"]["requestedSchema"]["required"], json!(["decision"]));
        let again = json!({ "requestState": asked["requestState"], "inputResponses": { key: response } });
        // The same request again changes nothing.
        for _ in 0..2 {
            let result = result_of(newest(&server, &again)).await;
            assert!(told(&result).starts_with(expected), "{response} {result}");
        }
        asked
    };
    let asked = check(&approve, "done sent").await;
    check(&json!({ "action": "decline" }), "done ").await;
    check(&json!({ "action": "cancel" }), "waiting ").await;
    assert_eq!(audited(&server).await, [json!(false), json!(true)]);
    // Without answers, the same is asked again.
    let first = result_of(newest(&server, &json!({}))).await;
    let again = result_of(newest(&server, &json!({ "requestState": first["requestState"] }))).await;
    assert_eq!((&again["resultType"], &again["inputRequests"]), (&json!("input_required"), &first["inputRequests"]));
    for state in ["made up".to_owned(), asked["requestState"].as_str().unwrap().replace(':', "=")] {
        let refused = result_of(newest(&server, &json!({ "requestState": state }))).await;
        assert_eq!(refused["content"][0]["text"], "`requestState` is not one that this tool has given.");
    }
}
