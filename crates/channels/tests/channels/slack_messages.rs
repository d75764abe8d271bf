//! The people that the stand-in of Slack knows, and its reading of the bot's messages.

use serde_json::{Value, json};

/// A message of the bot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BotMessage {
    pub(crate) channel: String,
    pub(crate) thread: Option<String>,
    /// The text of the blocks.
    pub(crate) text: String,
    /// The values of the buttons.
    pub(crate) buttons: Vec<String>,
    /// The targets of its links.
    pub(crate) links: Vec<String>,
    /// The only user who sees it, if it is private.
    pub(crate) only: Option<String>,
}

impl BotMessage {
    /// Returns where it is, and who alone sees it.
    pub(crate) fn place(&self) -> String {
        let thread = self.thread.as_ref().map(|ts| format!("/{ts}")).unwrap_or_default();
        let only = self.only.as_ref().map(|only| format!(", only for {only}")).unwrap_or_default();
        format!("{}{thread}{only}", self.channel)
    }
}

/// Returns a person: `UADA` has the confirmed address of the account `ada@corp.test`.
pub(crate) fn user(id: &str) -> Result<Value, String> {
    let (team, is_confirmed, email) = match id {
        "UADA" => ("T1", true, "Ada@corp.test"),
        "UUNSURE" => ("T1", false, "ada@corp.test"),
        "UOTHER" => ("T2", true, "ada@corp.test"),
        _ => ("T1", true, "nobody@corp.test"),
    };
    Ok(json!({ "user": {
        "id": id, "team_id": team, "name": id, "is_email_confirmed": is_confirmed,
        "profile": { "real_name": "Ada Lovelace", "email": email },
    } }))
}

/// Reads a message as Slack does: with rich text whose elements are not empty, and without marks in the other text.
pub(crate) fn read_message(parameters: &Value) -> Result<BotMessage, String> {
    let fallback = parameters["text"].as_str().unwrap();
    assert!(!fallback.contains('<') && fallback.len() <= 4_000, "{fallback}");
    let mut message = BotMessage {
        channel: parameters["channel"].as_str().unwrap().to_owned(),
        thread: parameters["thread_ts"].as_str().map(str::to_owned),
        text: String::new(),
        buttons: Vec::new(),
        links: Vec::new(),
        only: parameters["user"].as_str().map(str::to_owned),
    };
    for block in parameters["blocks"].as_array().unwrap() {
        match block["type"].as_str().unwrap() {
            "rich_text" => {
                let containers = block["elements"].as_array().unwrap();
                let elements = containers.iter().flat_map(|container| container["elements"].as_array().unwrap());
                message.links = elements.filter_map(|element| element["url"].as_str().map(str::to_owned)).collect();
                let texts = containers.iter().map(container_text).collect::<Result<Vec<_>, _>>()?;
                message.text = texts.join("\n");
            }
            "actions" => {
                let values =
                    block["elements"].as_array().unwrap().iter().map(|button| button["value"].as_str().unwrap());
                message.buttons = values.map(str::to_owned).collect();
            }
            _ => return Err("invalid_blocks".to_owned()),
        }
    }
    if message.text.is_empty() || message.text.encode_utf16().count() > 3_100 {
        return Err("invalid_blocks".to_owned());
    }
    Ok(message)
}

fn container_text(container: &Value) -> Result<String, String> {
    let mut text = String::new();
    for element in container["elements"].as_array().filter(|all| !all.is_empty()).ok_or("invalid_blocks")? {
        let is_known = matches!(element["type"].as_str(), Some("text" | "link"));
        let part = element["text"].as_str().filter(|part| is_known && !part.is_empty());
        text.push_str(part.ok_or("invalid_blocks")?);
    }
    Ok(text)
}
