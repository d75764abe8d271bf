//! The sender of events of the stand-in of Feishu: encrypted with AES-256-CBC, and signed with SHA-256.

use crate::feishu::{APP_ID, ENCRYPT_KEY, FakeFeishu};
use crate::server::TestServer;
use aes::Aes256;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cbc::Encryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeEncrypt, KeyIvInit};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use web::times::now_millis;

pub(crate) const PATH: &str = "/api/channels/help/feishu";

/// Delivers what happens in the stand-in to a server.
#[derive(Clone, Copy)]
pub(crate) struct Delivery<'d> {
    pub(crate) fake: &'d FakeFeishu,
    pub(crate) server: &'d TestServer,
}

/// Returns the chat with a person.
pub(crate) fn p2p_chat(person: &str) -> String {
    person.replace("ou_", "oc_p")
}

/// Encrypts a content, and returns the body of its request.
pub(crate) fn encrypted(content: &Value, key: &str) -> String {
    let (content, vector) = (content.to_string(), [3; 16]);
    let encryptor = Encryptor::<Aes256>::new_from_slices(&Sha256::digest(key), &vector).unwrap();
    let mut buffer = content.as_bytes().to_vec();
    buffer.resize(content.len() + 16, 0);
    let blocks = encryptor.encrypt_padded::<Pkcs7>(&mut buffer, content.len()).unwrap();
    json!({ "encrypt": STANDARD.encode([&vector, blocks].concat()) }).to_string()
}

/// Delivers a body that was signed with this key at this time.
pub(crate) async fn deliver(server: &TestServer, body: &str, key: &str, time: i64) -> (u16, String) {
    let time = time.to_string();
    let signature = hex::encode(Sha256::digest(format!("{time}nonce{key}{body}")));
    let headers = [
        ("x-lark-request-timestamp", time.as_str()),
        ("x-lark-request-nonce", "nonce"),
        ("x-lark-signature", signature.as_str()),
        ("content-type", "application/json; charset=utf-8"),
    ];
    server.deliver(PATH, &headers, body).await
}

impl Delivery<'_> {
    /// Delivers an event; returns the status.
    pub(crate) async fn send(self, event: &Value) -> u16 {
        deliver(self.server, &encrypted(event, ENCRYPT_KEY), ENCRYPT_KEY, now_millis() / 1_000).await.0
    }

    /// A person writes a text to the bot, in a group or in a thread of one. Returns the id of the message.
    pub(crate) async fn write(self, person: &str, place: &str, text: &str) -> String {
        self.write_content(person, place, "text", &json!({ "text": text })).await
    }

    /// A person writes a message of a type.
    pub(crate) async fn write_content(self, person: &str, place: &str, kind: &str, content: &Value) -> String {
        let event = self.message(person, place, kind, content);
        assert_eq!(self.send(&event).await, 200);
        event["event"]["message"]["message_id"].as_str().unwrap().to_owned()
    }

    /// Returns an event: a person writes a message.
    pub(crate) fn message(self, person: &str, place: &str, kind: &str, content: &Value) -> Value {
        let number = self.fake.next();
        let said = content["text"].as_str().unwrap_or("(no text)");
        self.fake.tenant().picture.write(person, place, said);
        let (chat, root) = place.split_once('/').map_or((place, None), |(chat, root)| (chat, Some(root)));
        let (chat, chat_type) =
            if chat.starts_with("ou_") { (p2p_chat(chat), "p2p") } else { (chat.to_owned(), "group") };
        let mut message = json!({
            "message_id": format!("om_in{number}"), "create_time": (1_700_000_000_000 + number).to_string(),
            "chat_id": chat, "chat_type": chat_type, "message_type": kind, "content": content.to_string(),
            "mentions": [{ "key": "@_user_1", "id": { "open_id": crate::feishu::BOT }, "name": "Helper" }],
        });
        if let Some(root) = root {
            message["root_id"] = root.into();
            message["parent_id"] = root.into();
            message["thread_id"] = "omt_1".into();
        }
        let sender = json!({ "sender_id": { "open_id": person }, "sender_type": "user" });
        event("im.message.receive_v1", number, json!({ "sender": sender, "message": message }))
    }

    /// A person presses a button.
    pub(crate) async fn press(self, person: &str, chat: &str, message_id: &str, value: &Value) {
        assert_eq!(self.send(&self.pressed(person, chat, message_id, value)).await, 200);
    }

    /// Returns an event: a person presses a button.
    pub(crate) fn pressed(self, person: &str, chat: &str, message_id: &str, value: &Value) -> Value {
        let number = self.fake.next();
        self.fake.tenant().picture.press(person, chat, value["data"].as_str().unwrap_or_default());
        let press = json!({
            "operator": { "open_id": person }, "token": "c-1", "action": { "tag": "button", "value": value },
            "host": "im_message", "context": { "open_message_id": message_id, "open_chat_id": chat },
        });
        event("card.action.trigger", number, press)
    }
}

/// Returns an event of a kind.
fn event(kind: &str, number: u64, event: Value) -> Value {
    // Pressed buttons have microseconds.
    let time = 1_700_000_000_000 + number;
    let time = if kind == "card.action.trigger" { time * 1_000 } else { time };
    let header = json!({
        "event_id": format!("e{number}"), "event_type": kind, "app_id": APP_ID, "token": "v",
        "create_time": time.to_string(), "tenant_key": "t",
    });
    json!({ "schema": "2.0", "header": header, "event": event })
}
