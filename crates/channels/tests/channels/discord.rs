//! A stand-in of Discord: its API and its Gateway. It keeps messages in memory, refuses what Discord refuses, and sends
//! what a session has not received to the connection that goes on with it.

use crate::discord_gateway::socket;
use crate::discord_messages::{Answer, BotMessage, Effect, effect, read_message, unknown};
use crate::forms::{SentFile, parameters};
use crate::pictures::{self, Picture};
use crate::server::until;
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::net::TcpListener;

pub(crate) const TOKEN: &str = "MTIz.test.token";
/// The user of the bot, and its application.
pub(crate) const BOT_USER: &str = "100";
pub(crate) const APPLICATION: &str = "200";

#[derive(Default)]
pub(crate) struct Guild {
    pub(crate) url: String,
    /// The events by number. A session gets those since its start.
    pub(crate) events: Vec<(&'static str, Value)>,
    /// The sessions, with the number of the event after which each began.
    pub(crate) sessions: HashMap<String, usize>,
    pub(crate) connections: usize,
    /// How often a session was continued.
    pub(crate) resumed: usize,
    /// Which connection is asked to end.
    pub(crate) ended: usize,
    messages: BTreeMap<u64, BotMessage>,
    /// The messages by their nonces.
    nonces: HashMap<String, u64>,
    /// The open interactions, by their tokens: the channel, and the message that answered it.
    interactions: HashMap<String, (String, Option<u64>)>,
    commands: Vec<String>,
    calls: Vec<String>,
    faults: VecDeque<(&'static str, u16, Value)>,
    next: u64,
    silent_from: Option<usize>,
    files: Vec<SentFile>,
    picture: Picture,
}

/// The stand-in.
#[derive(Clone, Default)]
pub(crate) struct FakeDiscord(Arc<Mutex<Guild>>);

impl FakeDiscord {
    /// Starts it; returns its base URL, too.
    pub(crate) async fn start() -> (Self, String) {
        let fake = Self::default();
        let routes = Router::new()
            .route("/gateway", any(socket))
            .route("/files/{name}", get(|| async { "the content of the file" }))
            .route("/api/{*path}", any(call))
            .with_state(fake.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        fake.guild().url = url.clone();
        fake.guild().next = 1_000;
        fake.guild().picture = Picture::new("discord");
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        (fake, format!("{url}/api"))
    }

    /// Returns the connection to the bot at an address.
    pub(crate) fn connection(url: &str) -> String {
        format!("type: Discord, properties: {{ token: {TOKEN}, baseURL: \"{url}\", allowPrivate: true }}")
    }

    pub(crate) fn guild(&self) -> MutexGuard<'_, Guild> {
        self.0.lock().unwrap()
    }

    fn next(&self) -> String {
        let mut guild = self.guild();
        guild.next += 1;
        guild.next.to_string()
    }

    /// A person writes: in a direct message if the channel begins with 9, otherwise in a server.
    pub(crate) fn write(&self, person: u64, channel: u64, text: &str) -> Value {
        self.write_with(person, channel, text, json!({}))
    }

    /// A person writes a message with further fields. Without a mention, a reply or a direct message, the bot does not
    /// get its text.
    pub(crate) fn write_with(&self, person: u64, channel: u64, text: &str, more: Value) -> Value {
        self.guild().picture.write(person, channel, text);
        let is_private = is_private(channel);
        let is_mentioned = text.contains(&format!("<@{BOT_USER}>"));
        let mentions =
            if is_mentioned { json!([{ "id": BOT_USER, "username": "helper", "bot": true }]) } else { json!([]) };
        let has_text = is_private || is_mentioned || more.get("referenced_message").is_some();
        let mut message = json!({
            "id": self.next(), "channel_id": channel.to_string(), "type": 0, "mentions": mentions,
            "author": { "id": person.to_string(), "username": format!("user{person}"), "global_name": format!("User {person}") },
            "content": if has_text { text } else { "" },
        });
        if !is_private {
            message["guild_id"] = "300".into();
        }
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.guild().events.push(("MESSAGE_CREATE", message.clone()));
        message
    }

    /// Sends the same event once more.
    pub(crate) fn send_again(&self, message: Value) {
        self.guild().events.push(("MESSAGE_CREATE", message));
    }

    fn interact(&self, person: u64, channel: u64, kind: u64, data: Value, message: Option<u64>) {
        let (id, token) = (self.next(), format!("token-{}", self.next()));
        let user = json!({ "id": person.to_string(), "username": format!("user{person}") });
        let mut event = json!({
            "id": id, "application_id": APPLICATION, "type": kind, "token": token, "channel_id": channel.to_string(),
            "data": data, "message": message.map(|id| json!({ "id": id.to_string() })),
        });
        if is_private(channel) {
            event["user"] = user;
        } else {
            event["guild_id"] = "300".into();
            event["member"] = json!({ "user": user });
        }
        let mut guild = self.guild();
        guild.interactions.insert(token, (channel.to_string(), None));
        guild.events.push(("INTERACTION_CREATE", event));
    }

    /// A person uses a command.
    pub(crate) fn command(&self, person: u64, channel: u64, name: &str, value: Option<&str>) {
        self.guild().picture.write(person, channel, &format!("/{name} {}", value.unwrap_or_default()));
        let options: Vec<Value> =
            value.map(|value| json!({ "name": "name", "type": 3, "value": value })).into_iter().collect();
        self.interact(person, channel, 2, json!({ "name": name, "options": options }), None);
    }

    /// A person presses a button.
    pub(crate) fn press(&self, person: u64, channel: u64, message: u64, data: &str) {
        self.guild().picture.press(person, channel, data);
        self.interact(person, channel, 3, json!({ "custom_id": data, "component_type": 2 }), Some(message));
    }

    /// A person sends a code, and confirms the account that is named.
    pub(crate) async fn link(&self, person: u64, code: &str) {
        let chat = 900 + person;
        self.write(person, chat, &format!("!link {code}"));
        self.until("the button", |fake| fake.button(chat).is_some()).await;
        let (id, data) = self.button(chat).unwrap();
        self.press(person, chat, id, &data);
        self.until_text(chat, "You are linked to the account").await;
    }

    /// Returns the newest message of a channel that has a button, and the data of the button.
    pub(crate) fn button(&self, channel: u64) -> Option<(u64, String)> {
        let has_button =
            |(_, message): &(u64, BotMessage)| message.channel == channel.to_string() && !message.buttons.is_empty();
        self.messages().into_iter().rfind(has_button).map(|(id, message)| (id, message.buttons[0].clone()))
    }

    /// The next call of this method gets this response.
    pub(crate) fn fail(&self, call: &'static str, status: u16, response: Value) {
        self.guild().faults.push_back((call, status, response));
    }

    /// From the call with this number on, calls have their effect and get no response.
    pub(crate) fn be_silent_from(&self, call: Option<usize>) {
        self.guild().silent_from = call;
    }

    /// Asks the connections to end.
    pub(crate) fn reconnect(&self) {
        let mut guild = self.guild();
        guild.ended = guild.connections;
    }

    /// Forgets all sessions.
    pub(crate) fn forget_sessions(&self) {
        self.guild().sessions.clear();
        self.reconnect();
    }

    /// Returns the calls.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.guild().calls.clone()
    }

    /// Returns the names of the commands that the app offers.
    pub(crate) fn commands(&self) -> Vec<String> {
        self.guild().commands.clone()
    }

    /// Returns the files of the bot.
    pub(crate) fn files(&self) -> Vec<SentFile> {
        self.guild().files.clone()
    }

    /// Returns the messages of the bot, oldest first.
    pub(crate) fn messages(&self) -> Vec<(u64, BotMessage)> {
        self.guild().messages.iter().map(|(id, message)| (*id, message.clone())).collect()
    }

    /// Returns the texts of the bot in a channel.
    pub(crate) fn texts(&self, channel: u64) -> Vec<String> {
        let messages = self.messages().into_iter().filter(|(_, message)| message.channel == channel.to_string());
        messages.map(|(_, message)| message.content).collect()
    }

    /// Waits until the condition holds.
    pub(crate) async fn until(&self, what: &str, is_met: impl Fn(&Self) -> bool) {
        let seen = || format!("{:?} {:?}", self.messages(), self.calls());
        until(what, || is_met(self), seen).await;
    }

    /// Waits until a channel has a text, and returns all of its texts.
    pub(crate) async fn until_text(&self, channel: u64, text: &str) -> Vec<String> {
        self.until(text, |fake| fake.texts(channel).iter().any(|shown| shown.contains(text))).await;
        self.texts(channel)
    }
}

fn is_private(channel: u64) -> bool {
    channel.to_string().starts_with('9')
}

async fn call(State(fake): State<FakeDiscord>, Path(path): Path<String>, method: Method, request: Request) -> Response {
    let headers = request.headers().clone();
    let parameters = parameters(request).await;
    assert!(headers["user-agent"].to_str().unwrap().starts_with("DiscordBot ("));
    if headers.get("authorization").is_none_or(|value| value != format!("Bot {TOKEN}").as_str()) {
        return respond(401, json!({ "message": "401: Unauthorized", "code": 0 }));
    }
    let (response, is_silent) = {
        let mut guild = fake.guild();
        let (name, response) = Guild::handle(&method, &path, &parameters);
        guild.calls.push(name.to_owned());
        let response = match guild.faults.iter().position(|(failing, ..)| *failing == name) {
            Some(at) => guild.faults.remove(at).map(|(_, status, response)| (status, response)).unwrap(),
            None => response.map(|mut respond| respond(&mut guild)).unwrap_or((404, json!({ "message": "Not Found" }))),
        };
        (response, guild.silent_from.is_some_and(|from| guild.calls.len() >= from))
    };
    if is_silent {
        std::future::pending::<()>().await;
    }
    respond(response.0, response.1)
}

fn respond(status: u16, body: Value) -> Response {
    (StatusCode::from_u16(status).unwrap(), body.to_string()).into_response()
}

impl Guild {
    /// Returns the name of a call, and what it does.
    fn handle(method: &Method, path: &str, body: &Value) -> (&'static str, Option<Effect>) {
        let steps: Vec<String> = path.split('/').map(str::to_owned).collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let body = body.clone();
        match (method.as_str(), steps.as_slice()) {
            ("GET", ["users", "@me"]) => {
                ("account", effect(|_| (200, json!({ "id": BOT_USER, "username": "helper", "bot": true }))))
            }
            ("GET", ["gateway", "bot"]) => ("gateway", effect(|guild| (200, guild.gateway()))),
            ("PUT", ["applications", APPLICATION, "commands"]) => (
                "commands",
                effect(move |guild| {
                    let names = body.as_array().unwrap().iter().map(|command| command["name"].as_str().unwrap());
                    guild.commands = names.map(str::to_owned).collect();
                    (200, json!([]))
                }),
            ),
            ("POST", ["channels", channel, "messages"]) => {
                let channel = (*channel).to_owned();
                ("send", effect(move |guild| guild.send(&channel, &body)))
            }
            ("PATCH", ["channels", _, "messages", id]) => {
                let id: u64 = id.parse().unwrap();
                ("edit", effect(move |guild| guild.edit(id, &body)))
            }
            ("DELETE", ["channels", _, "messages", id]) => {
                let id: u64 = id.parse().unwrap();
                let delete = move |guild: &mut Self| {
                    guild.picture.remove(id);
                    guild.messages.remove(&id).map_or_else(unknown, |_| (204, Value::Null))
                };
                ("delete", effect(delete))
            }
            ("POST", ["channels", _, "typing"]) => ("typing", effect(|_| (204, Value::Null))),
            ("POST", ["interactions", _, token, "callback"]) => {
                let token = (*token).to_owned();
                ("callback", effect(move |guild| guild.respond_to(&token, &body)))
            }
            ("GET", ["webhooks", APPLICATION, token, "messages", "@original"]) => {
                let token = (*token).to_owned();
                (
                    "original",
                    effect(move |guild| match guild.interactions[&token].1 {
                        Some(id) => (200, json!({ "id": id.to_string() })),
                        None => unknown(),
                    }),
                )
            }
            ("POST", ["webhooks", APPLICATION, token]) => {
                let token = (*token).to_owned();
                (
                    "follow up",
                    effect(move |guild| {
                        let channel = guild.interactions[&token].0.clone();
                        guild.send(&channel, &body)
                    }),
                )
            }
            _ => ("unknown", None),
        }
    }

