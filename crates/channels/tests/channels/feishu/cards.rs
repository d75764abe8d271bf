//! How the stand-in of Feishu reads the messages of the bot.

use serde_json::{Value, json};

/// The largest request with a card, in bytes.
const MAX_CARD: usize = 30 << 10;

/// A message of the bot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BotMessage {
    /// The person or the group.
    pub(crate) chat: String,
    pub(crate) thread: Option<String>,
    /// The text of the card, as its reader sees it.
    pub(crate) text: String,
    /// The values of the buttons.
    pub(crate) buttons: Vec<Value>,
    /// The only user who sees it, if it is private.
    pub(crate) only: Option<String>,
}

/// Reads a card as Feishu does: its text as it is shown, and the values of its buttons.
pub(crate) fn read_card(body: &Value) -> Result<(String, Vec<Value>), i64> {
    if body.to_string().len() > MAX_CARD {
        return Err(230_025);
    }
    let card: Value = serde_json::from_str(body["content"].as_str().unwrap()).unwrap();
    assert_eq!((&card["schema"], &card["config"]["update_multi"]), (&json!("2.0"), &json!(true)));
    let (mut text, mut buttons) = (String::new(), Vec::new());
    for element in card["body"]["elements"].as_array().unwrap() {
        let columns = element["columns"].as_array().into_iter().flatten();
        let nested = columns.flat_map(|column| column["elements"].as_array().unwrap());
        for element in std::iter::once(element).chain(nested) {
            match element["tag"].as_str().unwrap() {
                "markdown" => text = shown(element["content"].as_str().filter(|text| !text.is_empty()).ok_or(230_099)?),
                "button" => buttons.push(element["behaviors"][0]["value"].clone()),
                "column_set" => {}
                _ => return Err(230_099),
            }
        }
    }
    assert_eq!(card["config"]["enable_forward"], buttons.is_empty(), "a card with buttons stays where it is");
    Ok((text, buttons))
}

/// Returns a Markdown text as its reader sees it, but for the marks of styles.
fn shown(markdown: &str) -> String {
    let mut text = markdown.replace("<br>", "\n").replace('\u{200b}', "");
    assert!(!text.contains(['<', '\u{0}']), "{text}");
    for sign in "<>*_~`[]\\|$#-+=.):&".chars() {
        text = text.replace(&format!("&#{};", u32::from(sign)), &sign.to_string());
    }
    text
}
