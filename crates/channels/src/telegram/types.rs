//! The responses of Telegram's Bot API, with the fields that are used. Other fields are ignored.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The body of each response.
#[derive(Debug, Deserialize)]
pub(super) struct ApiResponse<T> {
    pub(super) ok: bool,
    pub(super) result: Option<T>,
    #[serde(default)]
    pub(super) description: String,
    pub(super) parameters: Option<ResponseParameters>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ResponseParameters {
    /// Seconds.
    pub(super) retry_after: Option<u64>,
}

/// A user or a bot.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Account {
    pub(crate) id: i64,
    #[serde(default)]
    pub(crate) is_bot: bool,
    #[serde(default)]
    pub(crate) first_name: String,
    pub(crate) last_name: Option<String>,
    pub(crate) username: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct UpdateId {
    pub(super) update_id: i64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Update {
    pub(super) message: Option<Message>,
    pub(super) callback_query: Option<CallbackQuery>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub(super) message_id: i64,
    pub(super) message_thread_id: Option<i64>,
    #[serde(default)]
    pub(super) is_topic_message: bool,
    pub(super) from: Option<Account>,
    pub(super) chat: Chat,
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) entities: Vec<Entity>,
    pub(super) caption: Option<String>,
    #[serde(default)]
    pub(super) caption_entities: Vec<Entity>,
    pub(super) reply_to_message: Option<Box<Replied>>,
    /// The origin of a forwarded message.
    pub(super) forward_origin: Option<IgnoredAny>,
    /// When the forwarded message was sent, before version 7.0 of the API.
    pub(super) forward_date: Option<IgnoredAny>,
    /// The bot that has written it, which the person has used from their text field.
    pub(super) via_bot: Option<IgnoredAny>,
    /// The sizes of a photo.
    #[serde(default)]
    pub(super) photo: Vec<PhotoSize>,
    pub(super) document: Option<Document>,
}

/// The message to which another one replies.
#[derive(Debug, Deserialize)]
pub(super) struct Replied {
    pub(super) message_id: i64,
    pub(super) from: Option<Account>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Chat {
    pub(super) id: i64,
    #[serde(rename = "type")]
    pub(super) kind: String,
}

/// A marked part of a text, in UTF-16 code units.
#[derive(Debug, Deserialize)]
pub(super) struct Entity {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) offset: usize,
    pub(super) length: usize,
    pub(super) user: Option<Account>,
}

#[derive(Debug, Deserialize)]
pub(super) struct PhotoSize {
    pub(super) file_id: String,
    #[serde(default)]
    pub(super) width: u32,
}

#[derive(Debug, Deserialize)]
pub(super) struct Document {
    pub(super) file_id: String,
    pub(super) file_name: Option<String>,
}

/// A button that was pressed.
#[derive(Debug, Deserialize)]
pub(super) struct CallbackQuery {
    pub(super) id: String,
    pub(super) from: Account,
    pub(super) message: Option<Message>,
    pub(super) data: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct SentMessage {
    pub(super) message_id: i64,
}

#[derive(Debug, Deserialize)]
pub(super) struct File {
    pub(super) file_path: Option<String>,
    pub(super) file_size: Option<u64>,
}
