//! Reads what people send in Feishu.

use super::card::ButtonValue;
use super::content::{Content, is_key, read_content, resolve_mentions};
use super::types::{CardAction, Event, EventHeader, MessageEvent};
use crate::messenger::{BotAccount, ChatPlace, Incoming, MAX_DATA, ReadUpdate, number_of_update};
use crate::receive::linking::start_code;
use serde::Deserialize;
use serde_json::Value;

/// The number of bits that distinguish the events of one millisecond.
const BITS: u32 = 20;
/// Microseconds per millisecond.
const MICROS: i64 = 1_000;
/// The first Unix time that cannot be in milliseconds: the year 5138. A larger one is in microseconds.
const FIRST_MICROS: i64 = 100_000_000_000_000;

/// Reads a decrypted event of an app. `None` if it is not for its bot: in groups, a message is if it mentions the bot. A
/// message in a thread may be, without a mention. Messages of bots are not.
pub(crate) fn read_event(event: &Value, bot: &BotAccount, app_id: &str) -> Option<ReadUpdate> {
    let Event { header, event } = Event::deserialize(event).ok()?;
    match header.event_type.as_str() {
        _ if header.app_id != app_id => None,
        "im.message.receive_v1" => read_message(MessageEvent::deserialize(event).ok()?, bot),
        "card.action.trigger" => read_press(&header, CardAction::deserialize(event).ok()?),
        _ => None,
    }
}

fn read_message(MessageEvent { sender, message }: MessageEvent, bot: &BotAccount) -> Option<ReadUpdate> {
    let person_id = key(sender.sender_id.open_id?).filter(|id| sender.sender_type == "user" && *id != bot.id)?;
    let (message_id, chat_id) = (key(message.message_id)?, key(message.chat_id)?);
    let Content { text, files } = read_content(&message_id, &message.message_type, &message.content)?;
    let (text, is_mentioned) = resolve_mentions(&text, &message.mentions, &bot.id);
    if text.contains('\0') {
        return None;
    }
    let is_private = message.chat_type == "p2p";
    let thread = match message.thread_id {
        // A message that begins a thread has no root.
        Some(_) => Some(key(message.root_id.filter(|root| !root.is_empty()).unwrap_or_else(|| message_id.clone()))?),
        None => None,
    };
    // A code is deleted wherever it is read by others, too.
    let is_addressed = is_private || is_mentioned || start_code(&text).is_some();
    if !is_addressed && thread.is_none() {
        return None;
    }
    // The person stands for the chat with them: a pressed button does not say which kind of chat it is in.
    let place = ChatPlace::new(if is_private { person_id.clone() } else { chat_id }, thread);
    Some(ReadUpdate {
        update_id: number_of_update(message.create_time.parse().ok()?, BITS, &message_id)?,
        person_id,
        // Their name is not sent.
        person_name: String::new(),
        is_private,
        is_addressed,
        begins_thread: false,
        incoming: Incoming::Message {
            chat: place.to_string(),
            text,
            is_forwarded: false,
            replies_to: message.parent_id.and_then(key),
            files,
            mail: None,
        },
    })
}

/// Reads a pressed button. One of a card that was forwarded to another chat is not read.
fn read_press(header: &EventHeader, press: CardAction) -> Option<ReadUpdate> {
    let person_id = key(press.operator.open_id?)?;
    let (message_id, chat_id) = (key(press.context.open_message_id)?, key(press.context.open_chat_id)?);
    let ButtonValue { data, place } = ButtonValue::deserialize(press.action.value).ok()?;
    let place = ChatPlace::parse(&place);
    let is_private = place.chat == person_id;
    let is_here = (is_private || place.chat == chat_id) && place.thread.as_deref().is_none_or(is_key);
    let data = Some(data).filter(|data| is_here && data.len() <= MAX_DATA && !data.contains('\0'))?;
    let time: i64 = header.create_time.parse().ok()?;
    let time = if time >= FIRST_MICROS { time / MICROS } else { time };
    Some(ReadUpdate {
        update_id: number_of_update(time, BITS, &header.event_id)?,
        person_name: String::new(),
        is_private,
        is_addressed: true,
        begins_thread: false,
        incoming: Incoming::Press { chat: place.to_string(), press_id: person_id.clone(), message_id, data },
        person_id,
    })
}

/// Returns an id, if it is one: it is part of keys and of addresses.
fn key(id: String) -> Option<String> {
    is_key(&id).then_some(id)
}

#[cfg(test)]
mod tests;
