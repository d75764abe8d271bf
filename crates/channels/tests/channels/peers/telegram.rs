//! Telegram as implemented by the npm package `telegram-test-api`. The package has no files, and edits never remove buttons.

use crate::peers::{Peer, until_found};
use crate::server::{self, TestServer};
use crate::telegram::{FakeTelegram, TOKEN};
use contract::testing::{text_reply, tool_call_reply};
use serde_json::{Value, json};

struct TelegramTestApi(Peer);

/// A message of the bot after its last edit.
#[derive(Debug)]
struct Shown {
    id: i64,
    text: String,
    is_edited: bool,
    /// The types of the styles.
    styles: Vec<String>,
    /// The data of the first button.
    button: Option<String>,
}

fn read(update: &Value) -> Shown {
    let message = &update["message"];
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let entities = message["entities"].as_array().into_iter().flatten();
    Shown {
        id: update["messageId"].as_i64().unwrap(),
        text: text(&message["text"]),
        // The package stores the parameters of the last call for the message, and only an edit contains its id.
        is_edited: message["message_id"].is_i64(),
        styles: entities.map(|entity| text(&entity["type"])).collect(),
        button: message["reply_markup"]["inline_keyboard"][0][0]["callback_data"].as_str().map(str::to_owned),
    }
}

impl TelegramTestApi {
    /// Performs an action of a person in the chat with the bot.
    async fn act(&self, path: &str, person: i64, mut update: Value) {
        update["botToken"] = TOKEN.into();
        update["from"] = json!({ "id": person, "is_bot": false, "first_name": "Ada" });
        self.0.post(path, None, &update).await;
    }

    async fn write(&self, person: i64, text: &str) {
        let chat = json!({ "id": person, "type": "private" });
        self.act("/sendMessage", person, json!({ "date": 1, "text": text, "chat": chat })).await;
    }

    async fn press(&self, person: i64, shown: &Shown) {
        let chat = json!({ "id": person, "type": "private" });
        let message = json!({ "message_id": shown.id, "date": 1, "chat": chat });
        self.act("/sendCallback", person, json!({ "data": shown.button, "message": message })).await;
    }

    /// Returns the messages of the bot in a chat, oldest first.
    async fn shown(&self, chat: i64) -> Vec<Shown> {
        let history = self.0.post("/getUpdatesHistory", None, &json!({ "token": TOKEN })).await;
        let is_there = |update: &&Value| update["message"]["chat_id"] == chat;
        history["result"].as_array().unwrap().iter().filter(is_there).map(read).collect()
    }

    /// Waits for a message of the bot with a text.
    async fn until_text(&self, chat: i64, text: &str) -> Shown {
        let has_text = |shown: &Shown| shown.text.contains(text);
        until_found(text, async || self.shown(chat).await.into_iter().rfind(has_text)).await
    }
}

#[tokio::test]
async fn telegram_test_api_shows_answers_and_passes_on_decisions() {
    let replies = || {
        let act = tool_call_reply(&[("a", "act", r#"{"to":"x"}"#)]);
        vec![text_reply("Within **30 days**."), act, text_reply("Done it.")]
    };
    server::on_each_database(async |database| {
        let telegram = TelegramTestApi(Peer::start("telegram.mjs"));
        let server = TestServer::start(&database, &FakeTelegram::connection(&telegram.0.url), replies()).await;
        server.add_user("ada", "support").await;
        telegram.write(7, &format!("/start {}", server.code("ada").await)).await;
        let asked = telegram.until_text(7, "Link this chat to the account “ada”?").await;
        telegram.press(7, &asked).await;
        telegram.until_text(7, "You are linked to the account").await;
        telegram.write(7, "When can I return it?").await;
        let answer = telegram.until_text(7, "30 days.").await;
        assert_eq!((answer.text.as_str(), answer.is_edited), ("Within 30 days.", true));
        assert_eq!(answer.styles, ["bold"]);
        telegram.write(7, "Do it").await;
        let card = telegram.until_text(7, "\"to\": \"x\"").await;
        assert!(server.effects.lock().unwrap().is_empty());
        telegram.press(7, &card).await;
        telegram.until_text(7, "Done it.").await;
        assert_eq!(*server.effects.lock().unwrap(), [json!({ "to": "x" })]);
        assert_eq!(telegram.until_text(7, "✅ Approved").await.id, card.id);
        for text in ["Hi", "Hi again", "/start 00000000000000000000000000000000"] {
            telegram.write(8, text).await;
        }
        telegram.until_text(8, "not valid any more").await;
        let shown = telegram.shown(8).await;
        assert_eq!(shown.len(), 2, "{shown:?}");
        server.shutdown().await;
    })
    .await;
}
