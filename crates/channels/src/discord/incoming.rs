//! Reads what people send in Discord.

use super::types::{Attachment, Interaction, Message, User};
use crate::messenger::{
    BotAccount, ChatPlace, Incoming, IncomingFile, MAX_DATA, ReadUpdate, bang_command, person_name,
};
use crate::receive::linking::start_code;
use serde::Deserialize;
use serde_json::Value;

/// The most files of a message that are attached.
const MAX_FILES: usize = 10;
/// The longest address of a file, and the longest token of an interaction, in bytes.
const MAX_TEXT: usize = 1_000;
/// The types of messages that people write: a message, and a reply.
const MESSAGES: [u64; 2] = [0, 19];
/// The types of interactions: a command, and a pressed button.
const COMMAND: u64 = 2;
const PRESS: u64 = 3;

/// A parsed event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadEvent {
    pub(crate) update: ReadUpdate,
    /// The response that Discord expects.
    pub(crate) response: Option<Response>,
}

/// The target of the response to a command or to a pressed button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) id: String,
    pub(crate) application_id: String,
    pub(crate) token: String,
}

/// Reads an event of a kind. `None` if it is not for the bot: in servers, a message is if it mentions the bot or replies
/// to it.
pub(crate) fn read_event(kind: &str, event: &Value, bot: &BotAccount) -> Option<ReadEvent> {
    match kind {
        "MESSAGE_CREATE" => {
            let update = read_message(Message::deserialize(event).ok()?, bot)?;
            Some(ReadEvent { update, response: None })
        }
        "INTERACTION_CREATE" => read_interaction(Interaction::deserialize(event).ok()?),
        _ => None,
    }
}

fn read_message(message: Message, bot: &BotAccount) -> Option<ReadUpdate> {
    let is_person = !message.author.bot && message.webhook_id.is_none();
    if !is_person || !MESSAGES.contains(&message.kind) {
        return None;
    }
    let update_id = number(&message.id)?;
    let (person_id, channel) = (id(message.author.id.clone())?, id(message.channel_id)?);
    let is_private = message.guild_id.is_none();
    let files: Vec<_> = message.attachments.into_iter().take(MAX_FILES).filter_map(file).collect();
    if message.content.is_empty() && files.is_empty() {
        return None;
    }
    let is_mentioned = message.mentions.iter().any(|user| user.id == bot.id);
    let text = bang_command(read_text(&message.content, &message.mentions, &bot.id));
    let is_own = |author: &Option<User>| author.as_ref().is_some_and(|author| author.id == bot.id);
    let replied = message.referenced_message.filter(|replied| is_own(&replied.author));
    // A code is deleted wherever it is read by others, too.
    let is_addressed = is_private || is_mentioned || replied.is_some() || start_code(&text).is_some();
    if !is_addressed {
        return None;
    }
    let replies_to = replied.and_then(|replied| id(replied.id));
    Some(ReadUpdate {
        update_id,
        person_id,
        person_name: name(&message.author),
        is_private,
        is_addressed,
        begins_thread: false,
        incoming: Incoming::Message {
            chat: ChatPlace::new(channel, None).to_string(),
            text,
            // A forwarded message has no text of its own.
            is_forwarded: false,
            replies_to,
            files,
            mail: None,
        },
    })
}

fn read_interaction(interaction: Interaction) -> Option<ReadEvent> {
    let update_id = number(&interaction.id)?;
    let is_private = interaction.guild_id.is_none();
    let user = interaction.member.and_then(|member| member.user).or(interaction.user)?;
    let (person_id, channel) = (id(user.id.clone())?, id(interaction.channel_id?)?);
    let token = Some(interaction.token).filter(|token| is_token(token))?;
    let response = Response { id: id(interaction.id)?, application_id: id(interaction.application_id)?, token };
    let (chat, data) = (ChatPlace::new(channel, None).to_string(), interaction.data?);
    let incoming = match interaction.kind {
        COMMAND => {
            let options = data.options.iter().filter_map(|option| option.value.as_str());
            let words: Vec<&str> = std::iter::once(data.name.as_str()).chain(options).collect();
            Incoming::Message {
                chat,
                text: format!("/{}", words.join(" ")),
                is_forwarded: false,
                replies_to: None,
                files: Vec::new(),
                mail: None,
            }
        }
        PRESS => Incoming::Press {
            chat,
            press_id: format!("{}/{}", response.application_id, response.token),
            message_id: id(interaction.message?.id)?,
            data: data.custom_id.filter(|data| data.len() <= MAX_DATA && !data.contains('\0'))?,
        },
        _ => return None,
    };
    let person_name = name(&user);
    let (is_addressed, begins_thread) = (true, false);
    let update = ReadUpdate { update_id, person_id, person_name, is_private, is_addressed, begins_thread, incoming };
    Some(ReadEvent { update, response: Some(response) })
}

fn name(user: &User) -> String {
    let chosen = user.global_name.as_deref().filter(|name| !name.trim().is_empty());
    person_name(chosen.unwrap_or(&user.username))
}

/// Returns an id, if it is one: it is part of keys and of addresses.
fn id(id: String) -> Option<String> {
    number(&id).map(|_| id)
}

/// Returns the number of an id, in which later ones are larger.
fn number(id: &str) -> Option<i64> {
    let is_number = (1..=20).contains(&id.len()) && id.bytes().all(|digit| digit.is_ascii_digit());
    id.parse().ok().filter(|_| is_number)
}

/// Returns whether a text is a token of an interaction, which is part of addresses.
fn is_token(token: &str) -> bool {
    let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || b"-_=.".contains(&sign);
    (1..=MAX_TEXT).contains(&token.len()) && token.bytes().all(is_sign) && !token.starts_with('.')
}

/// Returns the text without the mentions of the bot, and with the names of others who are mentioned.
fn read_text(text: &str, mentions: &[User], bot_id: &str) -> String {
    let mut text = text.to_owned();
    for user in mentions.iter().filter(|user| id(user.id.clone()).is_some()) {
        let shown = if user.id == bot_id { String::new() } else { format!("@{}", name(user)) };
        for mark in [format!("<@{}>", user.id), format!("<@!{}>", user.id)] {
            text = text.replace(&mark, &shown);
        }
    }
    text.trim().to_owned()
}

fn file(file: Attachment) -> Option<IncomingFile> {
    let name = if file.filename.is_empty() { "file".to_owned() } else { file.filename };
    let is_stored = file.url.len() <= MAX_TEXT && !file.url.contains('\0') && !name.contains('\0');
    is_stored.then(|| IncomingFile { id: file.url, name: name.chars().take(200).collect() })
}

#[cfg(test)]
mod tests;
