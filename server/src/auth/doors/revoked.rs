//! Rights that end while they are used (A9): a role that is taken away, a user who is disabled. What is open closes, and what waits for
//! a yes is not begun by one that comes afterwards.

use super::*;
use crate::auth::password::Accounts;
use crate::router::router;
use axum::extract::ConnectInfo;
use axum::response::Response;
use std::net::SocketAddr;
use store::{Added, NewUser};

/// An agent for editors, whose tool asks first and counts in a database how often it ran.
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

struct House {
    routes: Router,
    accounts: Arc<Accounts>,
}

impl House {
    async fn open() -> Self {
        let state = state(CONFIG).await;
        let accounts = state.composition.current.authentication().accounts().unwrap();
        let house = Self { routes: router(state), accounts };
        for (name, roles) in [("ada", ["editor"]), ("boss", ["admin"])] {
            let user = NewUser {
                id: name.to_owned(),
                name: name.to_owned(),
                name_key: name.to_owned(),
                password: String::new(),
                roles: roles.map(str::to_owned).to_vec(),
                now: 0,
            };
            assert_eq!(house.accounts.store.add_user(user, false, None).await.unwrap(), Added::Done);
        }
        house
    }

    /// Signs in, with the cookie of a browser.
    async fn session(&self, name: &str) -> String {
        let sent = crate::auth::Credentials::of(&Request::builder().body(Body::empty()).unwrap());
        let cookie = self.accounts.begin_session(name, &sent, false, None).await.unwrap().unwrap();
        cookie.to_str().unwrap().split(';').next().unwrap().to_owned()
    }

    async fn ask(&self, cookie: &str, knock: Knock) -> Response {
        let mut request = Request::builder().method(knock.method).uri(knock.path).header(header::HOST, "127.0.0.1");
        request = request.header(header::COOKIE, cookie);
        if knock.body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let body = knock.body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let from = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1)));
        self.routes.clone().oneshot(request.extension(from).body(body).unwrap()).await.unwrap()
    }

    async fn told(&self, cookie: &str, knock: Knock) -> (u16, Value) {
        let response = self.ask(cookie, knock).await;
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    /// What an administrator does with Ada.
    async fn change(&self, boss: &str, change: Value) {
        let change = Knock { method: Method::PATCH, ..post("/api/admin/users/ada".to_owned(), change) };
        assert_eq!(self.told(boss, change).await.0, 200);
    }

    /// How often the tool ran.
    async fn ran(&self, boss: &str) -> Value {
        let (status, rows) = self.told(boss, post("/api/endpoints/p/count".to_owned(), json!({}))).await;
        assert_eq!(status, 200, "{rows}");
        rows[0]["times"].clone()
    }
}

/// Her yes to the call that waits in the conversation.
fn yes(conversation: &Value) -> Knock {
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
async fn a_yes_that_comes_too_late_begins_nothing() {
    let house = House::open().await;
    let (ada, boss) = (house.session("ada").await, house.session("boss").await);
    assert_eq!(house.told(&ada, send("p", "helper", "c", "Search for refunds")).await.0, 200);
    let (_, conversation) = house.told(&ada, get("/api/conversations/c".to_owned())).await;
    assert!(conversation.to_string().contains("approval-requested"), "{conversation}");

    house.change(&boss, json!({ "roles": [] })).await;
    assert_eq!(house.told(&ada, yes(&conversation)).await.0, 404, "without the role there is no such agent");
    assert_eq!(house.ran(&boss).await, 0);
    house.change(&boss, json!({ "roles": ["editor"], "disabled": true })).await;
    assert_eq!(house.told(&ada, yes(&conversation)).await.0, 401, "who is disabled is signed out");
    assert_eq!(house.ran(&boss).await, 0);

    house.change(&boss, json!({ "disabled": false })).await;
    assert_eq!(house.told(&ada, yes(&conversation)).await.0, 401, "the session does not come back");
    let ada = house.session("ada").await;
    assert_eq!(house.told(&ada, yes(&conversation)).await.0, 200);
    assert_eq!(house.ran(&boss).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_chat_closes_when_a_role_is_taken_away() {
    let house = House::open().await;
    let (ada, boss) = (house.session("ada").await, house.session("boss").await);
    let stream = house.ask(&ada, send("p", "helper", "c", "count to 1500")).await;
    assert_eq!(stream.status().as_u16(), 200);
    house.change(&boss, json!({ "roles": [] })).await;
    let seen = to_bytes(stream.into_body(), usize::MAX).await.unwrap();
    assert!(!String::from_utf8_lossy(&seen).contains("[DONE]"));
    assert_eq!(house.told(&ada, get("/api/agent/p/helper/c/stream".to_owned())).await.0, 404);
    // What was said stays hers, and she goes on with nothing.
    assert_eq!(house.told(&ada, get("/api/conversations/c".to_owned())).await.0, 200);
    assert_eq!(house.told(&ada, send("p", "helper", "c", "Hello?")).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_for_who_is_disabled_stops() {
    let house = House::open().await;
    let (ada, boss) = (house.session("ada").await, house.session("boss").await);
    let stream = house.ask(&ada, send("p", "helper", "c", "count to 1500")).await;
    house.change(&boss, json!({ "disabled": true })).await;
    to_bytes(stream.into_body(), usize::MAX).await.unwrap();
    let (_, opened) = house.told(&boss, get("/api/admin/conversations/c".to_owned())).await;
    assert_eq!(opened["view"]["messages"][1]["metadata"]["outcome"], "stopped", "{opened}");
}
