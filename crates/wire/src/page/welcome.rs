//! What a chat says before anybody has said anything, and what it offers to say (L-80, L-87).

use super::properties::{as_text, text};
use serde::Serialize;
use serde_json::{Map, Value};

/// What an empty chat says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Welcome {
    /// A picture's address, or a character or two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// Its heading.
    pub title: String,
    /// A sentence below it.
    pub description: String,
    /// It stands on a ground of its own.
    #[serde(skip_serializing_if = "super::chat::is_false")]
    pub filled: bool,
    /// Prompts to click; each is sent as it stands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<Prompt>,
    /// Groups of prompts to put into the composer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tracks: Vec<Track>,
}

/// Something to say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Prompt {
    /// By which the page's events name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What is shown and said.
    pub label: String,
    /// A line below that, which is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A picture's address, or a character or two, before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
}

/// A group of prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Track {
    /// What they have in common.
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

/// Things to say as they are written: texts, or objects with a `label`.
pub fn prompts(list: &Value) -> Vec<Prompt> {
    list.as_array().into_iter().flatten().filter_map(Prompt::read).collect()
}

impl Welcome {
    pub(super) fn read(own: &Map<String, Value>) -> Self {
        let track = |track: &Value| {
            let track = track.as_object()?;
            Some(Track { label: text(track, "label")?, prompts: track.get("prompts").map(prompts)? })
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
    fn a_welcome_as_it_is_written() {
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
