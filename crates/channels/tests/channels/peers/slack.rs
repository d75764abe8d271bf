//! Slack's Web API as implemented by the npm package `emulate`. The package has no Socket Mode, cannot send events to our
//! address, and cannot press buttons. So the tests deliver its messages as events, and pressed buttons, with signatures.

use crate::peers::{Peer, until_found};
use crate::server::{self, TestServer};
use crate::slack::{BOT_TOKEN, BOT_USER, SIGNING_SECRET};
use crate::slack_events::{deliver_form, deliver_json};
use crate::slack_messages::{BotMessage, read_message};
use chat::Caller;
use contract::testing::{text_reply, tool_call_reply};
use http::Method;
use serde_json::{Value, json};

/// The workspace of the package.
const TEAM: &str = "T000000001";

struct Emulate(Peer);

/// A person with a direct message to the bot.
struct Person {
    name: &'static str,
    token: String,
    id: String,
    chat: String,
}

/// A message of the bot: as the package returns it, and its text.
struct Shown {
    message: Value,
    read: BotMessage,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Delivers a message of a person to the bot.
async fn deliver(server: &TestServer, person: &Person, mut message: Value) {
    message["channel"] = person.chat.as_str().into();
    message["channel_type"] = "im".into();
    let event = json!({ "type": "event_callback", "team_id": TEAM, "event": message });
    assert_eq!(deliver_json(server, &event).await, 200);
}

/// Presses the first button of a message for a person.
async fn press(server: &TestServer, person: &Person, shown: &Shown) {
    let value = &shown.read.buttons[0];
    let payload = json!({
        "type": "block_actions", "team": { "id": TEAM }, "user": { "id": person.id, "name": person.name },
        "channel": { "id": person.chat }, "message": { "ts": shown.message["ts"] },
        "actions": [{ "action_id": value, "value": value, "action_ts": shown.message["ts"] }],
    });
    assert_eq!(deliver_form(server, &payload).await, 200);
}

impl Emulate {
    fn connection(&self) -> String {
        format!(
            "type: Slack, properties: {{ botToken: {BOT_TOKEN}, signingSecret: \"{SIGNING_SECRET}\", teamId: {TEAM}, \
             baseURL: \"{}/api\", allowPrivate: true }}",
            self.0.url
        )
    }

    async fn call(&self, method: &str, token: &str, parameters: &Value) -> Value {
        let result = self.0.post(&format!("/api/{method}"), Some(token), parameters).await;
        assert_eq!(result["ok"], true, "{method}: {result}");
        result
    }

    async fn person(&self, name: &'static str) -> Person {
        let token = format!("xoxp-{name}");
        let account = self.call("auth.test", &token, &json!({})).await;
        let opened = self.call("conversations.open", &token, &json!({ "users": BOT_USER })).await;
        Person { name, token, id: text(&account["user_id"]), chat: text(&opened["channel"]["id"]) }
    }

    /// Returns the messages in the chat of a person, oldest first.
    async fn messages(&self, person: &Person) -> Vec<Value> {
        let history = self.call("conversations.history", &person.token, &json!({ "channel": person.chat })).await;
        history["messages"].as_array().unwrap().iter().rev().cloned().collect()
    }

    async fn write(&self, server: &TestServer, person: &Person, text: &str) {
        let parameters = json!({ "channel": person.chat, "text": text });
        let posted = self.call("chat.postMessage", &person.token, &parameters).await;
        deliver(server, person, posted["message"].clone()).await;
    }

    /// Sends a file with a text for a person.
    async fn write_with_file(&self, server: &TestServer, person: &Person, said: &str, name: &str, content: &str) {
        let parameters = json!({ "filename": name, "length": content.len() });
        let upload = self.call("files.getUploadURLExternal", &person.token, &parameters).await;
        self.0.send(Method::POST, &text(&upload["upload_url"]), None, Some(content.into())).await;
        let files = json!([{ "id": upload["file_id"], "title": name }]);
        let parameters = json!({ "files": files, "channel_id": person.chat, "initial_comment": said });
        self.call("files.completeUploadExternal", &person.token, &parameters).await;
        let message = self.messages(person).await.into_iter().rfind(|message| message["files"].is_array());
        deliver(server, person, message.unwrap()).await;
    }

