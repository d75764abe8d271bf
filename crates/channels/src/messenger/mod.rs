//! What is common to all messengers: a bot with its methods, what people send, and where.

mod bot;
mod download;
mod error;
mod incoming;
mod pace;
mod place;

pub(crate) use bot::{Bot, Button, Person, Press, Settings};
pub(crate) use download::{get_file, size_limit};
pub(crate) use error::{ApiError, Refusal, SendError};
pub(crate) use incoming::{BotAccount, Incoming, IncomingFile, MAX_DATA, ReadUpdate, person_name};
pub(crate) use pace::{MAX_WAIT, Pace, Pacer};
pub(crate) use place::ChatPlace;

use crate::markdown::Limits;

/// A messenger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Messenger {
    Telegram,
    Slack,
}

impl Messenger {
    /// Returns the name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Telegram => "Telegram",
            Self::Slack => "Slack",
        }
    }

    /// Returns how long a message may be. Telegram's limits are its own; Slack's are those that it documents for the
    /// text of a block, for which a whole message is far below the limit.
    pub(crate) const fn limits(self) -> Limits {
        match self {
            Self::Telegram => Limits { units: 4_096, entities: 100 },
            Self::Slack => Limits { units: 3_000, entities: 100 },
        }
    }

    /// Returns how a command is written. In Slack, `/` begins commands of the app, which threads do not have.
    pub(crate) fn command(self, name: &str) -> String {
        match self {
            Self::Telegram => format!("/{name}"),
            Self::Slack => format!("!{name}"),
        }
    }

    /// Returns what a user sends to be linked.
    pub(crate) fn link_command(self, code: &str) -> String {
        match self {
            Self::Telegram => format!("/start {code}"),
            Self::Slack => format!("!link {code}"),
        }
    }

    /// Returns how to talk to the bot where others are.
    pub(crate) const fn group_help(self) -> &'static str {
        match self {
            Self::Telegram => "In groups, mention me or reply to me.",
            Self::Slack => {
                "In channels, mention me; I answer in a thread, in which you need not mention me again. Each thread is a \
                 conversation."
            }
        }
    }

    /// Returns how a question is answered with a text of one's own.
    pub(crate) const fn answer_help(self, has_options: bool) -> &'static str {
        match (self, has_options) {
            (Self::Telegram, false) => "Reply to this message to answer.",
            (Self::Telegram, true) => "Choose an answer, or reply to this message with another one.",
            (Self::Slack, false) => "Write your answer here.",
            (Self::Slack, true) => "Choose an answer, or write another one here.",
        }
    }
}
