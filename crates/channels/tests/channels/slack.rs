//! A stand-in of Slack: its Web API and Socket Mode. It keeps messages in memory, refuses what Slack refuses, and sends
//! what was not acknowledged again over the next connection.

use crate::forms::SentFile;
use crate::pictures::{self, Picture};
use crate::server::until;
use crate::slack_messages::{BotMessage, read_message, user};
use axum::Router;
use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::net::TcpListener;

pub(crate) const BOT_TOKEN: &str = "xoxb-test";
const APP_TOKEN: &str = "xapp-test";
pub(crate) const SIGNING_SECRET: &str = "0123456789abcdef0123456789abcdef";
/// The user of the bot.
pub(crate) const BOT_USER: &str = "UBOT";

#[derive(Default)]
struct Workspace {
    url: String,
    /// The events that were not acknowledged, by the ids of their envelopes.
    envelopes: BTreeMap<u64, Value>,
    messages: BTreeMap<String, BotMessage>,
    calls: Vec<String>,
    faults: VecDeque<(&'static str, u16, Value)>,
    connections: usize,
    /// Which connection is asked to end.
    ended: usize,
    next: u64,
    silent_from: Option<usize>,
    files: Vec<SentFile>,
    /// The uploaded files that are not shown yet, by ids: the name, and the content.
    uploads: BTreeMap<String, (String, String)>,
    picture: Picture,
}

/// The stand-in.
#[derive(Clone, Default)]
pub(crate) struct FakeSlack(Arc<Mutex<Workspace>>);

impl FakeSlack {
    /// Starts it; returns its base URL, too.
    pub(crate) async fn start() -> (Self, String) {
        let fake = Self::default();
        let routes = Router::new()
            .route("/api/{method}", post(call))
            .route("/socket", any(socket))
            .route("/files/{name}", get(file))
            .route("/upload/{id}", post(upload))
            .with_state(fake.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        fake.workspace().url = url.clone();
        fake.workspace().picture = Picture::new("slack");
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        (fake, format!("{url}/api"))
    }

    /// Returns the connection to the bot at an address, over Socket Mode.
    pub(crate) fn connection(url: &str) -> String {
        format!(
            "type: Slack, properties: {{ botToken: {BOT_TOKEN}, appToken: {APP_TOKEN}, teamId: T1, baseURL: \"{url}\", \
             allowPrivate: true }}"
        )
    }

    fn workspace(&self) -> MutexGuard<'_, Workspace> {
        self.0.lock().unwrap()
    }

    fn next(&self) -> u64 {
        let mut workspace = self.workspace();
        workspace.next += 1;
        workspace.next
    }

    /// Returns a new time stamp.
    pub(crate) fn time_stamp(&self) -> String {
        format!("1700000000.{:06}", self.next())
    }

    fn send(&self, kind: &str, payload: Value) {
        let id = self.next();
        let envelope = json!({ "type": kind, "envelope_id": id.to_string(), "payload": payload });
        self.workspace().envelopes.insert(id, envelope);
    }