    /// Returns the messages of the bot with a text.
    async fn shown(&self, person: &Person) -> Vec<Shown> {
        let is_text = |message: &Value| message["user"] == BOT_USER && message["blocks"].is_array();
        let read = |message: Value| {
            let parameters = json!({ "channel": person.chat, "text": message["text"], "blocks": message["blocks"] });
            Shown { read: read_message(&parameters).unwrap(), message }
        };
        self.messages(person).await.into_iter().filter(is_text).map(read).collect()
    }

    /// Waits for a message of the bot with a text.
    async fn until_text(&self, person: &Person, text: &str) -> Shown {
        let has_text = |shown: &Shown| shown.read.text.contains(text);
        until_found(text, async || self.shown(person).await.into_iter().rfind(has_text)).await
    }

    /// Waits for a file of the bot, and returns its name and its content.
    async fn until_file(&self, person: &Person) -> (String, Vec<u8>) {
        let is_file = |message: &Value| message["user"] == BOT_USER && message["files"].is_array();
        let find = async || self.messages(person).await.into_iter().rfind(is_file);
        let file = until_found("file", find).await["files"][0].clone();
        let url = text(&file["url_private_download"]);
        (text(&file["name"]), self.0.send(Method::GET, &url, Some(&person.token), None).await)
    }
}

#[tokio::test]
async fn emulated_slack_shows_answers_and_takes_files() {
    let replies = || {
        let act = tool_call_reply(&[("a", "act", r#"{"to":"x"}"#)]);
        let present = tool_call_reply(&[("p", "present", "{}")]);
        let (first, done) = (text_reply("Within **30 days**."), text_reply("Done it."));
        vec![first, act, done, text_reply("Nice."), present, text_reply("Here it is.")]
    };
    server::on_each_database(async |database| {
        let slack = Emulate(Peer::start("slack.mjs"));
        let server = TestServer::start(&database, &slack.connection(), replies()).await;
        server.add_user("ada", "support").await;
        let (ada, eve) = (slack.person("ada").await, slack.person("eve").await);
        slack.write(&server, &ada, &format!("!link {}", server.code("ada").await)).await;
        let asked = slack.until_text(&ada, "Link this chat to the account “ada”?").await;
        press(&server, &ada, &asked).await;
        slack.until_text(&ada, "You are linked to the account").await;
        slack.write(&server, &ada, "When can I return it?").await;
        let answer = slack.until_text(&ada, "30 days.").await;
        assert_eq!(answer.read.text, "Within 30 days.");
        assert_eq!(answer.message["edited"]["user"], BOT_USER);
        assert!(answer.message["blocks"].to_string().contains(r#""bold":true"#), "{}", answer.message);
        slack.write(&server, &ada, "Do it").await;
        let card = slack.until_text(&ada, "\"to\": \"x\"").await;
        assert!(server.effects.lock().unwrap().is_empty());
        press(&server, &ada, &card).await;
        slack.until_text(&ada, "Done it.").await;
        assert_eq!(*server.effects.lock().unwrap(), [json!({ "to": "x" })]);
        let decided = slack.until_text(&ada, "✅ Approved").await;
        assert_eq!((&decided.message["ts"], decided.read.buttons.len()), (&card.message["ts"], 0));
        slack.write_with_file(&server, &ada, "Look", "notes.txt", "the notes").await;
        slack.until_text(&ada, "Nice.").await;
        let caller = Caller::signed_in("ada").with_roles(vec!["support".to_owned()]);
        let list = server.chat.conversations(&caller, Default::default(), 10, None).await.unwrap();
        let view = server.chat.conversation(&caller, &list.items[0].id).await.unwrap();
        let stored = serde_json::to_string(&view.messages).unwrap();
        assert!(stored.contains("notes.txt") && stored.contains("/api/files/"), "{stored}");
        server.add_file("report \"1\".txt", b"the numbers".to_vec()).await;
        slack.write(&server, &ada, "The report").await;
        assert_eq!(slack.until_file(&ada).await, ("report \"1\".txt".to_owned(), b"the numbers".to_vec()));
        slack.until_text(&ada, "Here it is.").await;
        slack.write(&server, &eve, "Hi").await;
        slack.write(&server, &eve, "Hi again").await;
        slack.until_text(&eve, "I answer people who have an account").await;
        let shown = slack.shown(&eve).await;
        assert_eq!(shown.len(), 1);
        assert!(shown[0].read.text.contains("I answer people who have an account"), "{}", shown[0].message);
        server.shutdown().await;
    })
    .await;
}
