//! The responses and events of Feishu, with the fields that are used. Other fields are ignored.

use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// The fields of all responses. The code of a success is 0.
#[derive(Debug, Deserialize)]
pub(super) struct ApiStatus {
    pub(super) code: i64,
    #[serde(default)]
    pub(super) msg: String,
}

/// `auth/v3/tenant_access_token/internal`
#[derive(Deserialize)]
pub(super) struct TenantToken {
    pub(super) tenant_access_token: String,
    /// The lifetime, in seconds.
    #[serde(default)]
    pub(super) expire: u64,
}

/// `bot/v3/info`
#[derive(Debug, Deserialize)]
pub(super) struct BotInfo {
    pub(super) bot: BotUser,
}

#[derive(Debug, Deserialize)]
pub(super) struct BotUser {
    pub(super) open_id: String,
    #[serde(default)]
    pub(super) app_name: String,
}

/// A response whose content is within `data`.
#[derive(Debug, Deserialize)]
pub(super) struct WithData<T> {
    pub(super) data: T,
}

/// `im/v1/messages`
#[derive(Debug, Deserialize)]
pub(super) struct SentMessage {
    pub(super) message_id: String,
}

/// `im/v1/files` and `im/v1/images`
#[derive(Debug, Deserialize)]
pub(super) struct Uploaded {
    #[serde(alias = "image_key")]
    pub(super) file_key: String,
}

/// `contact/v3/users`
#[derive(Debug, Deserialize)]
pub(super) struct UserInfo {
    pub(super) user: User,
}

#[derive(Debug, Deserialize)]
pub(super) struct User {
    #[serde(default)]
    pub(super) name: String,
}

/// `callback/ws/endpoint`
#[derive(Deserialize)]
pub(super) struct Endpoint {
    /// The address of a long connection, with a ticket.
    #[serde(rename = "URL")]
    pub(super) url: String,
    #[serde(rename = "ClientConfig")]
    pub(super) config: Option<ClientConfig>,
}

/// How a long connection is to be used. Times are in seconds.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct ClientConfig {
    ping_interval: i64,
    reconnect_nonce: i64,
}

impl Default for ClientConfig {
    /// The values of the SDKs, for as long as Feishu has sent none.
    fn default() -> Self {
        Self { ping_interval: 120, reconnect_nonce: 30 }
    }
}

impl ClientConfig {
    /// Returns the time between two pings.
    pub(super) fn ping_interval(&self) -> Duration {
        seconds(self.ping_interval)
    }

    /// Returns the longest delay before another connection is opened.
    pub(super) fn max_delay(&self) -> Duration {
        seconds(self.reconnect_nonce)
    }
}

fn seconds(number: i64) -> Duration {
    Duration::from_secs(u64::try_from(number).unwrap_or(0))
}

/// Something that has happened, after it was decrypted.
#[derive(Debug, Deserialize)]
pub(super) struct Event {
    pub(super) header: EventHeader,
    pub(super) event: Value,
}

#[derive(Debug, Deserialize)]
pub(super) struct EventHeader {
    pub(super) event_id: String,
    pub(super) event_type: String,
    pub(super) app_id: String,
    /// A Unix time in milliseconds, for pressed buttons in microseconds.
    #[serde(default)]
    pub(super) create_time: String,
}

/// `im.message.receive_v1`
#[derive(Debug, Deserialize)]
pub(super) struct MessageEvent {
    pub(super) sender: Sender,
    pub(super) message: Message,
}

#[derive(Debug, Deserialize)]
pub(super) struct Sender {
    pub(super) sender_id: UserIds,
    pub(super) sender_type: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct UserIds {
    pub(super) open_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub(super) message_id: String,
    /// The first message of the thread, or of the replies.
    pub(super) root_id: Option<String>,
    /// The message to which it replies.
    pub(super) parent_id: Option<String>,
    /// The thread, if it is in one.
    pub(super) thread_id: Option<String>,
    /// A Unix time in milliseconds.
    pub(super) create_time: String,
    pub(super) chat_id: String,
    pub(super) chat_type: String,
    pub(super) message_type: String,
    /// JSON.
    pub(super) content: String,
    #[serde(default)]
    pub(super) mentions: Vec<Mention>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Mention {
    /// Its placeholder in the text, such as `@_user_1`.
    pub(super) key: String,
    pub(super) id: UserIds,
    #[serde(default)]
    pub(super) name: String,
}

/// `card.action.trigger`: a pressed button.
#[derive(Debug, Deserialize)]
pub(super) struct CardAction {
    pub(super) operator: UserIds,
    pub(super) action: Action,
    pub(super) context: ActionContext,
}

#[derive(Debug, Deserialize)]
pub(super) struct Action {
    pub(super) value: Value,
}

#[derive(Debug, Deserialize)]
pub(super) struct ActionContext {
    pub(super) open_message_id: String,
    pub(super) open_chat_id: String,
}
