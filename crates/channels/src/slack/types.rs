//! The responses and events of Slack, with the fields that are used. Other fields are ignored.

use serde::Deserialize;

/// The fields of all responses of the Web API.
#[derive(Debug, Deserialize)]
pub(super) struct ApiStatus {
    pub(super) ok: bool,
    #[serde(default)]
    pub(super) error: String,
}

/// `auth.test`
#[derive(Debug, Deserialize)]
pub(super) struct AuthTest {
    pub(super) user_id: String,
    #[serde(default)]
    pub(super) user: String,
    #[serde(default)]
    pub(super) team_id: String,
}

/// `apps.connections.open`
#[derive(Debug, Deserialize)]
pub(super) struct Connection {
    pub(super) url: String,
}

/// `chat.postMessage`
#[derive(Debug, Deserialize)]
pub(super) struct Posted {
    pub(super) ts: String,
}

/// `files.getUploadURLExternal`
#[derive(Debug, Deserialize)]
pub(super) struct Upload {
    pub(super) upload_url: String,
    pub(super) file_id: String,
}

/// `users.info`
#[derive(Debug, Deserialize)]
pub(super) struct UserInfo {
    pub(super) user: User,
}

#[derive(Debug, Deserialize)]
pub(super) struct User {
    #[serde(default)]
    pub(super) team_id: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) deleted: bool,
    #[serde(default)]
    pub(super) is_bot: bool,
    #[serde(default)]
    pub(super) is_email_confirmed: bool,
    #[serde(default)]
    pub(super) profile: Profile,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Profile {
    #[serde(default)]
    pub(super) real_name: String,
    pub(super) email: Option<String>,
}

/// `files.info`
#[derive(Debug, Deserialize)]
pub(super) struct FileInfo {
    pub(super) file: File,
}

#[derive(Debug, Deserialize)]
pub(super) struct File {
    #[serde(default)]
    pub(super) mimetype: String,
    pub(super) size: Option<u64>,
    pub(super) url_private_download: Option<String>,
}

/// A payload of Slack: an event, or a pressed button.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Payload {
    EventCallback {
        #[serde(default)]
        team_id: String,
        event: Event,
    },
    BlockActions(BlockActions),
}

/// An event: a message, or a mention of the bot, which is a message as well.
#[derive(Debug, Deserialize)]
pub(super) struct Event {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) subtype: Option<String>,
    pub(super) channel: Option<String>,
    pub(super) channel_type: Option<String>,
    pub(super) user: Option<String>,
    pub(super) bot_id: Option<String>,
    #[serde(default)]
    pub(super) text: String,
    pub(super) ts: Option<String>,
    pub(super) thread_ts: Option<String>,
    #[serde(default)]
    pub(super) files: Vec<EventFile>,
}

#[derive(Debug, Deserialize)]
pub(super) struct EventFile {
    pub(super) id: String,
    pub(super) name: Option<String>,
}

/// A pressed button.
#[derive(Debug, Deserialize)]
pub(super) struct BlockActions {
    pub(super) user: ActingUser,
    pub(super) team: Option<IdOnly>,
    pub(super) channel: Option<IdOnly>,
    pub(super) message: Option<ActionMessage>,
    #[serde(default)]
    pub(super) actions: Vec<Action>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ActingUser {
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct IdOnly {
    pub(super) id: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct ActionMessage {
    pub(super) ts: String,
    pub(super) thread_ts: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Action {
    pub(super) value: Option<String>,
    pub(super) action_ts: Option<String>,
}
