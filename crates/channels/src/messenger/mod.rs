//! Common code of all messengers: a bot with its methods, incoming messages, and chats.

mod bot;
mod commands;
mod download;
mod error;
mod incoming;
mod multipart;
mod outgoing;
mod pace;
mod place;
mod site;
mod tokens;
mod websocket;

pub(crate) use bot::{Bot, Settings};
pub(crate) use commands::COMMANDS;
pub(crate) use download::{OpenedMail, get_file, size_limit};
pub(crate) use error::{ApiError, Refusal, SendError};
pub(crate) use incoming::{
    BotAccount, Incoming, IncomingFile, MAX_DATA, MailHead, Person, ReadUpdate, bang_command, number_of_update,
    person_name,
};
pub(crate) use multipart::{fields, multipart};
pub(crate) use outgoing::{Button, OutgoingFile, Press};
pub(crate) use pace::{MAX_WAIT, Pace, Pacer};
pub(crate) use place::ChatPlace;
pub(crate) use site::{Site, authorization};
pub(crate) use websocket::{Received, WebSocket};

use crate::markdown::{Limits, Markup};

/// A messenger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Messenger {
    Telegram,
    Slack,
    Discord,
    Feishu,
    Email,
}

impl Messenger {
    /// Returns the name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Telegram => "Telegram",
            Self::Slack => "Slack",
            Self::Discord => "Discord",
            Self::Feishu => "Feishu",
            Self::Email => "E-mail",
        }
    }

    /// Returns how long a message may be. Telegram's limits are its own; Slack's are those that it documents for the
    /// text of a block, for which a whole message is far below the limit. Discord counts the marks of styles as well. Feishu's are of the
    /// whole request, 30 KB with the buttons of a card.
    pub(crate) const fn limits(self) -> Limits {
        match self {
            Self::Telegram => Limits { units: 4_096, entities: 100, markup: Markup::Beside },
            Self::Slack => Limits { units: 3_000, entities: 100, markup: Markup::Beside },
            Self::Discord => Limits { units: 2_000, entities: 200, markup: Markup::Discord },
            Self::Feishu => Limits { units: 24_000, entities: 1_000, markup: Markup::Feishu },
            // Of the arguments of an approval request.
            Self::Email => Limits { units: 50_000, entities: 100, markup: Markup::Beside },
        }
    }

    /// Returns how a command is written. In Slack, `/` begins commands of the app, which threads do not have.
    pub(crate) fn command(self, name: &str) -> String {
        match self {
            Self::Telegram | Self::Discord | Self::Feishu | Self::Email => format!("/{name}"),
            Self::Slack => format!("!{name}"),
        }
    }

    /// Returns the text that a user sends to be linked.
    pub(crate) fn link_command(self, code: &str) -> String {
        match self {
            Self::Telegram => format!("/start {code}"),
            // As a message: a command of Discord is not sent if it is pasted.
            Self::Slack | Self::Discord => format!("!link {code}"),
            Self::Feishu => format!("/link {code}"),
            Self::Email => format!("link {code}"),
        }
    }

    /// Returns how to talk to the bot where others are.
    pub(crate) const fn group_help(self) -> &'static str {
        match self {
            Self::Email => "A thread is a conversation: reply to go on, or write a new mail to begin another one.",
            Self::Telegram => "In groups, mention me or reply to me.",
            Self::Feishu => "In groups, mention me. Each group and each topic is a conversation.",
            Self::Discord => "In servers, mention me or reply to me. Each channel and each thread is a conversation.",
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
            (_, false) => "Write your answer here.",
            (_, true) => "Choose an answer, or write another one here.",
        }
    }

    /// Returns how large a file may be that the bot sends, in bytes. Telegram, Slack and Feishu take larger ones, which
    /// would fill the memory.
    pub(crate) const fn max_file(self) -> u64 {
        match self {
            Self::Telegram | Self::Slack | Self::Feishu => 20 << 20,
            Self::Discord | Self::Email => 10 << 20,
        }
    }

    /// Returns whether beyond `maxChats` the chat that was not used for the longest time is forgotten: each thread is one.
    pub(crate) const fn forgets_chats(self) -> bool {
        !matches!(self, Self::Telegram)
    }

    /// Returns whether a question is answered by the next message, too, not only by a reply to it.
    pub(crate) const fn takes_next_message(self) -> bool {
        !matches!(self, Self::Telegram)
    }

    /// Returns whether a stranger is told once how to be linked, and not once in each chat. In Slack and Feishu, only they
    /// see it, and in Slack each message in a channel is a chat. In a mailbox, each mail is.
    pub(crate) const fn greets_each_person(self) -> bool {
        matches!(self, Self::Slack | Self::Feishu | Self::Email)
    }
}
