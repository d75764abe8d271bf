//! A stand-in of Feishu: the methods of its API that are used, and the sender of its encrypted and signed events. It keeps
//! messages in memory, and refuses what Feishu refuses: wrong tokens, cards that are too large or cannot be changed, and
//! more than five messages a second in a chat or changes of a message. A message with a known `uuid` is sent once.

use crate::feishu_cards::{BotMessage, read_card};
use crate::feishu_connection::{Connections, endpoint, socket};
use crate::feishu_events::{Delivery, p2p_chat};
use crate::forms::{SentFile, parameters};
use crate::pictures::{self, Picture};
use crate::server::{TestServer, until};
use axum::Router;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, patch, post};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

pub(crate) const APP_ID: &str = "cli_test";
pub(crate) const APP_SECRET: &str = "secret-of-the-app";
pub(crate) const ENCRYPT_KEY: &str = "an encrypt key of this test";
/// The user of the bot.
pub(crate) const BOT: &str = "ou_bot";
/// How many messages of a chat, or changes of a message, are taken in a second.
const RATE: usize = 5;

#[derive(Default)]
pub(crate) struct Tenant {
    /// By their ids, which are in the order in which they were sent.
    messages: BTreeMap<String, BotMessage>,
    uuids: HashMap<String, String>,
    files: Vec<SentFile>,
    uploads: HashMap<String, (String, String)>,
    /// The calls that send or change messages.
    calls: Vec<String>,
    /// When there were calls, by what they count for.
    recent: HashMap<String, Vec<Instant>>,
    faults: VecDeque<(&'static str, i64)>,
    tokens: usize,
    revoked: usize,
    next: u64,
    silent_from: Option<usize>,
    pub(crate) connections: Connections,
    pub(crate) picture: Picture,
}

/// The stand-in.
#[derive(Clone, Default)]
pub(crate) struct FakeFeishu(Arc<Mutex<Tenant>>);

/// The outcome of a call: the data of its response, or an error code.
type Outcome = Result<Value, i64>;

impl FakeFeishu {
    /// Starts it; returns its base URL, too.
    pub(crate) async fn start() -> (Self, String) {
        let fake = Self::default();
        let messages = "/open-apis/im/v1/messages";
        let routes = Router::new()
            .route("/open-apis/auth/v3/tenant_access_token/internal", post(token))
            .route("/callback/ws/endpoint", post(endpoint))
            .route("/ws/v2", any(socket))
            .route("/open-apis/bot/v3/info", get(info))
            .route("/open-apis/contact/v3/users/{id}", get(user))
            .route("/open-apis/ephemeral/v1/send", post(whisper))
            .route("/open-apis/im/v1/{kind}", post(send_or_upload))
            .route(&format!("{messages}/{{id}}"), patch(edit).delete(delete))
            .route(&format!("{messages}/{{id}}/reply"), post(reply))
            .route(&format!("{messages}/{{id}}/resources/{{key}}"), get(resource))
            .with_state(fake.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        fake.tenant().connections.url = url.clone();
        fake.tenant().picture = Picture::new("feishu");
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        (fake, url)
    }

    /// Returns the connection to the bot at an address.
    pub(crate) fn connection(url: &str) -> String {
        format!(
            "type: Feishu, properties: {{ appId: {APP_ID}, appSecret: {APP_SECRET}, encryptKey: {ENCRYPT_KEY}, \
             verificationToken: v, baseURL: \"{url}\", allowPrivate: true }}"
        )
    }

    pub(crate) fn tenant(&self) -> MutexGuard<'_, Tenant> {
        self.0.lock().unwrap()
    }

    /// Returns a new number.
    pub(crate) fn next(&self) -> u64 {
        let mut tenant = self.tenant();
        tenant.next += 1;
        tenant.next
    }

    /// The next call of this method gets this code.
    pub(crate) fn fail(&self, method: &'static str, code: i64) {
        self.tenant().faults.push_back((method, code));
    }

    /// No token that was given is valid any more.
    pub(crate) fn revoke_tokens(&self) {
        let mut tenant = self.tenant();
        tenant.revoked = tenant.tokens;
    }

    /// From the call with this number on, calls have their effect and get no response.
    pub(crate) fn be_silent_from(&self, call: Option<usize>) {
        self.tenant().silent_from = call;
    }

    /// Returns how many access tokens were given.
    pub(crate) fn tokens(&self) -> usize {
        self.tenant().tokens
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        self.tenant().calls.clone()
    }

    pub(crate) fn files(&self) -> Vec<SentFile> {
        self.tenant().files.clone()
    }

    /// Returns the messages of the bot, oldest first.
    pub(crate) fn messages(&self) -> Vec<(String, BotMessage)> {
        self.tenant().messages.iter().map(|(id, message)| (id.clone(), message.clone())).collect()
    }

    /// Returns the texts of the bot in a chat, or in a thread of one.
    pub(crate) fn texts(&self, place: &str) -> Vec<String> {
        let (chat, thread) = place.split_once('/').map_or((place, None), |(chat, root)| (chat, Some(root)));
        let is_there = |message: &BotMessage| message.chat == chat && message.thread.as_deref() == thread;
        self.messages().into_iter().filter(|(_, message)| is_there(message)).map(|(_, message)| message.text).collect()
    }

