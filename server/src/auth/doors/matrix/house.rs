//! A server with users, of whom one has one thing of every kind.

use super::Route;
use super::bodies::Sent;
use super::tables::Tables;
use crate::auth::Credentials;
use crate::auth::doors::{message, state};
use crate::auth::password::{Accounts, Scope};
use crate::router::router;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{Method, Request, header, request};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use store::{Added, NewUser};
use tempfile::TempDir;
use tower::ServiceExt;

/// In everything that is hers.
pub(super) const CANARY: &str = "canary7f3a";

const CONFIG: &str = "
auth: { mode: password, publicUrls: ['https://a.test'] }
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
api:
  - id: remove
    description: Delete
    payloadSchema: { type: object, properties: { title: { type: string } } }
    routine: [{ ':return': removed }]
agents:
  - id: a
    type: Agent
    connectionId: demo
    properties: { model: demo }
    tools: [{ endpointId: remove, name: delete_it, confirm: true }]
customAgents: { from: [a], auth: { roles: [tester] } }
pages: [{ id: p }]
";

/// Somebody who asks.
pub(super) struct Who {
    pub(super) name: &'static str,
    /// With what he signs in.
    with: With,
    pub(super) is_admin: bool,
    /// How `GET /api/keys` answers, which is for sessions alone.
    pub(super) of_keys: u16,
}

enum With {
    Nothing,
    Session,
    Key,
}

const ADA: Who = Who { name: "ada", with: With::Session, is_admin: false, of_keys: 200 };
const BOSS: Who = Who { name: "boss", with: With::Session, is_admin: true, of_keys: 200 };
/// Whom nothing of hers is for.
pub(super) const STRANGERS: [Who; 4] = [
    Who { name: "nobody", with: With::Nothing, is_admin: false, of_keys: 401 },
    Who { name: "eve", with: With::Session, is_admin: false, of_keys: 200 },
    Who { name: "eve", with: With::Key, is_admin: false, of_keys: 403 },
    BOSS,
];

pub(super) struct House {
    routes: Router,
    accounts: Arc<Accounts>,
    key: String,
    /// Kinds of things with hers.
    pub(super) things: Vec<(&'static str, String)>,
    pub(super) tables: Tables,
    _folder: TempDir,
}

impl House {
    pub(super) async fn open() -> Self {
        // Thousands of requests write something, and none of it has to outlive a power failure.
        let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        let database = format!("sqlite://{}", folder.path().join("chat.db").display());
        let state = state(&format!("{CONFIG}store: {{ url: '{database}' }}\n")).await;
        let accounts = state.composition.current.authentication().accounts().unwrap();
        let (routes, tables) = (router(state), Tables::open(&database).await);
        let mut house = Self { routes, accounts, key: String::new(), things: Vec::new(), tables, _folder: folder };
        for (name, roles) in [("ada", vec![]), ("eve", vec![]), ("boss", vec!["admin".to_owned()])] {
            let (id, name_key) = (name.to_owned(), name.to_owned());
            let user = NewUser { id, name: name.to_owned(), name_key, password: String::new(), roles, now: 0 };
            assert_eq!(house.accounts.store.add_user(user, false, None).await.unwrap(), Added::Done);
        }
        house.key = house.accounts.make_key("eve", "key", &Scope::ALL, 1, None).await.unwrap().unwrap().key;
        house.fill().await;
        house
    }

