//! Messages of people, in a form that is common to all messengers.

use super::commands::COMMANDS;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wire::file::visible_name;

/// The longest name of a person, in characters.
const MAX_NAME: usize = 64;

/// A command that is handled before the others.
const LINK: &str = "link";

/// The longest data of a button, in bytes.
pub(crate) const MAX_DATA: usize = 64;

/// A person as a messenger knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) name: String,
    /// The e-mail address that they have confirmed.
    pub(crate) verified_email: Option<String>,
    /// The workspace to which they belong.
    pub(crate) team_id: String,
}

/// The bot's own account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BotAccount {
    pub(crate) id: String,
    /// The name under which people find the bot.
    pub(crate) name: String,
}

/// A message, or a pressed button.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Incoming {
    /// A message.
    Message {
        /// The chat.
        chat: String,
        /// The text, without the mention of the bot. A command begins with `/`.
        text: String,
        /// Whether another person has written the text, and the sender has forwarded it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_forwarded: bool,
        /// The message to which it replies.
        replies_to: Option<String>,
        /// The attached files.
        files: Vec<IncomingFile>,
        /// The head of the mail, if it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mail: Option<MailHead>,
    },
    /// A pressed button.
    Press {
        /// The chat.
        chat: String,
        /// The id with which the press is acknowledged.
        press_id: String,
        /// The message with the button.
        message_id: String,
        /// The data of the button.
        data: String,
    },
}

/// The data of a mail that an answer needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MailHead {
    /// The address of the person.
    pub(crate) to: String,
    pub(crate) subject: String,
    pub(crate) message_id: String,
    /// The ids of the mails of the thread before it, the oldest first.
    pub(crate) references: Vec<String>,
}

/// A file that a person has sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IncomingFile {
    pub(crate) id: String,
    pub(crate) name: String,
}

impl Incoming {
    /// Returns the head of the mail, if it is one.
    pub(crate) fn mail(&self) -> Option<&MailHead> {
        match self {
            Self::Message { mail, .. } => mail.as_ref(),
            Self::Press { .. } => None,
        }
    }

    /// Returns the chat.
    pub(crate) fn chat(&self) -> &str {
        match self {
            Self::Message { chat, .. } | Self::Press { chat, .. } => chat,
        }
    }
}

/// A parsed update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadUpdate {
    /// The number of the update, which is the same when it is sent again. Later ones are larger.
    pub(crate) update_id: i64,
    pub(crate) person_id: String,
    pub(crate) person_name: String,
    /// Whether nobody else reads the chat.
    pub(crate) is_private: bool,
    /// Whether it is certainly for the bot. Otherwise it is for the bot if the person talks to the bot in
    /// this chat already.
    pub(crate) is_addressed: bool,
    /// Whether the answer begins a thread: before that, nobody sees messages that are whispered there.
    pub(crate) begins_thread: bool,
    pub(crate) incoming: Incoming,
}

/// Returns the number of an update: its time, with which later ones are larger, and some bits of a hash, which
/// distinguish updates of the same time. A repeated update has the same number. `None` if the time is beyond what a
/// number holds.
pub(crate) fn number_of_update(time: i64, bits: u32, what: &str) -> Option<i64> {
    let hash = Sha256::digest(what);
    let bytes = hash
        .iter()
        .take(usize::try_from(bits.div_ceil(8)).ok()?)
        .fold(0, |bytes, byte| (bytes << 8) | i64::from(*byte));
    let factor = 1_i64.checked_shl(bits)?;
    time.checked_mul(factor).map(|number| number | (bytes & (factor - 1)))
}

/// Returns a person's name without hidden characters.
pub(crate) fn person_name(name: &str) -> String {
    visible_name(name, MAX_NAME)
}

/// Returns a text whose command begins with `/`, where people write it with `!`: in Slack and Discord, `/` begins
/// commands of the app, which are not messages.
pub(crate) fn bang_command(text: String) -> String {
    let Some(command) = text.strip_prefix('!') else { return text };
    let name = command.split_whitespace().next().unwrap_or_default();
    let is_known = name == LINK || COMMANDS.iter().any(|(known, _)| *known == name);
    if is_known && command.starts_with(name) { format!("/{command}") } else { text }
}