    /// Returns the newest message of a chat that has a button, and the value of its first one.
    pub(crate) fn button(&self, chat: &str) -> Option<(String, Value)> {
        let has_button = |(_, message): &(String, BotMessage)| message.chat == chat && !message.buttons.is_empty();
        self.messages().into_iter().rfind(has_button).map(|(id, message)| (id, message.buttons[0].clone()))
    }

    /// Waits until the condition holds.
    pub(crate) async fn until(&self, what: &str, is_met: impl Fn(&Self) -> bool) {
        let seen = || format!("{:?} {:?}", self.messages(), self.calls());
        until(what, || is_met(self), seen).await;
    }

    /// Waits until a place has a text, and returns all of its texts.
    pub(crate) async fn until_text(&self, place: &str, text: &str) -> Vec<String> {
        self.until(text, |fake| fake.texts(place).iter().any(|shown| shown.contains(text))).await;
        self.texts(place)
    }

    /// A person sends a code, and confirms the account that is named.
    pub(crate) async fn link(&self, server: &TestServer, person: &str, code: &str) {
        let delivery = Delivery { fake: self, server };
        delivery.write(person, person, &format!("/link {code}")).await;
        self.until("the button", |fake| fake.button(person).is_some()).await;
        let (id, value) = self.button(person).unwrap();
        delivery.press(person, &p2p_chat(person), &id, &value).await;
        self.until_text(person, "You are linked to the account").await;
    }

    /// Makes a call that sends or changes a message, and responds to it.
    async fn call(
        &self,
        headers: &HeaderMap,
        method: &'static str,
        handle: impl FnOnce(&mut Tenant) -> Outcome,
    ) -> Response {
        if let Err(code) = self.tenant().check(headers) {
            return respond(Err(code));
        }
        let (outcome, is_silent) = {
            let mut tenant = self.tenant();
            tenant.calls.push(method.to_owned());
            let outcome = match tenant.faults.iter().position(|(failing, _)| *failing == method) {
                Some(at) => Err(tenant.faults.remove(at).unwrap().1),
                None => handle(&mut tenant),
            };
            (outcome, tenant.silent_from.is_some_and(|from| tenant.calls.len() >= from))
        };
        if is_silent {
            std::future::pending::<()>().await;
        }
        respond(outcome)
    }
}

/// Returns the response of the API: codes of errors come with status 400, that of a rate with its end in a header.
fn respond(outcome: Outcome) -> Response {
    match outcome {
        Ok(data) => json!({ "code": 0, "msg": "success", "data": data }).to_string().into_response(),
        Err(99_991_400) => {
            let body = json!({ "code": 99_991_400, "msg": "request trigger frequency limit" }).to_string();
            (StatusCode::TOO_MANY_REQUESTS, [("x-ogw-ratelimit-reset", "1")], body).into_response()
        }
        Err(code) => (StatusCode::BAD_REQUEST, json!({ "code": code, "msg": "refused" }).to_string()).into_response(),
    }
}

async fn token(State(fake): State<FakeFeishu>, request: Request) -> String {
    if parameters(request).await != json!({ "app_id": APP_ID, "app_secret": APP_SECRET }) {
        return json!({ "code": 10_014, "msg": "app secret invalid" }).to_string();
    }
    let mut tenant = fake.tenant();
    tenant.tokens += 1;
    json!({ "code": 0, "msg": "ok", "tenant_access_token": format!("t-{}", tenant.tokens), "expire": 7_200 })
        .to_string()
}

async fn info(State(fake): State<FakeFeishu>, headers: HeaderMap) -> Response {
    match fake.tenant().check(&headers) {
        Ok(()) => json!({ "code": 0, "bot": { "open_id": BOT, "app_name": "Helper" } }).to_string().into_response(),
        Err(code) => respond(Err(code)),
    }
}

async fn user(State(fake): State<FakeFeishu>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let checked = fake.tenant().check(&headers);
    // The app may read the name of this person only.
    let name = if id == "ou_7" { Ok(json!({ "user": { "name": "Ada Lovelace" } })) } else { Err(99_991_672) };
    respond(checked.and(name))
}

async fn send_or_upload(
    State(fake): State<FakeFeishu>,
    Path(kind): Path<String>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let body = parameters(request).await;
    if kind != "messages" {
        return fake.call(&headers, "upload", |tenant| Ok(tenant.upload(&body))).await;
    }
    let chat = body["receive_id"].as_str().unwrap().to_owned();
    let expected = if chat.starts_with("ou_") { "open_id" } else { "chat_id" };
    assert_eq!(query["receive_id_type"], expected);
    fake.call(&headers, "send", |tenant| tenant.send(chat, None, &body)).await
}

async fn reply(
    State(fake): State<FakeFeishu>,
    Path(root): Path<String>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let body = parameters(request).await;
    assert_eq!(body["reply_in_thread"], true);
    // Threads of the tests are in this group.
    fake.call(&headers, "send", |tenant| tenant.send("oc_1".to_owned(), Some(root), &body)).await
}

async fn whisper(State(fake): State<FakeFeishu>, headers: HeaderMap, request: Request) -> Response {
    let body = parameters(request).await;
    fake.call(&headers, "whisper", |tenant| tenant.whisper(&body)).await
}

async fn edit(
    State(fake): State<FakeFeishu>,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let body = parameters(request).await;
    fake.call(&headers, "edit", |tenant| tenant.edit(&id, &body)).await
}

async fn delete(State(fake): State<FakeFeishu>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let delete = |tenant: &mut Tenant| {
        tenant.picture.remove(&id);
        tenant.messages.remove(&id).map(|_| json!({})).ok_or(230_011)
    };
    fake.call(&headers, "delete", delete).await
}

async fn resource(
    State(fake): State<FakeFeishu>,
    Path((id, key)): Path<(String, String)>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    assert_eq!(query["type"], if key.starts_with("img") { "image" } else { "file" });
    match fake.tenant().check(&headers) {
        Ok(()) if key == "gone" => respond(Err(234_003)),
        Ok(()) => format!("the content of {key} of {id}").into_response(),
        Err(code) => respond(Err(code)),
    }
}

impl Tenant {
    /// Checks the access token.
    fn check(&self, headers: &HeaderMap) -> Result<(), i64> {
        let token = headers.get("authorization").and_then(|value| value.to_str().ok()?.strip_prefix("Bearer t-"));
        let number: usize = token.and_then(|token| token.parse().ok()).ok_or(99_991_661)?;
        if (self.revoked + 1..=self.tokens).contains(&number) { Ok(()) } else { Err(99_991_663) }
    }

