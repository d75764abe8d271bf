//! A stand-in of Telegram's Bot API: it keeps chats in memory, and refuses what Telegram refuses.

use crate::forms::{SentFile, parameters};
use crate::pictures::{self, Picture};
use crate::server::until;
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// The token of the bot.
pub(crate) const TOKEN: &str = "123:test-token";

/// A message of the bot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BotMessage {
    pub(crate) chat: i64,
    pub(crate) text: String,
    /// The data of the buttons.
    pub(crate) buttons: Vec<String>,
}

#[derive(Default)]
struct Chats {
    updates: Vec<Value>,
    messages: BTreeMap<i64, BotMessage>,
    /// The methods that were called, in their order, without those that wait.
    calls: Vec<String>,
    /// The responses of the next calls of a method: the method, the status and the body.
    faults: VecDeque<(&'static str, u16, Value)>,
    acknowledged: Vec<String>,
    files: Vec<SentFile>,
    next_id: i64,
    /// From which call on there are no responses.
    silent_from: Option<usize>,
    /// How many requests for updates there were.
    polls: usize,
    /// Whether a request for updates is answered at once, also without updates.
    is_impatient: bool,
    picture: Picture,
}

/// The stand-in.
#[derive(Clone, Default)]
pub(crate) struct FakeTelegram {
    chats: Arc<Mutex<Chats>>,
    changed: Arc<Notify>,
}

impl FakeTelegram {
    /// Starts it; returns its base URL, too.
    pub(crate) async fn start() -> (Self, String) {
        let fake = Self::default();
        fake.chats().picture = Picture::new("telegram");
        let routes = Router::new()
            .route("/{bot}/{method}", post(call))
            .route("/file/{bot}/{name}", get(|| async { "the content of the file" }))
            .with_state(fake.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        (fake, url)
    }

    /// Returns the connection to the bot at an address.
    pub(crate) fn connection(url: &str) -> String {
        format!("type: Telegram, properties: {{ token: \"{TOKEN}\", baseURL: \"{url}\", allowPrivate: true }}")
    }

    fn chats(&self) -> MutexGuard<'_, Chats> {
        self.chats.lock().unwrap()
    }

    fn add_update(&self, mut update: Value) {
        let mut chats = self.chats();
        chats.next_id += 1;
        update["update_id"] = chats.next_id.into();
        chats.updates.push(update);
        drop(chats);
        self.changed.notify_waiters();
    }

    /// A person writes in a chat. Negative ids are groups.
    pub(crate) fn write(&self, person: i64, chat: i64, text: &str) {
        self.write_with(person, chat, text, json!({}));
    }

    /// A person writes a message with further fields.
    pub(crate) fn write_with(&self, person: i64, chat: i64, text: &str, more: Value) {
        let kind = if chat < 0 { "group" } else { "private" };
        let mut message = json!({
            "message_id": 1_000, "date": 1, "text": text, "chat": { "id": chat, "type": kind },
            "from": { "id": person, "is_bot": false, "first_name": format!("Person {person}") },
        });
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let said = message["text"].as_str().or(message["caption"].as_str()).unwrap_or_default();
        self.chats().picture.write(person, chat, said);
        self.add_update(json!({ "message": message }));
    }

    /// A person presses a button.
    pub(crate) fn press(&self, person: i64, chat: i64, message_id: i64, data: &str) {
        self.chats().picture.press(person, chat, data);
        let kind = if chat < 0 { "group" } else { "private" };
        self.add_update(json!({ "callback_query": {
            "id": "press", "data": data, "from": { "id": person, "first_name": "P" },
            "message": { "message_id": message_id, "date": 1, "chat": { "id": chat, "type": kind } },
        } }));
    }

    /// A person sends a code, and confirms the account that is named.
    pub(crate) async fn link(&self, person: i64, code: &str) {
        self.write(person, person, &format!("/start {code}"));
        self.until("the button", |fake| fake.button(person).is_some()).await;
        let (id, data) = self.button(person).unwrap();
        self.press(person, person, id, &data);
        self.until_text(person, "You are linked to the account").await;
    }

