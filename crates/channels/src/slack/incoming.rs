//! Reads what people send in Slack.

use super::text::read_text;
use super::types::{Action, ActionMessage, BlockActions, Event, EventFile, Payload};
use crate::messenger::{
    BotAccount, ChatPlace, Incoming, IncomingFile, MAX_DATA, ReadUpdate, bang_command, number_of_update, person_name,
};
use crate::receive::linking::start_code;
use serde::Deserialize;
use serde_json::Value;

/// The most files of a message that are attached.
const MAX_FILES: usize = 10;
/// The longest id, in bytes.
const MAX_ID: usize = 64;

/// Reads the body of a pressed button that comes over HTTP: a form with the payload as JSON.
pub(crate) fn read_form(body: &[u8]) -> Option<Value> {
    let (_, payload) = url::form_urlencoded::parse(body).find(|(key, _)| key == "payload")?;
    serde_json::from_str(&payload).ok()
}

/// Reads an event or a pressed button. `None` if it is not for the bot: in channels, a message is if it mentions the
/// bot. A message in a thread may be, without a mention. Messages of bots, edits and deletions are not.
pub(crate) fn read_payload(payload: &Value, bot: &BotAccount, team_id: Option<&str>) -> Option<ReadUpdate> {
    match Payload::deserialize(payload).ok()? {
        Payload::EventCallback { team_id: of, event } => {
            team_id.is_none_or(|team| team == of).then(|| read_message(event, bot)).flatten()
        }
        Payload::BlockActions(press) => {
            let is_here = team_id.is_none_or(|id| press.team.as_ref().is_some_and(|team| team.id == id));
            is_here.then(|| read_press(press)).flatten()
        }
    }
}

fn read_message(event: Event, bot: &BotAccount) -> Option<ReadUpdate> {
    let is_message = matches!(event.kind.as_str(), "message" | "app_mention");
    let is_new = matches!(event.subtype.as_deref(), None | Some("file_share" | "thread_broadcast"));
    if !is_message || !is_new || event.bot_id.is_some() {
        return None;
    }
    let (channel, ts) = (id(event.channel?)?, time_stamp(event.ts?)?);
    let person_id = id(event.user?).filter(|user| *user != bot.id && user != "USLACKBOT")?;
    let is_private = match event.channel_type.as_deref() {
        Some(kind) => kind == "im",
        // Mentions have no type. In a direct message, there are none.
        None => channel.starts_with('D'),
    };
    let files: Vec<_> = event.files.into_iter().take(MAX_FILES).filter_map(file).collect();
    if event.text.is_empty() && files.is_empty() {
        return None;
    }
    let (text, is_mentioned) = read_text(&event.text, &bot.id);
    let thread = match event.thread_ts {
        Some(thread) => Some(time_stamp(thread)?),
        None => None,
    };
    let text = bang_command(text);
    // A code is deleted wherever it is read by others, too.
    let is_addressed = is_private || is_mentioned || start_code(&text).is_some();
    if !is_addressed && thread.is_none() {
        return None;
    }
    let update_id = update_id(&ts, &channel)?;
    // In a channel, the answer begins a thread below the message.
    let begins_thread = !is_private && thread.is_none();
    let thread = if begins_thread { Some(ts) } else { thread };
    let chat = ChatPlace::new(channel, thread).to_string();
    // A shared message is an attachment, and the text is the person's own.
    let incoming = Incoming::Message { chat, text, is_forwarded: false, replies_to: None, files, mail: None };
    // Their name is not sent; nobody is linked by a message of theirs.
    let person_name = String::new();
    Some(ReadUpdate { update_id, person_id, person_name, is_private, is_addressed, begins_thread, incoming })
}

fn read_press(press: BlockActions) -> Option<ReadUpdate> {
    let (person_id, channel) = (id(press.user.id)?, id(press.channel?.id)?);
    let ActionMessage { ts, thread_ts } = press.message?;
    let ts = time_stamp(ts)?;
    let Action { value, action_ts } = press.actions.into_iter().next()?;
    let data = value.filter(|data| data.len() <= MAX_DATA && !data.contains('\0'))?;
    let thread = match thread_ts {
        // A message that has answers is the beginning of its own thread.
        Some(thread) if thread != ts => Some(time_stamp(thread)?),
        _ => None,
    };
    let update_id = update_id(&time_stamp(action_ts?)?, &format!("{channel} {person_id} {ts} {data}"))?;
    let is_private = channel.starts_with('D');
    let chat = ChatPlace::new(channel, thread).to_string();
    let incoming = Incoming::Press { chat, press_id: person_id.clone(), message_id: ts, data };
    let person_name = person_name(&press.user.name);
    let (is_addressed, begins_thread) = (true, false);
    Some(ReadUpdate { update_id, person_id, person_name, is_private, is_addressed, begins_thread, incoming })
}

/// Returns an id of Slack, if it is one: it is part of keys.
fn id(id: String) -> Option<String> {
    let is_id = (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|sign| sign.is_ascii_alphanumeric());
    is_id.then_some(id)
}

/// Returns a time stamp, such as `1700000000.000100`, if it is one.
fn time_stamp(ts: String) -> Option<String> {
    micros(&ts).map(|_| ts)
}

/// Returns the microseconds of a time stamp.
fn micros(ts: &str) -> Option<i64> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    let (seconds, fraction) = ts.split_once('.')?;
    if seconds.len() > 10 || fraction.len() != 6 || !is_number(seconds) || !is_number(fraction) {
        return None;
    }
    Some(seconds.parse::<i64>().ok()? * 1_000_000 + fraction.parse::<i64>().ok()?)
}

/// Returns the number of an update, with ten bits of the place in which it happens. A message that Slack sends again, also
/// as another event, has the same. It fits until the year 2255.
fn update_id(ts: &str, place: &str) -> Option<i64> {
    number_of_update(micros(ts)?, 10, place)
}

fn file(file: EventFile) -> Option<IncomingFile> {
    let name = file.name.filter(|name| !name.is_empty()).unwrap_or_else(|| "file".to_owned());
    Some(IncomingFile { id: id(file.id)?, name: name.chars().take(200).collect() })
}

#[cfg(test)]
mod tests;
