//! The bot of a channel, of any messenger.

use super::{ApiError, BotAccount, Button, ChatPlace, Messenger, OpenedMail, OutgoingFile, Pace, Press};
use crate::discord::DiscordBot;
use crate::email::EmailBot;
use crate::feishu::FeishuBot;
use crate::markdown::Rendered;
use crate::section::{Discord, Feishu, Mailbox, Slack, Telegram};
use crate::slack::SlackBot;
use crate::telegram::TelegramBot;
use std::time::Instant;

/// The connection of a channel.
#[derive(Clone, Copy)]
pub(crate) enum Settings<'c> {
    Telegram(&'c Telegram),
    Slack(&'c Slack),
    Discord(&'c Discord),
    Feishu(&'c Feishu),
    Email(&'c Mailbox, &'c mail::Smtp),
}

impl Settings<'_> {
    pub(crate) fn messenger(self) -> Messenger {
        match self {
            Self::Telegram(_) => Messenger::Telegram,
            Self::Slack(_) => Messenger::Slack,
            Self::Discord(_) => Messenger::Discord,
            Self::Feishu(_) => Messenger::Feishu,
            Self::Email(..) => Messenger::Email,
        }
    }
}

/// A bot.
#[derive(Clone)]
pub(crate) enum Bot {
    Telegram(TelegramBot),
    Slack(SlackBot),
    Discord(DiscordBot),
    Feishu(FeishuBot),
    Email(EmailBot),
}

/// Calls a method that the bots of all chats have. A mail that was sent stays as it is.
macro_rules! call {
    ($bot:expr, $method:ident ( $($argument:expr),* )) => {
        match $bot {
            Bot::Email(_) => Ok(()),
            Bot::Telegram(bot) => bot.$method($($argument),*).await,
            Bot::Slack(bot) => bot.$method($($argument),*).await,
            Bot::Discord(bot) => bot.$method($($argument),*).await,
            Bot::Feishu(bot) => bot.$method($($argument),*).await,
        }
    };
}

impl Bot {
    /// Returns the bot of a connection. Its messages are sent at this pace.
    ///
    /// # Errors
    /// The certificates of the system cannot be read, or the URL is not one.
    pub(crate) fn new(settings: Settings<'_>, pace: Pace) -> Result<Self, ApiError> {
        Ok(match settings {
            Settings::Telegram(settings) => Self::Telegram(TelegramBot::new(settings, pace)?),
            Settings::Slack(settings) => Self::Slack(SlackBot::new(settings, pace)?),
            Settings::Discord(settings) => Self::Discord(DiscordBot::new(settings, pace)?),
            Settings::Feishu(settings) => Self::Feishu(FeishuBot::new(settings, pace)?),
            Settings::Email(mailbox, smtp) => Self::Email(EmailBot::new(mailbox, smtp)),
        })
    }

    pub(crate) fn messenger(&self) -> Messenger {
        match self {
            Self::Telegram(_) => Messenger::Telegram,
            Self::Slack(_) => Messenger::Slack,
            Self::Discord(_) => Messenger::Discord,
            Self::Feishu(_) => Messenger::Feishu,
            Self::Email(_) => Messenger::Email,
        }
    }

    /// Returns the id that distinguishes the numbers of its updates from those of other bots.
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Telegram(bot) => bot.id(),
            Self::Slack(_) => "slack",
            Self::Discord(_) => "discord",
            Self::Feishu(_) => "feishu",
            Self::Email(bot) => bot.address(),
        }
    }

    /// Returns the bot's own account.
    pub(crate) async fn account(&self) -> Result<BotAccount, ApiError> {
        match self {
            Self::Telegram(bot) => bot.account().await,
            Self::Slack(bot) => bot.account().await,
            Self::Discord(bot) => bot.account().await,
            Self::Feishu(bot) => bot.account().await,
            Self::Email(bot) => bot.account().await,
        }
    }

    /// Returns when a message to the chat need not wait.
    pub(crate) fn free_at(&self, place: &ChatPlace) -> Instant {
        match self {
            Self::Telegram(bot) => bot.pace().free_at(place),
            Self::Slack(bot) => bot.pace().free_at(place),
            Self::Discord(bot) => bot.pace().free_at(place),
            Self::Feishu(bot) => bot.pace().free_at(place),
            Self::Email(_) => Instant::now(),
        }
    }

    /// Sends a message, and returns its id. It is the only method that has another effect when it is repeated, unless the
    /// messenger knows a message that is sent again by its key.
    pub(crate) async fn send(
        &self,
        place: &ChatPlace,
        message: &Rendered,
        buttons: &[Vec<Button>],
        key: &str,
    ) -> Result<String, ApiError> {
        match self {
            Self::Telegram(bot) => bot.send(place, message, buttons).await,
            Self::Slack(bot) => bot.send(place, message, buttons).await,
            Self::Discord(bot) => bot.send(place, message, buttons, key).await,
            Self::Feishu(bot) => bot.send(place, message, buttons, key).await,
            Self::Email(_) => Err(no_chat()),
        }
    }

    /// Sends a message that only this person sees, if the messenger has such messages.
    pub(crate) async fn whisper(&self, place: &ChatPlace, person_id: &str, message: &Rendered) -> Result<(), ApiError> {
        match self {
            Self::Telegram(bot) => bot.send(place, message, &[]).await.map(drop),
            Self::Slack(bot) => bot.whisper(place, person_id, message).await,
            Self::Feishu(bot) => bot.whisper(place, person_id, message).await,
            Self::Discord(bot) => bot.send(place, message, &[], &crate::ids::new_id()).await.map(drop),
            Self::Email(_) => Err(no_chat()),
        }
    }

    /// Returns the name of a person whose name is not sent with what they send. In Feishu, it is their id if the app may not
    /// read their name.
    pub(crate) async fn person_name(&self, person_id: &str) -> String {
        let Self::Feishu(bot) = self else { return String::new() };
        let name = bot.person_name(person_id).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "the name of a person is not known");
            String::new()
        });
        if name.trim().is_empty() { person_id.to_owned() } else { name }
    }

    /// Replaces a message. One that its reader has deleted stays deleted.
    pub(crate) async fn edit(
        &self,
        place: &ChatPlace,
        message_id: &str,
        message: &Rendered,
        buttons: &[Vec<Button>],
    ) -> Result<(), ApiError> {
        call!(self, edit(place, message_id, message, buttons))
    }

    /// Deletes a message of the bot.
    pub(crate) async fn delete(&self, place: &ChatPlace, message_id: &str) -> Result<(), ApiError> {
        call!(self, delete(place, message_id))
    }

    /// Shows for a few seconds that the bot is typing. Bots of Slack and Feishu cannot.
    pub(crate) async fn show_typing(&self, place: &ChatPlace) -> Result<(), ApiError> {
        match self {
            Self::Telegram(bot) => bot.show_typing(place).await,
            Self::Slack(_) | Self::Feishu(_) | Self::Email(_) => Ok(()),
            Self::Discord(bot) => bot.show_typing(place).await,
        }
    }

    /// Acknowledges a pressed button, with a short text for the person who has pressed it.
    pub(crate) async fn acknowledge(&self, press: Press<'_>, text: &str) -> Result<(), ApiError> {
        match self {
            Self::Telegram(bot) => bot.acknowledge(press.id, text).await,
            Self::Slack(_) | Self::Discord(_) | Self::Feishu(_) if press.is_shown || text.is_empty() => Ok(()),
            Self::Slack(bot) => bot.whisper(press.place, press.id, &Rendered::plain(text)).await,
            Self::Feishu(bot) => bot.whisper(press.place, press.id, &Rendered::plain(text)).await,
            Self::Discord(bot) => bot.acknowledge(press.id, text).await,
            Self::Email(_) => Ok(()),
        }
    }

    /// Sends a file, and returns the id of its message. Repeated, it has another effect as [`Bot::send`].
    pub(crate) async fn send_file(&self, place: &ChatPlace, file: OutgoingFile, key: &str) -> Result<String, ApiError> {
        match self {
            Self::Telegram(bot) => bot.send_file(place, &file).await,
            Self::Slack(bot) => bot.send_file(place, file).await,
            Self::Discord(bot) => bot.send_file(place, &file, key).await,
            Self::Feishu(bot) => bot.send_file(place, &file, key).await,
            Self::Email(_) => Err(no_chat()),
        }
    }

    /// Downloads a file that a person has sent. `max` is the largest size in bytes. `opened` is the same for all
    /// files of a message, so that a mail is fetched once.
    pub(crate) async fn download(&self, file_id: &str, max: u64, opened: &mut OpenedMail) -> Result<Vec<u8>, ApiError> {
        match self {
            Self::Telegram(bot) => bot.download(file_id, max).await,
            Self::Slack(bot) => bot.download(file_id, max).await,
            Self::Discord(bot) => bot.download(file_id, max).await,
            Self::Feishu(bot) => bot.download(file_id, max).await,
            Self::Email(bot) => bot.download(file_id, max, opened).await,
        }
    }
}

/// Returns why nothing can be sent to a chat of a mailbox: mails answer mails.
fn no_chat() -> ApiError {
    ApiError::refused("a mail is sent as an answer")
}
