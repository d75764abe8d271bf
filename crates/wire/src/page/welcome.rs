//! The welcome content of an empty chat, and its prompts.

use super::properties::{as_text, text};
use serde::Serialize;
use serde_json::{Map, Value};

/// The welcome content of an empty chat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Welcome {
    /// The URL of a picture, or one or two characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// The heading.
    pub title: String,
    /// A sentence below the heading.
    pub description: String,
    /// Whether it has a background colour.
    #[serde(skip_serializing_if = "super::chat::is_false")]
    pub filled: bool,
    /// Prompts to click; a click sends one unchanged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<Prompt>,
    /// Groups of prompts; a click puts one into the composer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tracks: Vec<PromptGroup>,
}

/// A prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Prompt {
    /// The key for the page's events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The text that is shown and sent.
    pub label: String,
    /// A line below the text, which is not sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The URL of a picture, or one or two characters, before the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
}

/// A group of prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PromptGroup {
    /// The heading of the group.
    pub label: String,
    /// The prompts.
    pub prompts: Vec<Prompt>,
}

impl From<&str> for Prompt {
    fn from(label: &str) -> Self {
        Self { label: label.to_owned(), ..Self::default() }
    }
}

impl Prompt {
    fn read(own: &Value) -> Option<Self> {
        let Value::Object(own) = own else { return as_text(own).map(|label| Self { label, ..Self::default() }) };
        let (key, description, icon) = (text(own, "key"), text(own, "description"), text(own, "icon"));
        Some(Self { key, label: text(own, "label")?, description, icon })
    }
}

/// Reads a list of prompts: texts, or objects with a `label`.
pub fn prompts(list: &Value) -> Vec<Prompt> {
    list.as_array().into_iter().flatten().filter_map(Prompt::read).collect()
}

impl Welcome {
    pub(super) fn read(own: &Map<String, Value>) -> Self {
        let track = |track: &Value| {
            let track = track.as_object()?;
            Some(PromptGroup { label: text(track, "label")?, prompts: track.get("prompts").map(prompts)? })
        };
        let tracks = own.get("tracks").and_then(Value::as_array).into_iter().flatten();
        Self {
            icon: text(own, "icon"),
            title: text(own, "title").unwrap_or_default(),
            description: text(own, "description").unwrap_or_default(),
            filled: text(own, "variant").as_deref() == Some("filled"),
            prompts: own.get("prompts").map(prompts).unwrap_or_default(),
            tracks: tracks.filter_map(track).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn welcome_is_read() {
        let own = json!({ "icon": "★", "title": "Hi", "description": "", "variant": "filled",
            "prompts": ["a", { "label": "b", "description": "more", "icon": "→" }, { "description": "nothing" }, null],
            "tracks": [{ "label": "Orders", "prompts": [7] }, { "label": "none" }] });
        assert_eq!(
            serde_json::to_value(Welcome::read(own.as_object().unwrap())).unwrap(),
            json!({ "icon": "★", "title": "Hi", "description": "", "filled": true,
                "prompts": [{ "label": "a" }, { "label": "b", "description": "more", "icon": "→" }],
                "tracks": [{ "label": "Orders", "prompts": [{ "label": "7" }] }] })
        );
        assert_eq!(Welcome::read(&Map::new()), Welcome::default());
    }
}