    /// Returns an event: a person writes, perhaps in a thread.
    pub(crate) fn message(&self, person: &str, place: &str, text: &str, more: Value) -> Value {
        self.workspace().picture.write(person, place, text);
        let (channel, thread) = place.split_once('/').map_or((place, None), |(channel, ts)| (channel, Some(ts)));
        let kind = if channel.starts_with('D') { "im" } else { "channel" };
        let mut event = json!({
            "type": "message", "channel": channel, "channel_type": kind, "user": person, "text": text,
            "ts": self.time_stamp(), "thread_ts": thread,
        });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "type": "event_callback", "team_id": "T1", "event_id": format!("Ev{}", self.next()), "event": event })
    }

    /// A person writes in a direct message, a channel or a thread. Returns the time stamp.
    pub(crate) fn write(&self, person: &str, place: &str, text: &str) -> String {
        self.write_with(person, place, text, json!({}))
    }

    /// A person writes a message with further fields.
    pub(crate) fn write_with(&self, person: &str, place: &str, text: &str, more: Value) -> String {
        let payload = self.message(person, place, text, more);
        let ts = payload["event"]["ts"].as_str().unwrap().to_owned();
        self.send("events_api", payload);
        ts
    }

    /// Sends the same event once more.
    pub(crate) fn send_event(&self, payload: Value) {
        self.send("events_api", payload);
    }

    /// Returns the event of a pressed button.
    pub(crate) fn pressed(&self, person: &str, ts: &str, value: &str) -> Value {
        let message = self.workspace().messages[ts].clone();
        self.workspace().picture.press(person, message.place(), value);
        json!({
            "type": "block_actions", "team": { "id": "T1" }, "user": { "id": person, "name": person.to_lowercase() },
            "channel": { "id": message.channel }, "message": { "ts": ts, "thread_ts": message.thread },
            "actions": [{ "action_id": value, "value": value, "action_ts": self.time_stamp() }],
        })
    }

    /// A person presses a button.
    pub(crate) fn press(&self, person: &str, ts: &str, value: &str) {
        let payload = self.pressed(person, ts, value);
        self.send("interactive", payload);
    }

    /// A person sends a code, and confirms the account that is named.
    pub(crate) async fn link(&self, person: &str, code: &str) {
        let chat = person.replace('U', "D");
        self.write(person, &chat, &format!("!link {code}"));
        self.until("the button", |fake| fake.button(&chat).is_some()).await;
        let (ts, value) = self.button(&chat).unwrap();
        self.press(person, &ts, &value);
        self.until_text(&chat, "You are linked to the account").await;
    }

    /// Returns the newest message of a channel that has a button, and the value of the button.
    pub(crate) fn button(&self, channel: &str) -> Option<(String, String)> {
        let has_button =
            |(_, message): &(String, BotMessage)| message.channel == channel && !message.buttons.is_empty();
        self.messages().into_iter().rfind(has_button).map(|(ts, message)| (ts, message.buttons[0].clone()))
    }

    /// The next call of this method gets this response.
    pub(crate) fn fail(&self, method: &'static str, status: u16, response: Value) {
        self.workspace().faults.push_back((method, status, response));
    }

    /// From the call with this number on, calls have their effect and get no response.
    pub(crate) fn be_silent_from(&self, call: Option<usize>) {
        self.workspace().silent_from = call;
    }

    /// Asks the connections to end.
    pub(crate) fn refresh(&self) {
        let mut workspace = self.workspace();
        workspace.ended = workspace.connections;
    }

    /// Returns the files of the bot.
    pub(crate) fn files(&self) -> Vec<SentFile> {
        self.workspace().files.clone()
    }

    /// Returns the names of the methods that were called.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.workspace().calls.clone()
    }

    /// Returns how many connections were opened.
    pub(crate) fn connections(&self) -> usize {
        self.workspace().connections
    }

    /// Returns how much was not acknowledged.
    pub(crate) fn waiting(&self) -> usize {
        self.workspace().envelopes.len()
    }

    /// Returns the messages of the bot, oldest first.
    pub(crate) fn messages(&self) -> Vec<(String, BotMessage)> {
        self.workspace().messages.iter().map(|(ts, message)| (ts.clone(), message.clone())).collect()
    }

    /// Returns the texts of the bot in a channel, or in a thread of one.
    pub(crate) fn texts(&self, place: &str) -> Vec<String> {
        let is_there = |message: &BotMessage| match place.split_once('/') {
            Some((channel, thread)) => message.channel == channel && message.thread.as_deref() == Some(thread),
            None => message.channel == place,
        };
        self.messages().into_iter().filter(|(_, message)| is_there(message)).map(|(_, message)| message.text).collect()
    }

    /// Returns the targets of the links of the bot in a channel.
    pub(crate) fn links(&self, channel: &str) -> Vec<String> {
        let messages = self.messages().into_iter().filter(|(_, message)| message.channel == channel);
        messages.flat_map(|(_, message)| message.links).collect()
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
}

async fn call(State(fake): State<FakeSlack>, Path(method): Path<String>, headers: HeaderMap, body: Bytes) -> Response {
    let token = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let expected = if method == "apps.connections.open" { APP_TOKEN } else { BOT_TOKEN };
    if token != format!("Bearer {expected}") {
        return respond(200, json!({ "ok": false, "error": "invalid_auth" }));
    }
    let is_form = headers["content-type"].to_str().unwrap().starts_with("application/x-www-form-urlencoded");
    // These methods read forms only, and ignore JSON.
    assert_eq!(
        is_form,
        matches!(method.as_str(), "users.info" | "files.info" | "files.getUploadURLExternal"),
        "{method}"
    );
    let parameters: Value = if is_form {
        let pairs = url::form_urlencoded::parse(&body).map(|(key, value)| (key.into_owned(), Value::from(value)));
        Value::Object(pairs.collect())
    } else {
        serde_json::from_slice(&body).unwrap()
    };
    let (response, is_silent) = {
        let mut workspace = fake.workspace();
        workspace.calls.push(method.clone());
        let response = match workspace.faults.iter().position(|(failing, ..)| *failing == method) {
            Some(at) => workspace.faults.remove(at).map(|(_, status, response)| (status, response)).unwrap(),
            None => match workspace.handle(&method, &parameters) {
                Ok(mut result) => {
                    result["ok"] = true.into();
                    (200, result)
                }
                Err(error) => (200, json!({ "ok": false, "error": error })),
            },
        };
        (response, workspace.silent_from.is_some_and(|from| workspace.calls.len() >= from))
    };
    if is_silent {
        std::future::pending::<()>().await;
    }
    respond(response.0, response.1)
}

fn respond(status: u16, body: Value) -> Response {
    let wait = body["retryAfter"].as_u64().unwrap_or(1).to_string();
    (StatusCode::from_u16(status).unwrap(), [("retry-after", wait)], body.to_string()).into_response()
}

