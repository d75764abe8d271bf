//! Reads what people send in Telegram.

use super::types::{Account, Entity, Message, Replied, Update, UpdateId};
use crate::messenger::{BotAccount, ChatPlace, Incoming, IncomingFile, MAX_DATA, ReadUpdate, person_name};
use serde::Deserialize;
use serde_json::Value;

/// Returns the number of an update; `None` if it is damaged.
pub(crate) fn update_id(update: &Value) -> Option<i64> {
    UpdateId::deserialize(update).ok().map(|read| read.update_id)
}

/// Reads an update. `None` if it is not for the bot: in groups, a message is if it mentions the bot or replies to it.
pub(crate) fn read_update(update: &Value, bot: &BotAccount) -> Option<ReadUpdate> {
    let update_id = update_id(update)?;
    let Update { message, callback_query } = Update::deserialize(update).ok()?;
    if let Some(press) = callback_query {
        let message = press.message?;
        let data = press.data.filter(|data| data.len() <= MAX_DATA && !data.contains('\0'))?;
        let incoming = Incoming::Press {
            chat: place(&message).to_string(),
            press_id: press.id,
            message_id: message.message_id.to_string(),
            data,
        };
        return Some(read(update_id, &press.from, message.chat.kind == "private", incoming));
    }
    let message = message?;
    let from = message.from.as_ref().filter(|from| !from.is_bot)?;
    let is_private = match message.chat.kind.as_str() {
        "private" => true,
        "group" | "supergroup" => false,
        _ => return None,
    };
    let file = file(&message);
    let (text, entities) = match &message.text {
        Some(text) => (text.as_str(), &message.entities),
        None => (message.caption.as_deref().unwrap_or_default(), &message.caption_entities),
    };
    if text.is_empty() && file.is_none() {
        return None;
    }
    let (text, is_mentioned) = read_text(text, entities, bot);
    let is_reply = |replied: &Replied| replied.from.as_ref().is_some_and(|from| from.id.to_string() == bot.id);
    let replied = message.reply_to_message.as_deref().filter(|replied| is_reply(replied));
    if !is_private && !is_mentioned && replied.is_none() {
        return None;
    }
    let replies_to = replied.map(|replied| replied.message_id.to_string());
    let incoming = Incoming::Message {
        chat: place(&message).to_string(),
        text,
        is_forwarded: message.forward_origin.is_some() || message.forward_date.is_some() || message.via_bot.is_some(),
        replies_to,
        files: file.into_iter().collect(),
        mail: None,
    };
    Some(read(update_id, from, is_private, incoming))
}

