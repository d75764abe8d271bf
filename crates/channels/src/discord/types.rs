//! The responses and events of Discord, with the fields that are used. Other fields are ignored. Ids are
//! numbers as texts.

use serde::Deserialize;
use serde_json::Value;

/// The body of an error.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ApiFailure {
    #[serde(default)]
    pub(super) code: i64,
    #[serde(default)]
    pub(super) message: String,
    /// Seconds, if there were too many requests.
    pub(super) retry_after: Option<f64>,
}

/// A person or a bot.
#[derive(Debug, Deserialize)]
pub(super) struct User {
    pub(super) id: String,
    #[serde(default)]
    pub(super) username: String,
    /// The name that the person has chosen.
    pub(super) global_name: Option<String>,
    #[serde(default)]
    pub(super) bot: bool,
}

/// `GET /gateway/bot`
#[derive(Debug, Deserialize)]
pub(super) struct GatewayInfo {
    pub(super) url: String,
    pub(super) session_start_limit: Option<StartLimit>,
}

/// The number of sessions that the bot may still begin.
#[derive(Debug, Deserialize)]
pub(super) struct StartLimit {
    pub(super) remaining: u64,
    /// Milliseconds.
    pub(super) reset_after: u64,
}

/// A message that was sent.
#[derive(Debug, Deserialize)]
pub(super) struct SentMessage {
    pub(super) id: String,
}

/// The result of a response to an interaction.
#[derive(Debug, Deserialize)]
pub(super) struct CallbackResponse {
    pub(super) interaction: CallbackInteraction,
}

#[derive(Debug, Deserialize)]
pub(super) struct CallbackInteraction {
    pub(super) response_message_id: Option<String>,
}

/// A message of the Gateway.
#[derive(Debug, Deserialize)]
pub(super) struct Payload {
    pub(super) op: u64,
    #[serde(default)]
    pub(super) d: Value,
    pub(super) s: Option<u64>,
    pub(super) t: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Hello {
    /// Milliseconds.
    pub(super) heartbeat_interval: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Ready {
    pub(super) session_id: String,
    pub(super) resume_gateway_url: String,
    pub(super) application: IdOnly,
}

#[derive(Debug, Deserialize)]
pub(super) struct IdOnly {
    pub(super) id: String,
}

/// `MESSAGE_CREATE`
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) channel_id: String,
    pub(super) guild_id: Option<String>,
    pub(super) author: User,
    pub(super) webhook_id: Option<String>,
    #[serde(rename = "type", default)]
    pub(super) kind: u64,
    #[serde(default)]
    pub(super) content: String,
    #[serde(default)]
    pub(super) mentions: Vec<User>,
    #[serde(default)]
    pub(super) attachments: Vec<Attachment>,
    pub(super) referenced_message: Option<Box<Referenced>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Referenced {
    pub(super) id: String,
    pub(super) author: Option<User>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Attachment {
    pub(super) url: String,
    #[serde(default)]
    pub(super) filename: String,
}

/// `INTERACTION_CREATE`: a command, or a pressed button.
#[derive(Debug, Deserialize)]
pub(super) struct Interaction {
    pub(super) id: String,
    pub(super) application_id: String,
    #[serde(rename = "type")]
    pub(super) kind: u64,
    pub(super) token: String,
    pub(super) channel_id: Option<String>,
    pub(super) guild_id: Option<String>,
    /// In a server.
    pub(super) member: Option<Member>,
    /// In a direct message.
    pub(super) user: Option<User>,
    pub(super) message: Option<IdOnly>,
    pub(super) data: Option<InteractionData>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Member {
    pub(super) user: Option<User>,
}

#[derive(Debug, Deserialize)]
pub(super) struct InteractionData {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) options: Vec<CommandOption>,
    pub(super) custom_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CommandOption {
    #[serde(default)]
    pub(super) value: Value,
}
