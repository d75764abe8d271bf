//! Rights that end while they are used: a removed role, a disabled user. Open streams end, and a
//! later approval does not start a waiting call.

use crate::access::*;
use auth::password::Accounts;
use axum::response::Response;
use std::sync::Arc;
use store::{AddUserOutcome, NewUser, SecondFactorProof};

/// An agent for editors. Its tool needs approval and counts its runs in a database.
const CONFIG: &str = "
auth: { mode: password, publicUrls: ['https://a.test'] }
connections:
  - { id: demo, type: Demo, properties: { delayMs: 20 } }
  - { id: db, type: Sql, properties: { url: 'sqlite::memory:', init: 'create table ran (at text)' } }
api:
  - id: search_it
    description: Search
    payloadSchema: { type: object, properties: { query: { type: string } } }
    routine:
      - { id: ran, type: SqlExecute, connectionId: db, properties: { query: insert into ran (at) values (1) } }
      - ':return': { found: nothing }
  - id: count
    routine:
      - { id: ran, type: SqlQuery, connectionId: db, properties: { query: select count(*) as times from ran } }
      - ':return': { _step: ran }
agents:
  - id: helper
    type: Agent
    connectionId: demo
    properties: { model: demo }
    auth: { roles: [editor] }
    tools: [{ endpointId: search_it, confirm: true }]
pages: [{ id: p }]
";

struct TestServer {
    routes: Router,
    accounts: Arc<Accounts>,
}

impl TestServer {
    async fn open() -> Self {
        let server = open(CONFIG).await;
        let server = Self { routes: server.routes(), accounts: server.accounts().unwrap() };
        for (name, roles) in [("ada", ["editor"]), ("boss", ["admin"])] {
            let user = NewUser {
                id: name.to_owned(),
                name: name.to_owned(),
                name_key: name.to_owned(),
                password: String::new(),
                must_change_password: false,
                roles: roles.map(str::to_owned).to_vec(),
                now: 0,
            };
            assert_eq!(server.accounts.store.add_user(user, false, None).await.unwrap(), AddUserOutcome::Done);
        }
        server
    }

    /// Signs in; returns the cookie.
    async fn session(&self, name: &str) -> String {
        let sent = auth::Credentials::from_request(&Request::builder().body(Body::empty()).unwrap());
        let cookie = self
            .accounts
            .begin_session((name, "", SecondFactorProof::None), &sent, false, None)
            .await
            .unwrap()
            .unwrap();
        cookie.to_str().unwrap().split(';').next().unwrap().to_owned()
    }

    async fn request(&self, cookie: &str, spec: TestRequest) -> Response {
        let mut request = local_request(spec.method, &spec.path).header(header::COOKIE, cookie);
        if spec.body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let body = spec.body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        self.routes.clone().oneshot(request.body(body).unwrap()).await.unwrap()
    }

    async fn request_json(&self, cookie: &str, spec: TestRequest) -> (u16, Value) {
        let response = self.request(cookie, spec).await;
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    /// Changes Ada's account as an administrator.
    async fn change(&self, boss: &str, change: Value) {
        let change = TestRequest { method: Method::PATCH, ..post("/api/admin/users/ada".to_owned(), change) };
        assert_eq!(self.request_json(boss, change).await.0, 200);
    }

    /// Returns how often the tool ran.
    async fn run_count(&self, boss: &str) -> Value {
        let (status, rows) = self.request_json(boss, post("/api/endpoints/p/count".to_owned(), json!({}))).await;
        assert_eq!(status, 200, "{rows}");
        rows[0]["times"].clone()
    }
}

/// Returns the request that approves the waiting call of a conversation.
fn approve(conversation: &Value) -> TestRequest {
    let mut answer = conversation["messages"].as_array().unwrap().last().unwrap().clone();
    for part in answer["parts"].as_array_mut().unwrap() {
        if part["state"] == "approval-requested" {
            part["state"] = json!("approval-responded");
            part["approval"]["approved"] = json!(true);
        }
    }
    let body = json!({ "id": "chat", "trigger": "submit-message", "messages": [answer] });
    post("/api/agent/p/helper?conversationId=c".to_owned(), body)
}

#[tokio::test(flavor = "multi_thread")]
async fn approval_after_losing_rights_starts_nothing() {
    let server = TestServer::open().await;
    let (ada, boss) = (server.session("ada").await, server.session("boss").await);
    assert_eq!(server.request_json(&ada, send("p", "helper", "c", "Search for refunds")).await.0, 200);
    let (_, conversation) = server.request_json(&ada, get("/api/conversations/c".to_owned())).await;
    assert!(conversation.to_string().contains("approval-requested"), "{conversation}");

    server.change(&boss, json!({ "roles": [] })).await;
    assert_eq!(
        server.request_json(&ada, approve(&conversation)).await.0,
        404,
        "without the role there is no such agent"
    );
    assert_eq!(server.run_count(&boss).await, 0);
    server.change(&boss, json!({ "roles": ["editor"], "disabled": true })).await;
    assert_eq!(server.request_json(&ada, approve(&conversation)).await.0, 401, "who is disabled is signed out");
    assert_eq!(server.run_count(&boss).await, 0);

    server.change(&boss, json!({ "disabled": false })).await;
    assert_eq!(server.request_json(&ada, approve(&conversation)).await.0, 401, "the session does not come back");
    let ada = server.session("ada").await;
    assert_eq!(server.request_json(&ada, approve(&conversation)).await.0, 200);
    assert_eq!(server.run_count(&boss).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn open_stream_ends_when_a_role_is_removed() {
    let server = TestServer::open().await;
    let (ada, boss) = (server.session("ada").await, server.session("boss").await);
    let stream = server.request(&ada, send("p", "helper", "c", "count to 1500")).await;
    assert_eq!(stream.status().as_u16(), 200);
    server.change(&boss, json!({ "roles": [] })).await;
    let seen = to_bytes(stream.into_body(), usize::MAX).await.unwrap();
    assert!(!String::from_utf8_lossy(&seen).contains("[DONE]"));
    assert_eq!(server.request_json(&ada, get("/api/agent/p/helper/c/stream".to_owned())).await.0, 404);
    // She keeps the conversation, but cannot continue it.
    assert_eq!(server.request_json(&ada, get("/api/conversations/c".to_owned())).await.0, 200);
    assert_eq!(server.request_json(&ada, send("p", "helper", "c", "Hello?")).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn run_of_a_disabled_user_is_stopped() {
    let server = TestServer::open().await;
    let (ada, boss) = (server.session("ada").await, server.session("boss").await);
    let stream = server.request(&ada, send("p", "helper", "c", "count to 1500")).await;
    server.change(&boss, json!({ "disabled": true })).await;
    to_bytes(stream.into_body(), usize::MAX).await.unwrap();
    let (_, opened) = server.request_json(&boss, get("/api/admin/conversations/c".to_owned())).await;
    assert_eq!(opened["view"]["messages"][1]["metadata"]["outcome"], "stopped", "{opened}");
}