    /// Gives her one of everything.
    async fn fill(&mut self) {
        let says = |text: &str| json!({ "id": "chat", "trigger": "submit-message", "messages": [message(&format!("{text} {CANARY}"))] });
        let made = async |who: &Who, path: &str, body: Value| {
            let (status, answer) = self.send(who, Method::POST, path, Sent::Json(body)).await;
            assert!(status < 300, "{path}: {status} {answer}");
            serde_json::from_str::<Value>(&answer).unwrap_or(Value::String(answer))
        };
        let id = |made: &Value| made["id"].as_str().unwrap().to_owned();
        made(&ADA, "/api/agent/p/a?conversationId=ada-c", says("Hello")).await;
        // One question waits, and one is answered for good.
        made(&ADA, "/api/agent/p/a?conversationId=ada-e", says("Delete the article about refunds")).await;
        let asked = made(&ADA, "/api/agent/p/a?conversationId=ada-d", says("Delete the article about refunds")).await;
        let asked = asked.as_str().unwrap();
        let call = asked.split_once(r#""toolCallId":""#).unwrap().1.split_once('"').unwrap().0.to_owned();
        let approval = asked.split_once(r#""approvalId":""#).unwrap().1.split_once('"').unwrap().0.to_owned();
        let answer = json!({ "kind": "approval", "toolCallId": call, "approved": true, "remember": "always" });
        let submission = json!({ "kind": "answers", "answers": [answer] });
        let request = json!({ "pageId": "p", "agentId": "a", "conversationId": "ada-d", "submission": submission });
        made(&ADA, "/ui/send", json!({ "request": request })).await;
        let folder = id(&made(&ADA, "/api/folders", json!({ "name": format!("Work {CANARY}") })).await);
        let share = id(&made(&ADA, "/api/conversations/ada-c/shares", json!({})).await);
        let question = json!({ "agent_name": "a", "input": { "prompt": CANARY } });
        let run = made(&ADA, "/api/runs/invoke", question).await["run_id"].as_str().unwrap().to_owned();
        let custom = json!({ "name": "Tester", "from": "a", "instructions": CANARY });
        let custom = id(&made(&BOSS, "/api/admin/custom-agents", custom).await);
        let path = format!("/api/files?name={CANARY}.txt");
        let (_, file) = self.send(&ADA, Method::POST, &path, Sent::Form(CANARY.to_owned())).await;
        let file = id(&serde_json::from_str(&file).unwrap());
        let key = self.accounts.make_key("ada", CANARY, &Scope::ALL, 1, None).await.unwrap().unwrap().id;
        let (_, view) = self.send(&ADA, Method::GET, "/api/conversations/ada-c", Sent::Nothing).await;
        let message = serde_json::from_str::<Value>(&view).unwrap()["messages"][0]["id"].as_str().unwrap().to_owned();
        let (_, grants) = self.send(&ADA, Method::GET, "/api/grants", Sent::Nothing).await;
        let grant = serde_json::from_str::<Value>(&grants).unwrap()["items"][0]["id"].as_str().unwrap().to_owned();
        self.session("ada").await;
        let sessions = self.accounts.store.sessions("ada", 0, self.accounts.life()).await.unwrap();
        let session = sessions[0].id.clone();
        self.things = vec![
            ("conversation", "ada-c".to_owned()),
            ("conversation that asks", "ada-e".to_owned()),
            ("message", message),
            ("call", call),
            ("question", approval),
            ("folder", folder),
            ("share", share),
            ("run", run),
            ("custom agent", custom),
            ("file", file),
            ("key", key),
            ("standing approval", grant),
            ("session", session),
            ("user", "ada".to_owned()),
        ];
    }

    /// What he may name there. A new route whose things are none of these finds nothing, which is told.
    pub(super) fn own(&self, route: &Route) -> String {
        let kind = route.path.split('/').find_map(kind).unwrap_or("conversation");
        // Somebody who may be disabled or deleted.
        if kind == "user" {
            return "eve".to_owned();
        }
        let found = self.things.iter().find(|(known, _)| *known == kind);
        found.map_or_else(|| kind.to_owned(), |(_, id)| id.clone())
    }

    /// All that is hers, as she sees it.
    pub(super) async fn adas_things(&self) -> String {
        let file = &self.things.iter().find(|(kind, _)| *kind == "file").unwrap().1;
        let mut all = String::new();
        for path in [
            "/api/conversations?limit=100",
            "/api/conversations?archived=true",
            "/api/conversations/ada-c",
            "/api/conversations/ada-d",
            "/api/conversations/ada-e",
            "/api/conversations/ada-c/shares",
            "/api/folders",
            "/api/grants",
            "/api/runs",
            "/api/keys",
            &format!("/api/files/{file}"),
        ] {
            let (status, answer) = self.send(&ADA, Method::GET, path, Sent::Nothing).await;
            all += &format!("{path} {status}\n{answer}\n");
        }
        all
    }

    async fn session(&self, user: &str) -> String {
        let browser = Request::builder().body(Body::empty()).unwrap();
        let cookie = self.accounts.begin_session(user, &Credentials::of(&browser), false, None).await.unwrap().unwrap();
        cookie.to_str().unwrap().split(';').next().unwrap().to_owned()
    }

    pub(super) async fn ask(&self, who: &Who, route: &Route, id: &str, sent: Sent, query: &str) -> (u16, String) {
        self.send(who, route.method.clone(), &format!("{}{query}", route.at(id)), sent).await
    }

    /// A request as he sends it. Each has a session of its own: some end what they came with.
    pub(super) async fn request(&self, who: &Who, method: Method, path: &str) -> request::Builder {
        let request = Request::builder().method(method).uri(path).header(header::HOST, "127.0.0.1");
        match who.with {
            With::Nothing => request,
            With::Session => request.header(header::COOKIE, self.session(who.name).await),
            With::Key => request.header(header::AUTHORIZATION, format!("Bearer {}", self.key)),
        }
    }

    async fn send(&self, who: &Who, method: Method, path: &str, sent: Sent) -> (u16, String) {
        let mut request = self.request(who, method, path).await;
        let body = match sent {
            Sent::Nothing => Body::empty(),
            Sent::Json(body) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Body::from(body.to_string())
            }
            Sent::Form(body) => {
                request = request.header(header::CONTENT_LENGTH, body.len());
                request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
                Body::from(body)
            }
        };
        self.answer(request.header(header::ACCEPT, "application/json"), body).await
    }

    /// What it is answered.
    pub(super) async fn answer(&self, request: request::Builder, body: Body) -> (u16, String) {
        let from = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1)));
        let answer = self.routes.clone().oneshot(request.extension(from).body(body).unwrap()).await.unwrap();
        let status = answer.status().as_u16();
        let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8_lossy(&body).into_owned())
    }
}

/// Who may call the route.
pub(super) fn owner(route: &Route) -> &'static Who {
    if route.is_for_admins() { &BOSS } else { &ADA }
}

/// What a part of a path is about.
fn kind(part: &str) -> Option<&'static str> {
    Some(match part {
        "conversations" => "conversation",
        "folders" => "folder",
        "users" => "user",
        "custom-agents" => "custom agent",
        "agents" => "a",
        _ => return None,
    })
}