    /// Returns the newest message of a chat that has a button, and the data of the button.
    pub(crate) fn button(&self, chat: i64) -> Option<(i64, String)> {
        let has_button = |(_, message): &(i64, BotMessage)| message.chat == chat && !message.buttons.is_empty();
        self.messages().into_iter().rfind(has_button).map(|(id, message)| (id, message.buttons[0].clone()))
    }

    /// The next call of this method gets this response.
    pub(crate) fn fail(&self, method: &'static str, status: u16, response: Value) {
        self.chats().faults.push_back((method, status, response));
    }

    /// From the call with this number on, calls have their effect and get no response.
    pub(crate) fn be_silent_from(&self, call: Option<usize>) {
        self.chats().silent_from = call;
    }

    /// Answers requests for updates at once, also without updates.
    pub(crate) fn be_impatient(&self) {
        self.chats().is_impatient = true;
    }

    /// Returns how many requests for updates there were.
    pub(crate) fn polls(&self) -> usize {
        self.chats().polls
    }

    /// Returns the number of calls and their names.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.chats().calls.clone()
    }

    /// Returns the messages of the bot, oldest first.
    pub(crate) fn messages(&self) -> Vec<(i64, BotMessage)> {
        self.chats().messages.iter().map(|(id, message)| (*id, message.clone())).collect()
    }

    /// Returns the texts of the bot in a chat.
    pub(crate) fn texts(&self, chat: i64) -> Vec<String> {
        self.messages()
            .into_iter()
            .filter(|(_, message)| message.chat == chat)
            .map(|(_, message)| message.text)
            .collect()
    }

    /// Returns the files of the bot.
    pub(crate) fn files(&self) -> Vec<SentFile> {
        self.chats().files.clone()
    }

    /// Returns the notices that people saw after pressing buttons.
    pub(crate) fn acknowledged(&self) -> Vec<String> {
        self.chats().acknowledged.clone()
    }

    /// Waits until the condition holds.
    pub(crate) async fn until(&self, what: &str, is_met: impl Fn(&Self) -> bool) {
        let seen = || format!("{:?} {:?}", self.messages(), self.calls());
        until(what, || is_met(self), seen).await;
    }

    /// Waits until a chat has a text, and returns all of its texts.
    pub(crate) async fn until_text(&self, chat: i64, text: &str) -> Vec<String> {
        self.until(text, |fake| fake.texts(chat).iter().any(|shown| shown.contains(text))).await;
        self.texts(chat)
    }
}

async fn call(
    State(fake): State<FakeTelegram>,
    Path((bot, method)): Path<(String, String)>,
    request: Request,
) -> Response {
    let parameters = parameters(request).await;
    if bot != format!("bot{TOKEN}") {
        return respond(401, json!({ "ok": false, "error_code": 401, "description": "Unauthorized" }));
    }
    if method == "getUpdates" {
        return updates(&fake, &parameters).await;
    }
    let (response, is_silent) = {
        let mut chats = fake.chats();
        chats.calls.push(method.clone());
        let response = match chats.faults.iter().position(|(failing, ..)| *failing == method) {
            Some(at) => chats.faults.remove(at).map(|(_, status, response)| (status, response)).unwrap(),
            None => match chats.handle(&method, &parameters) {
                Ok(result) => (200, json!({ "ok": true, "result": result })),
                Err(cause) => {
                    (400, json!({ "ok": false, "error_code": 400, "description": format!("Bad Request: {cause}") }))
                }
            },
        };
        (response, chats.silent_from.is_some_and(|from| chats.calls.len() >= from))
    };
    if is_silent {
        std::future::pending::<()>().await;
    }
    respond(response.0, response.1)
}

fn respond(status: u16, body: Value) -> Response {
    (StatusCode::from_u16(status).unwrap(), body.to_string()).into_response()
}

