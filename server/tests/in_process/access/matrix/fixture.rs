//! A server with users, one of whom has an object of every kind.

use super::Route;
use super::bodies::{RequestBody, kind_of_segment};
use super::tables::Tables;
use crate::access::{local_request, message, open};
use auth::Credentials;
use auth::password::{Accounts, KeyScope};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, header, request};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use store::{AddUserOutcome, NewUser, SecondFactorProof};
use tempfile::TempDir;
use tower::ServiceExt;

/// The header `Accept` of requests: both forms of a response.
pub(super) const ACCEPTED: &str = "application/json, text/event-stream";

/// A text in everything that Ada owns.
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
  - { id: a, type: Agent, connectionId: demo, properties: { model: demo }, memory: true, profile: true,
      tools: [{ endpointId: remove, name: delete_it, confirm: true }], workspace: { shell: none } }
customAgents: { from: [a], auth: { roles: [tester] }, users: {} }
data: [{ id: notes, writers: [noter], schema: { type: object } }]
knowledge: { userGraph: { model: { connectionId: demo, model: demo }, entities: [{ type: person }] } }
workflows: [{ id: w, steps: [{ id: ask, type: human, title: { _input: title }, users: [ada] }] }]
projects: {}
prompts: {}
# Nobody is told of what waits while writes are counted.
notifications: { contact: mailto:ops@example.com, afterSeconds: 3600 }
pages: [{ id: p }]
openaiApi: { bodyBytes: 1048576 }
agUi: { bodyBytes: 1048576 }
a2a: { agents: [a], bodyBytes: 1048576 }
mcpApi: { agents: [a], endpoints: [remove], documents: true }
";

/// A caller.
pub(super) struct TestCaller {
    pub(super) name: &'static str,
    /// The kind of credential.
    with: TestCredential,
    pub(super) is_admin: bool,
    /// The status of `GET /api/keys`, which only sessions may call.
    pub(super) of_keys: u16,
}

enum TestCredential {
    Nothing,
    Session,
    Key,
}

pub(super) const ADA: TestCaller =
    TestCaller { name: "ada", with: TestCredential::Session, is_admin: false, of_keys: 200 };
// The callers who must not reach anything of Ada's.
pub(super) const NOBODY: TestCaller =
    TestCaller { name: "nobody", with: TestCredential::Nothing, is_admin: false, of_keys: 401 };
pub(super) const EVE: TestCaller =
    TestCaller { name: "eve", with: TestCredential::Session, is_admin: false, of_keys: 200 };
pub(super) const EVES_KEY: TestCaller =
    TestCaller { name: "eve", with: TestCredential::Key, is_admin: false, of_keys: 403 };
pub(super) const BOSS: TestCaller =
    TestCaller { name: "boss", with: TestCredential::Session, is_admin: true, of_keys: 200 };

pub(super) struct TestServer {
    routes: Router,
    pub(super) accounts: Arc<Accounts>,
    key: String,
    /// The cookie of a session of each user.
    sessions: Mutex<HashMap<&'static str, String>>,
    /// The ids of Ada's objects by kind.
    pub(super) fixtures: Vec<(&'static str, String)>,
    pub(super) tables: Tables,
    _folder: TempDir,
}

impl TestServer {
    pub(super) async fn open() -> Self {
        // Thousands of requests write something, and none of it has to survive a power failure.
        let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        let database = format!("sqlite://{}", folder.path().join("chat.db").display());
        let server = open(&format!("{CONFIG}store: {{ url: '{database}' }}\n")).await;
        let accounts = server.accounts().unwrap();
        let (routes, tables) = (server.routes(), Tables::open(&database).await);
        let (key, sessions, fixtures) = (String::new(), Mutex::default(), Vec::new());
        let mut server = Self { routes, accounts, key, sessions, fixtures, tables, _folder: folder };
        for (name, roles) in
            [("ada", vec!["noter".to_owned()]), ("eve", vec!["noter".to_owned()]), ("boss", vec!["admin".to_owned()])]
        {
            let (id, name_key) = (name.to_owned(), name.to_owned());
            let user = NewUser {
                id,
                name: name.to_owned(),
                name_key,
                password: String::new(),
                must_change_password: false,
                roles,
                now: 0,
            };
            assert_eq!(server.accounts.store.add_user(user, false, None).await.unwrap(), AddUserOutcome::Done);
        }
        server.key = server.accounts.create_key("eve", "key", &KeyScope::ALL, 1, None).await.unwrap().unwrap().key;
        server.create_data().await;
        server
    }

