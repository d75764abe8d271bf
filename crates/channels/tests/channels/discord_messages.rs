//! How the stand-in of Discord reads messages of the bot.

use crate::discord::Guild;
use serde_json::{Value, json};

/// A message of the bot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BotMessage {
    pub(crate) channel: String,
    pub(crate) content: String,
    /// The data of the buttons.
    pub(crate) buttons: Vec<String>,
    /// Whether one person alone sees it.
    pub(crate) is_hidden: bool,
}

impl BotMessage {
    /// Returns where it is, and whether one person alone sees it.
    pub(crate) fn place(&self) -> String {
        format!("{}{}", self.channel, if self.is_hidden { ", only for one person" } else { "" })
    }
}

/// A status and a body.
pub(crate) type Answer = (u16, Value);

/// The function that answers a call.
pub(crate) type Effect = Box<dyn FnMut(&mut Guild) -> Answer + Send>;

/// Returns the function that answers a call.
pub(crate) fn effect(effect: impl FnMut(&mut Guild) -> Answer + Send + 'static) -> Option<Effect> {
    Some(Box::new(effect))
}

/// Returns the answer about a message that is not there.
pub(crate) fn unknown() -> Answer {
    (404, json!({ "message": "Unknown Message", "code": 10_008 }))
}

/// Reads a message as Discord does: with a text of at most 2,000 characters, and five rows of five buttons.
pub(crate) fn read_message(channel: &str, body: &Value) -> Result<BotMessage, Answer> {
    let content = body["content"].as_str().unwrap().to_owned();
    let rows = body["components"].as_array().unwrap();
    let buttons: Vec<&Value> = rows.iter().flat_map(|row| row["components"].as_array().unwrap()).collect();
    let is_valid = !content.trim().is_empty()
        && content.chars().count() <= 2_000
        && rows.len() <= 5
        && rows.iter().all(|row| row["type"] == 1 && (1..=5).contains(&row["components"].as_array().unwrap().len()))
        && buttons.iter().all(|button| {
            button["custom_id"].as_str().unwrap().len() <= 100
                && button["label"].as_str().unwrap().chars().count() <= 80
        });
    if !is_valid {
        return Err((400, json!({ "message": "Invalid Form Body", "code": 50_035 })));
    }
    // Mentions in the text of a model notify no user.
    assert_eq!(body["allowed_mentions"], json!({ "parse": [] }));
    let buttons = buttons.iter().map(|button| button["custom_id"].as_str().unwrap().to_owned()).collect();
    let is_hidden = body["flags"].as_u64().unwrap() & 64 != 0;
    Ok(BotMessage { channel: channel.to_owned(), content, buttons, is_hidden })
}