async fn updates(fake: &FakeTelegram, parameters: &Value) -> Response {
    let offset = parameters["offset"].as_i64().unwrap();
    fake.chats().polls += 1;
    for _ in 0..100 {
        let changed = fake.changed.notified();
        let (found, is_impatient) = {
            let mut chats = fake.chats();
            chats.updates.retain(|update| update["update_id"].as_i64().unwrap() >= offset);
            (chats.updates.clone(), chats.is_impatient)
        };
        if is_impatient || !found.is_empty() {
            return respond(200, json!({ "ok": true, "result": found }));
        }
        let _ = tokio::time::timeout(Duration::from_millis(200), changed).await;
    }
    respond(200, json!({ "ok": true, "result": [] }))
}

impl Chats {
    fn handle(&mut self, method: &str, parameters: &Value) -> Result<Value, String> {
        match method {
            "getMe" => Ok(json!({ "id": 123, "is_bot": true, "first_name": "Help", "username": "HelpBot" })),
            "setMyCommands" | "sendChatAction" => Ok(json!(true)),
            "getFile" => Ok(json!({ "file_id": parameters["file_id"], "file_path": "photo.jpg", "file_size": 23 })),
            "answerCallbackQuery" => {
                let text = parameters["text"].as_str().unwrap();
                if !text.is_empty() {
                    self.picture.notice("an app", text);
                    self.acknowledged.push(text.to_owned());
                }
                Ok(json!(true))
            }
            "sendDocument" => {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                let document = &parameters["document"];
                let chat = text(&parameters["chat_id"]);
                self.files.push((chat, text(&document["filename"]), text(&document["content"])));
                self.next_id += 1;
                Ok(json!({ "message_id": self.next_id }))
            }
            "sendMessage" => {
                let message = read_message(parameters)?;
                self.next_id += 1;
                self.picture.show((self.next_id, message.chat), parameters, pictures::telegram);
                self.messages.insert(self.next_id, message);
                Ok(json!({ "message_id": self.next_id, "date": 1, "chat": { "id": parameters["chat_id"] } }))
            }
            "editMessageText" => {
                let id = parameters["message_id"].as_i64().unwrap();
                let message = read_message(parameters)?;
                let known = self.messages.get_mut(&id).ok_or("message to edit not found")?;
                if *known == message {
                    return Err("message is not modified".to_owned());
                }
                *known = message;
                self.picture.show((id, ""), parameters, pictures::telegram);
                Ok(json!({ "message_id": id, "date": 1, "chat": { "id": parameters["chat_id"] } }))
            }
            "deleteMessage" => {
                let id = parameters["message_id"].as_i64().unwrap();
                self.picture.remove(id);
                self.messages.remove(&id).map(|_| json!(true)).ok_or_else(|| "message to delete not found".to_owned())
            }
            _ => Err(format!("method {method} not found")),
        }
    }
}

/// Reads a message as Telegram does: with a text of at most 4,096 code units, and entities within it.
fn read_message(parameters: &Value) -> Result<BotMessage, String> {
    let text = parameters["text"].as_str().unwrap().to_owned();
    let units = text.encode_utf16().count();
    if text.trim().is_empty() {
        return Err("message text is empty".to_owned());
    }
    if units > 4_096 {
        return Err("message is too long".to_owned());
    }
    for entity in parameters["entities"].as_array().into_iter().flatten() {
        let end = entity["offset"].as_u64().unwrap() + entity["length"].as_u64().unwrap();
        if end > units as u64 || entity["length"] == 0 {
            return Err("entity is out of range".to_owned());
        }
    }
    let rows = parameters["reply_markup"]["inline_keyboard"].as_array().into_iter().flatten();
    let buttons: Vec<String> = rows
        .flat_map(|row| row.as_array().unwrap())
        .map(|button| button["callback_data"].as_str().unwrap().to_owned())
        .collect();
    if buttons.iter().any(|data| data.len() > 64) {
        return Err("BUTTON_DATA_INVALID".to_owned());
    }
    Ok(BotMessage { chat: parameters["chat_id"].as_i64().unwrap(), text, buttons })
}