    fn gateway(&self) -> Value {
        let url = format!("{}/gateway", self.url.replace("http", "ws"));
        json!({ "url": url, "shards": 1, "session_start_limit": { "total": 1_000, "remaining": 999, "reset_after": 1 } })
    }

    fn send(&mut self, channel: &str, body: &Value) -> Answer {
        if body["payload_json"].is_string() {
            return self.send_file(channel, body);
        }
        let message = match read_message(channel, body) {
            Ok(message) => message,
            Err(refusal) => return refusal,
        };
        if let Some(nonce) = body["nonce"].as_str() {
            assert!(nonce.len() <= 25 && body["enforce_nonce"] == true, "{nonce}");
            if let Some(known) = self.nonces.get(nonce) {
                return (200, json!({ "id": known.to_string() }));
            }
            self.nonces.insert(nonce.to_owned(), self.next + 1);
        }
        self.next += 1;
        self.picture.show((self.next, message.place()), body, pictures::discord);
        self.messages.insert(self.next, message);
        (200, json!({ "id": self.next.to_string() }))
    }

    fn send_file(&mut self, channel: &str, form: &Value) -> Answer {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (message, file) = (form["payload_json"].as_str().unwrap(), &form["files[0]"]);
        let message: Value = serde_json::from_str(message).unwrap();
        // The name is that of the JSON.
        let attachment = &message["attachments"][0];
        assert_eq!(attachment["id"], 0);
        self.next += 1;
        let (nonce, next) = (text(&message["nonce"]), self.next);
        let known = *self.nonces.entry(nonce).or_insert(next);
        if known == next {
            self.files.push((channel.to_owned(), text(&attachment["filename"]), text(&file["content"])));
        }
        (200, json!({ "id": known.to_string() }))
    }

    fn edit(&mut self, id: u64, body: &Value) -> Answer {
        let Some(known) = self.messages.get(&id).filter(|known| !known.is_hidden) else { return unknown() };
        match read_message(&known.channel, body) {
            Ok(message) => {
                self.messages.insert(id, message);
                self.picture.show((id, ""), body, pictures::discord);
                (200, json!({ "id": id.to_string() }))
            }
            Err(refusal) => refusal,
        }
    }

    fn respond_to(&mut self, token: &str, body: &Value) -> Answer {
        let Some((channel, answered)) = self.interactions.get(token).cloned() else { return unknown() };
        if answered.is_some() {
            return (400, json!({ "message": "Interaction has already been acknowledged.", "code": 40_060 }));
        }
        let id = match body["type"].as_u64().unwrap() {
            4 => match self.send(&channel, &body["data"]) {
                (200, sent) => sent["id"].as_str().unwrap().parse().unwrap(),
                refusal => return refusal,
            },
            6 => 0,
            other => panic!("a response of the type {other}"),
        };
        self.interactions.insert(token.to_owned(), (channel, Some(id)));
        (200, json!({ "interaction": { "id": "1", "type": 2, "response_message_id": id.to_string() } }))
    }
}