    /// Counts a call; refuses too many in a second.
    fn count(&mut self, what: &str) -> Result<(), i64> {
        let recent = self.recent.entry(what.to_owned()).or_default();
        recent.retain(|at| at.elapsed() < Duration::from_secs(1));
        recent.push(Instant::now());
        if recent.len() > RATE { Err(230_020) } else { Ok(()) }
    }

    fn send(&mut self, chat: String, thread: Option<String>, body: &Value) -> Outcome {
        let uuid = body["uuid"].as_str().unwrap();
        assert!((1..=50).contains(&uuid.len()), "{uuid}");
        if let Some(known) = self.uuids.get(uuid) {
            return Ok(json!({ "message_id": known }));
        }
        self.count(&chat)?;
        self.next += 1;
        let id = format!("om_{:06}", self.next);
        let content: Value = serde_json::from_str(body["content"].as_str().unwrap()).unwrap();
        match body["msg_type"].as_str().unwrap() {
            "interactive" => {
                let (text, buttons) = read_card(body)?;
                self.picture.show((&id, &chat), body, pictures::feishu);
                self.messages.insert(id.clone(), BotMessage { chat, thread, text, buttons, only: None });
            }
            kind => {
                let key = content[format!("{kind}_key")].as_str().unwrap();
                let (name, content) = self.uploads.remove(key).ok_or(230_001)?;
                let place = thread.map_or_else(|| chat.clone(), |root| format!("{chat}/{root}"));
                let place = if kind == "image" { format!("image in {place}") } else { place };
                self.files.push((place, name, content));
            }
        }
        self.uuids.insert(uuid.to_owned(), id.clone());
        Ok(json!({ "message_id": id }))
    }

    fn whisper(&mut self, body: &Value) -> Outcome {
        let chat = body["chat_id"].as_str().unwrap().to_owned();
        // There is none in chats with one person.
        assert!(chat.starts_with("oc_"), "{chat}");
        let text = body["card"]["elements"][0]["text"]["content"].as_str().unwrap().to_owned();
        self.next += 1;
        let id = format!("om_{:06}", self.next);
        let only = body["open_id"].as_str().map(str::to_owned);
        self.picture.notice(format!("{chat}, only for {}", body["open_id"]), &text);
        self.messages.insert(id.clone(), BotMessage { chat, thread: None, text, buttons: Vec::new(), only });
        Ok(json!({ "message_id": id }))
    }

    fn edit(&mut self, id: &str, body: &Value) -> Outcome {
        self.count(id)?;
        let (text, buttons) = read_card(body)?;
        let known = self.messages.get_mut(id).filter(|known| known.only.is_none()).ok_or(230_011_i64)?;
        *known = BotMessage { text, buttons, ..known.clone() };
        self.picture.show((id, ""), body, pictures::feishu);
        Ok(json!({}))
    }

    fn upload(&mut self, form: &Value) -> Value {
        let image = &form["image"];
        let file = if image.is_object() { image } else { &form["file"] };
        let name = form["file_name"].as_str().or_else(|| file["filename"].as_str()).unwrap().to_owned();
        assert!(
            image.is_object() == (form["image_type"] == "message")
                && image.is_object() != form["file_type"].is_string()
        );
        self.next += 1;
        let key = format!("key_{}", self.next);
        self.uploads.insert(key.clone(), (name, file["content"].as_str().unwrap().to_owned()));
        if image.is_object() { json!({ "image_key": key }) } else { json!({ "file_key": key }) }
    }
}