async fn file(headers: HeaderMap) -> Response {
    if headers.get("authorization").is_some_and(|value| value == format!("Bearer {BOT_TOKEN}").as_str()) {
        "the content of the file".into_response()
    } else {
        ([("content-type", "text/html")], "<html>Sign in</html>").into_response()
    }
}

async fn upload(State(fake): State<FakeSlack>, Path(id): Path<String>, headers: HeaderMap, body: String) {
    assert!(!headers.contains_key("authorization"), "the token does not go there");
    fake.workspace().uploads.get_mut(&id).unwrap().1 = body;
}

async fn socket(State(fake): State<FakeSlack>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(move |socket| serve(fake, socket))
}

/// Sends events, and removes acknowledged ones.
async fn serve(fake: FakeSlack, mut socket: WebSocket) {
    let number = {
        let mut workspace = fake.workspace();
        workspace.connections += 1;
        workspace.connections
    };
    let mut sent = 0;
    if socket.send(Message::text(json!({ "type": "hello", "num_connections": 1 }).to_string())).await.is_err() {
        return;
    }
    loop {
        let (new, is_ended) = {
            let workspace = fake.workspace();
            let new: Vec<_> = workspace.envelopes.range(sent + 1..).map(|(id, sent)| (*id, sent.clone())).collect();
            (new, number <= workspace.ended)
        };
        if is_ended {
            let goodbye = json!({ "type": "disconnect", "reason": "refresh_requested" });
            let _ = socket.send(Message::text(goodbye.to_string())).await;
            return;
        }
        for (id, envelope) in new {
            sent = id;
            if socket.send(Message::text(envelope.to_string())).await.is_err() {
                return;
            }
        }
        match tokio::time::timeout(Duration::from_millis(20), socket.recv()).await {
            Ok(Some(Ok(Message::Text(text)))) => {
                let acknowledged: Value = serde_json::from_str(&text).unwrap();
                let id: u64 = acknowledged["envelope_id"].as_str().unwrap().parse().unwrap();
                fake.workspace().envelopes.remove(&id);
            }
            Ok(None | Some(Err(_) | Ok(Message::Close(_)))) => return,
            _ => {}
        }
    }
}

impl Workspace {
    fn handle(&mut self, method: &str, parameters: &Value) -> Result<Value, String> {
        match method {
            "auth.test" => Ok(json!({ "user_id": BOT_USER, "user": "helper", "team_id": "T1", "bot_id": "B1" })),
            "apps.connections.open" => Ok(json!({ "url": format!("{}/socket", self.url.replace("http", "ws")) })),
            "users.info" => user(parameters["user"].as_str().unwrap()),
            "files.info" => Ok(json!({ "file": {
                "id": parameters["file"], "mimetype": "text/plain", "size": 23,
                "url_private_download": format!("{}/files/notes.txt", self.url),
            } })),
            "files.getUploadURLExternal" => {
                self.next += 1;
                let (id, name) = (format!("F{}", self.next), parameters["filename"].as_str().unwrap().to_owned());
                let url = format!("{}/upload/{id}", self.url);
                self.uploads.insert(id.clone(), (name, parameters["length"].as_str().unwrap().to_owned()));
                Ok(json!({ "upload_url": url, "file_id": id }))
            }
            "files.completeUploadExternal" => {
                let file = &parameters["files"][0];
                let (name, content) = self.uploads.remove(file["id"].as_str().unwrap()).ok_or("file_not_found")?;
                assert_eq!(file["title"], name);
                let channel = parameters["channel_id"].as_str().unwrap();
                let thread = parameters["thread_ts"].as_str().map(|ts| format!("/{ts}")).unwrap_or_default();
                self.files.push((format!("{channel}{thread}"), name, content));
                Ok(json!({ "files": [] }))
            }
            "chat.postMessage" | "chat.postEphemeral" => {
                let message = read_message(parameters)?;
                self.next += 1;
                let ts = format!("1700000000.{:06}", self.next);
                self.picture.show((&ts, message.place()), parameters, pictures::slack);
                self.messages.insert(ts.clone(), message);
                Ok(json!({ "channel": parameters["channel"], "ts": ts, "message_ts": ts }))
            }
            "chat.update" => {
                assert_eq!((&parameters["parse"], &parameters["unfurl_links"]), (&json!("none"), &json!(false)));
                let message = read_message(parameters)?;
                let ts = parameters["ts"].as_str().unwrap();
                let known = self.messages.get_mut(ts).filter(|known| known.only.is_none());
                let known = known.ok_or("message_not_found")?;
                *known = BotMessage { thread: known.thread.clone(), ..message };
                self.picture.show((ts, ""), parameters, pictures::slack);
                Ok(json!({ "channel": parameters["channel"], "ts": ts }))
            }
            "chat.delete" => {
                let ts = parameters["ts"].as_str().unwrap();
                self.picture.remove(ts);
                self.messages.remove(ts).map(|_| json!({})).ok_or_else(|| "message_not_found".to_owned())
            }
            _ => Err("unknown_method".to_owned()),
        }
    }
}