    /// Creates an object of every kind for Ada.
    async fn create_data(&mut self) {
        let says = |text: &str| json!({ "id": "chat", "trigger": "submit-message", "messages": [message(&format!("{text} {CANARY}"))] });
        let made = async |who: &TestCaller, path: &str, body: Value| {
            let (status, answer) = self.send(who, Method::POST, path, RequestBody::Json(body)).await;
            assert!(status < 300, "{path}: {status} {answer}");
            serde_json::from_str::<Value>(&answer).unwrap_or(Value::String(answer))
        };
        let id = |made: &Value| made["id"].as_str().unwrap().to_owned();
        made(&ADA, "/api/agent/p/a?conversationId=ada-c", says("Hello")).await;
        // One approval stays pending, and one is given permanently.
        made(&ADA, "/api/agent/p/a?conversationId=ada-e", says("Delete the article about refunds")).await;
        let asked = made(&ADA, "/api/agent/p/a?conversationId=ada-d", says("Delete the article about refunds")).await;
        let asked = asked.as_str().unwrap();
        let call = asked.split_once(r#""toolCallId":""#).unwrap().1.split_once('"').unwrap().0.to_owned();
        let approval = asked.split_once(r#""approvalId":""#).unwrap().1.split_once('"').unwrap().0.to_owned();
        let answer = json!({ "kind": "approval", "toolCallId": call, "approved": true, "remember": "always" });
        let submission = json!({ "kind": "answers", "answers": [answer] });
        let request = json!({ "pageId": "p", "agentId": "a", "conversationId": "ada-d", "submission": submission });
        made(&ADA, "/ui/send", json!({ "request": request })).await;
        let text = RequestBody::Json(json!({ "content": CANARY }));
        assert_eq!(self.send(&ADA, Method::PUT, "/api/profile", text).await.0, 204);
        let folder = id(&made(&ADA, "/api/folders", json!({ "name": format!("Work {CANARY}") })).await);
        let share = id(&made(&ADA, "/api/conversations/ada-c/shares", json!({})).await);
        // It is not sent, because a question is open there.
        let queued = json!({ "id": "ada-q", "role": "user", "parts": [{ "type": "text", "text": CANARY }] });
        let queued = RequestBody::Json(json!({ "message": queued, "pageId": "p" }));
        assert_eq!(self.send(&ADA, Method::PUT, "/api/message-queues/ada-e/ada-q", queued).await.0, 200);
        let question = json!({ "agent_name": "a", "input": { "prompt": CANARY } });
        let run = made(&ADA, "/api/runs/invoke", question).await["run_id"].as_str().unwrap().to_owned();
        let response = id(&made(&ADA, "/v1/responses", json!({ "model": "a", "input": CANARY })).await);
        let custom = json!({ "name": "Tester", "from": "a", "instructions": CANARY });
        let custom = id(&made(&BOSS, "/api/admin/custom-agents", custom).await);
        let group = json!({ "name": "Support", "description": CANARY, "members": ["ada"] });
        let group = id(&made(&BOSS, "/api/admin/groups", group).await);
        let own = json!({ "name": "mine", "title": "Mine", "from": "a", "instructions": CANARY });
        let own = id(&made(&ADA, "/api/own-agents", own).await);
        let prompt = json!({ "name": "sum", "description": CANARY, "text": CANARY });
        let prompt = id(&made(&ADA, "/api/prompts", prompt).await);
        let project = json!({ "name": format!("Project {CANARY}"), "instructions": CANARY });
        let project = id(&made(&ADA, "/api/projects", project).await);
        // The public key is a point on the curve P-256.
        let point = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU";
        let keys = json!({ "p256dh": point, "auth": "AAAAAAAAAAAAAAAAAAAAAA" });
        let browser = json!({ "endpoint": format!("https://push.test/{CANARY}"), "keys": keys });
        let browser = id(&made(&ADA, "/api/notifications/browsers", browser).await);
        let work = id(&made(&ADA, "/api/workflows/w/runs", json!({ "input": { "title": CANARY } })).await);
        let record = json!({ "records": [{ "text": CANARY }] });
        let record = made(&ADA, "/api/collections/notes/records", record).await["ids"][0].as_str().unwrap().to_owned();
        let library = json!({ "name": format!("Papers {CANARY}"), "description": CANARY, "graph": true });
        let library = id(&made(&ADA, "/api/libraries", library).await);
        self.mention(&library).await;
        let path = format!("/api/libraries/{library}/documents");
        let (_, document) = self.send(&ADA, Method::POST, &path, RequestBody::File(CANARY.to_owned())).await;
        let document = id(&serde_json::from_str::<Value>(&document).unwrap()["documents"][0]);
        let path = "/api/conversations/ada-c/files";
        let (status, _) = self.send(&ADA, Method::POST, path, RequestBody::File(CANARY.to_owned())).await;
        assert_eq!(status, 201, "{path}");
        let artifact_share = id(&made(&ADA, "/api/conversations/ada-c/files/1/shares", json!({})).await);
        let path = format!("/api/files?name={CANARY}.txt");
        let (_, file) = self.send(&ADA, Method::POST, &path, RequestBody::Form(CANARY.to_owned())).await;
        let file = id(&serde_json::from_str(&file).unwrap());
        let key = self.accounts.create_key("ada", CANARY, &KeyScope::ALL, 1, None).await.unwrap().unwrap().id;
        let (_, view) = self.send(&ADA, Method::GET, "/api/conversations/ada-c", RequestBody::Nothing).await;
        let message = serde_json::from_str::<Value>(&view).unwrap()["messages"][0]["id"].as_str().unwrap().to_owned();
        self.remember(&message).await;
        let (_, grants) = self.send(&ADA, Method::GET, "/api/grants", RequestBody::Nothing).await;
        let grant = serde_json::from_str::<Value>(&grants).unwrap()["items"][0]["id"].as_str().unwrap().to_owned();
        self.session("ada").await;
        let sessions = self.accounts.sessions("ada").await.unwrap();
        let session = sessions[0].id.clone();
        self.fixtures = vec![
            ("conversation", "ada-c".to_owned()),
            ("conversation that asks", "ada-e".to_owned()),
            ("message", message),
            ("call", call),
            ("question", approval),
            ("folder", folder),
            ("workflow run", work),
            ("record", record),
            ("library", library),
            ("document", document),
            ("share", share),
            ("run", run),
            ("response", response),
            ("custom agent", custom),
            ("own agent", own),
            ("group", group),
            ("project", project),
            ("prompt", prompt),
            ("browser", browser),
            ("file", file),
            ("version of a file", "1".to_owned()),
            ("artifact share", artifact_share),
            ("key", key),
            ("standing approval", grant),
            ("session", session),
            ("fact", "ada-fact".to_owned()),
            ("update", "ada-update".to_owned()),
            ("user", "ada".to_owned()),
        ];
    }

    /// Returns the id that the owner uses for a route. If a new route is about another kind,
    /// nothing is found, which the tests report.
    pub(super) fn own_id(&self, route: &Route) -> String {
        let kind = route.path.split('/').find_map(kind_of_segment).unwrap_or("conversation");
        // A user who may be disabled or deleted.
        if kind == "user" {
            return "eve".to_owned();
        }
        let found = self.fixtures.iter().find(|(known, _)| *known == kind);
        found.map_or_else(|| kind.to_owned(), |(_, id)| id.clone())
    }

    /// Returns everything that Ada owns, as she sees it.
    pub(super) async fn everything_of_ada(&self) -> String {
        let of_kind = |kind: &str| &self.fixtures.iter().find(|(known, _)| *known == kind).unwrap().1;
        let (file, library, record) = (of_kind("file"), of_kind("library"), of_kind("record"));
        let (project, response) = (of_kind("project"), of_kind("response"));
        let mut all = String::new();
        for path in [
            "/api/conversations?limit=100",
            "/api/conversations?archived=true",
            "/api/conversations/ada-c",
            "/api/conversations/ada-d",
            "/api/conversations/ada-e",
            "/api/conversations/ada-c/shares",
            "/api/conversations/ada-c/files",
            "/api/conversations/ada-c/files/1",
            "/api/conversations/ada-c/files/shares",
            "/api/message-queues/ada-e",
            "/api/folders",
            "/api/grants",
            "/api/runs",
            "/api/workflows/runs",
            "/api/libraries",
            &format!("/api/libraries/{library}/documents"),
            &format!("/api/libraries/{library}/graph/entities"),
            &format!("/api/libraries/{library}/graph/explore?entity=ada-entity"),
            "/api/own-agents",
            "/api/projects",
            &format!("/api/projects/{project}"),
            "/api/prompts",
            "/api/notifications",
            "/api/memory",
            "/api/profile",
            "/api/memory/updates?conversationId=ada-c",
            &format!("/api/collections/notes/records/{record}"),
            "/api/keys",
            &format!("/api/files/{file}"),
            &format!("/v1/responses/{response}"),
            &format!("/v1/responses/{response}/input_items"),
        ] {
            let (status, answer) = self.send(&ADA, Method::GET, path, RequestBody::Nothing).await;
            all += &format!("{path} {status}\n{answer}\n");
        }
        all
    }

    async fn session(&self, user: &str) -> String {
        let browser = Request::builder().body(Body::empty()).unwrap();
        let cookie = self
            .accounts
            .begin_session((user, "", SecondFactorProof::None), &Credentials::from_request(&browser), false, None)
            .await
            .unwrap()
            .unwrap();
        cookie.to_str().unwrap().split(';').next().unwrap().to_owned()
    }

    pub(super) async fn ask(
        &self,
        who: &TestCaller,
        route: &Route,
        id: &str,
        sent: RequestBody,
        query: &str,
    ) -> (u16, String) {
        self.send(who, route.method.clone(), &format!("{}{query}", route.at(id)), sent).await
    }

    /// Returns the session of the last request of a user, or a new one if that request may have ended it.
    async fn kept_session(&self, user: &'static str) -> String {
        let kept = self.sessions.lock().unwrap().get(user).cloned();
        if let Some(kept) = kept {
            return kept;
        }
        let session = self.session(user).await;
        self.sessions.lock().unwrap().insert(user, session.clone());
        session
    }

    /// Returns a request with the caller's credential.
    pub(super) async fn request(&self, who: &TestCaller, method: Method, path: &str) -> request::Builder {
        let request = local_request(method, path);
        match who.with {
            TestCredential::Nothing => request,
            TestCredential::Session => request.header(header::COOKIE, self.kept_session(who.name).await),
            TestCredential::Key => request.header(header::AUTHORIZATION, format!("Bearer {}", self.key)),
        }
    }

    async fn send(&self, who: &TestCaller, method: Method, path: &str, sent: RequestBody) -> (u16, String) {
        let mut request = self.request(who, method, path).await;
        let body = match sent {
            RequestBody::Nothing => Body::empty(),
            RequestBody::Json(body) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Body::from(body.to_string())
            }
            RequestBody::JsonText(body) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Body::from(body)
            }
            RequestBody::File(content) => {
                let head = "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n";
                let body = format!("--part\r\n{head}\r\n{content}\r\n--part--\r\n");
                request = request.header(header::CONTENT_LENGTH, body.len());
                request = request.header(header::CONTENT_TYPE, "multipart/form-data; boundary=part");
                Body::from(body)
            }
            RequestBody::Form(body) => {
                request = request.header(header::CONTENT_LENGTH, body.len());
                request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
                Body::from(body)
            }
        };
        self.answer(request.header(header::ACCEPT, ACCEPTED), body).await
    }

    /// Sends a request; returns the status and the body.
    pub(super) async fn answer(&self, request: request::Builder, body: Body) -> (u16, String) {
        let is_reading = request.method_ref() == Some(&Method::GET);
        let answer = self.routes.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let status = answer.status().as_u16();
        // Some routes end sessions.
        if status == 401 || (status < 400 && !is_reading) {
            self.sessions.lock().unwrap().clear();
        }
        let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8_lossy(&body).into_owned())
    }
}

/// Returns a caller who may call the route.
pub(super) fn owner(route: &Route) -> &'static TestCaller {
    // Administrators may store definitions, too; the config names further roles.
    let is_for_editors = route.path.starts_with("/api/workflows/definitions");
    if route.is_for_admins() || is_for_editors { &BOSS } else { &ADA }
}