fn read(update_id: i64, from: &Account, is_private: bool, incoming: Incoming) -> ReadUpdate {
    let name =
        [Some(from.first_name.as_str()), from.last_name.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let name = if name.trim().is_empty() { from.username.clone().unwrap_or_default() } else { name };
    ReadUpdate {
        update_id,
        person_id: from.id.to_string(),
        person_name: person_name(&name),
        is_private,
        is_addressed: true,
        begins_thread: false,
        incoming,
    }
}

fn place(message: &Message) -> ChatPlace {
    let thread = message.message_thread_id.filter(|_| message.is_topic_message);
    ChatPlace::new(message.chat.id.to_string(), thread.map(|thread| thread.to_string()))
}

/// Returns the text without the mentions of the bot, with `>` before the lines of quotations, and whether the bot is
/// mentioned.
fn read_text(text: &str, entities: &[Entity], bot: &BotAccount) -> (String, bool) {
    let units: Vec<u16> = text.encode_utf16().collect();
    let part = |entity: &Entity| {
        let part = units.get(entity.offset..entity.offset.checked_add(entity.length)?)?;
        Some(String::from_utf16_lossy(part))
    };
    let suffix = format!("@{}", bot.name);
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    for entity in entities {
        let Some(shown) = part(entity) else { continue };
        let end = entity.offset + entity.length;
        match entity.kind.as_str() {
            "mention" if shown.eq_ignore_ascii_case(&suffix) => cuts.push((entity.offset, end)),
            "text_mention" if entity.user.as_ref().is_some_and(|user| user.id.to_string() == bot.id) => {
                cuts.push((entity.offset, end))
            }
            // `/new@bot`: the command stays.
            "bot_command" if shown.to_ascii_lowercase().ends_with(&suffix.to_ascii_lowercase()) => {
                cuts.push((end - suffix.len(), end));
            }
            _ => {}
        }
    }
    let is_in = |spans: &[(usize, usize)], at: usize| spans.iter().any(|(from, to)| (*from..*to).contains(&at));
    let quotes =
        entities.iter().filter(|entity| matches!(entity.kind.as_str(), "blockquote" | "expandable_blockquote"));
    let quotes: Vec<_> = quotes.map(|quote| (quote.offset, quote.offset.saturating_add(quote.length))).collect();
    let mut kept: Vec<u16> = Vec::with_capacity(units.len());
    for (at, unit) in units.iter().enumerate() {
        let begins_line = at == 0 || units[at - 1] == u16::from(b'\n');
        // The line stays a quotation, also if it begins with a mention of the bot.
        if begins_line && is_in(&quotes, at) {
            kept.extend("> ".encode_utf16());
        }
        if !is_in(&cuts, at) {
            kept.push(*unit);
        }
    }
    (String::from_utf16_lossy(&kept).trim().to_owned(), !cuts.is_empty())
}

fn file(message: &Message) -> Option<IncomingFile> {
    if let Some(document) = &message.document {
        let name = document.file_name.clone().unwrap_or_else(|| "file".to_owned());
        return Some(IncomingFile { id: document.file_id.clone(), name: name.chars().take(200).collect() });
    }
    let largest = message.photo.iter().max_by_key(|size| size.width)?;
    Some(IncomingFile { id: largest.file_id.clone(), name: "photo.jpg".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(update: Value) -> Option<String> {
        let bot = BotAccount { id: "1".to_owned(), name: "HelpBot".to_owned() };
        let read = read_update(&update, &bot)?;
        let scope = if read.is_private { "private" } else { "group" };
        Some(format!(
            "{} {} {scope} {}",
            read.person_id,
            read.person_name,
            serde_json::to_string(&read.incoming).unwrap()
        ))
    }

    fn message(chat: &str, text: &str, more: Value) -> Value {
        let id = if chat == "private" { 7 } else { -7 };
        let mut message = json!({
            "message_id": 5, "from": { "id": 7, "is_bot": false, "first_name": "Ada\u{202e}" }, "date": 1,
            "chat": { "id": id, "type": chat }, "text": text,
        });
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "update_id": 9, "message": message })
    }

    #[test]
    fn messages_for_the_bot_are_read() {
        let mention = |offset: usize, length: usize, kind: &str| json!({ "entities": [{ "type": kind, "offset": offset, "length": length }] });
        insta::assert_snapshot!(check(message("private", "Hi", json!({}))).unwrap(), @r#"7 Ada private {"kind":"message","chat":"7","text":"Hi","repliesTo":null,"files":[]}"#);
        assert_eq!(check(message("group", "Hi", json!({}))), None);
        assert_eq!(check(message("channel", "Hi", json!({}))), None);
        insta::assert_snapshot!(check(message("group", "👋 @helpbot Hi", mention(3, 8, "mention"))).unwrap(), @r#"7 Ada group {"kind":"message","chat":"-7","text":"👋  Hi","repliesTo":null,"files":[]}"#);
        assert_eq!(check(message("group", "@otherbot Hi", mention(0, 9, "mention"))), None);
        insta::assert_snapshot!(check(message("supergroup", "/new@HelpBot", mention(0, 12, "bot_command"))).unwrap(), @r#"7 Ada group {"kind":"message","chat":"-7","text":"/new","repliesTo":null,"files":[]}"#);
        let reply = json!({ "reply_to_message": { "message_id": 3, "from": { "id": 1, "is_bot": true } }, "message_thread_id": 2, "is_topic_message": true });
        insta::assert_snapshot!(check(message("supergroup", "Yes", reply)).unwrap(), @r#"7 Ada group {"kind":"message","chat":"-7/2","text":"Yes","repliesTo":"3","files":[]}"#);
        assert_eq!(check(message("group", "a", mention(usize::MAX, 2, "mention"))), None);
        insta::assert_snapshot!(check(message("private", "I live\nin Oslo\nNo, in Rome", mention(0, 15, "blockquote"))).unwrap(), @r#"7 Ada private {"kind":"message","chat":"7","text":"> I live\n> in Oslo\nNo, in Rome","repliesTo":null,"files":[]}"#);
        let quoted_mention = json!({ "entities": [{ "type": "blockquote", "offset": 0, "length": 15 }, { "type": "mention", "offset": 0, "length": 8 }] });
        insta::assert_snapshot!(check(message("private", "@HelpBot I live\nNo", quoted_mention)).unwrap(), @r#"7 Ada private {"kind":"message","chat":"7","text":">  I live\nNo","repliesTo":null,"files":[]}"#);
        let forwarded = json!({ "forward_origin": { "type": "hidden_user", "sender_user_name": "Bob", "date": 1 } });
        insta::assert_snapshot!(check(message("private", "I live in Oslo", forwarded)).unwrap(), @r#"7 Ada private {"kind":"message","chat":"7","text":"I live in Oslo","isForwarded":true,"repliesTo":null,"files":[]}"#);
        let by_bot = json!({ "via_bot": { "id": 3, "is_bot": true } });
        insta::assert_snapshot!(check(message("private", "I live in Oslo", by_bot)).unwrap(), @r#"7 Ada private {"kind":"message","chat":"7","text":"I live in Oslo","isForwarded":true,"repliesTo":null,"files":[]}"#);
        let photo = json!({ "text": null, "photo": [{ "file_id": "s", "width": 1 }, { "file_id": "l", "width": 9 }], "caption": "See" });
        insta::assert_snapshot!(check(message("private", "", photo)).unwrap(), @r#"7 Ada private {"kind":"message","chat":"7","text":"See","repliesTo":null,"files":[{"id":"l","name":"photo.jpg"}]}"#);
        assert_eq!(check(json!({ "update_id": 9, "poll": {} })), None);
        let press = |data: &str| {
            let message = message("private", "", json!({}))["message"].clone();
            let from = json!({ "id": 7, "first_name": "Ada" });
            json!({ "update_id": 9, "callback_query": { "id": "p", "from": from, "message": message, "data": data } })
        };
        insta::assert_snapshot!(check(press("a:y")).unwrap(), @r#"7 Ada private {"kind":"press","chat":"7","pressId":"p","messageId":"5","data":"a:y"}"#);
        assert_eq!(check(press("a\0:y")), None);
        assert_eq!(check(press(&"a".repeat(65))), None);
    }
}
