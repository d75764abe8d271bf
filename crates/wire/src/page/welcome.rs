//! The welcome screen of an empty chat, and its prompts.

use super::define::{choices, properties};
use super::property::Property;
#[cfg(feature = "schema")]
use super::schema::{Or, Text};
use serde_json::Value;

properties! {
    /// The welcome screen of an empty chat.
    #[derive(Eq)]
    pub struct Welcome {
        /// The icon above the heading: the address of an image (`/…` or `https://…`), or one or two
        /// characters.
        #[schemars(with = "Text")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub icon: Option<String>,
        /// The heading.
        pub title: String = String::new(),
        /// The text below the heading.
        pub description: String = String::new(),
        /// The style.
        #[schemars(extend("default" = WelcomeVariant::Borderless))]
        #[serde(skip_serializing_if = "WelcomeVariant::is_default")]
        pub variant: WelcomeVariant = WelcomeVariant::Borderless,
        /// Prompts to click; each is sent unchanged.
        #[schemars(with = "Vec<Or<Text, Prompt>>")]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub prompts: Vec<Prompt> = Vec::new(),
        /// Groups of prompts, of which one is open at a time. A click puts the prompt into the
        /// composer, where it can be edited.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub tracks: Vec<PromptGroup> = Vec::new(),
    }

    /// A group of prompts.
    #[derive(Eq)]
    pub struct PromptGroup {
        /// The label of the group.
        #[schemars(with = "Text")]
        pub label: String,
        /// The prompts.
        #[schemars(with = "Vec<Or<Text, Prompt>>")]
        pub prompts: Vec<Prompt>,
    }

    /// A prompt to click.
    #[derive(Eq)]
    #[text(label)]
    pub struct Prompt {
        /// The prompt's key in events. Default: events contain only the label.
        #[schemars(with = "Text")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub key: Option<String>,
        /// The text that is shown and sent.
        #[schemars(with = "Text")]
        pub label: String,
        /// A line below the label, which is not sent.
        #[schemars(with = "Text")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// The icon before the label: the address of an image (`/…` or `https://…`), or one or two
        /// characters.
        #[schemars(with = "Text")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub icon: Option<String>,
    }
}

choices! {
    /// The style of a welcome screen.
    #[schemars(extend("x-names" = "variant"))]
    pub enum WelcomeVariant {
        /// With a background of its own.
        Filled,
        /// On the background of the chat.
        Borderless,
    }
}

impl WelcomeVariant {
    fn is_default(&self) -> bool {
        *self == Self::Borderless
    }
}

impl From<&str> for Prompt {
    fn from(label: &str) -> Self {
        Self { label: label.to_owned(), ..Self::default() }
    }
}

/// Reads a list of prompts: texts, or objects with a `label`.
pub fn prompts(list: &Value) -> Vec<Prompt> {
    Vec::from_value(list).unwrap_or_default()
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
            json!({ "icon": "★", "title": "Hi", "description": "", "variant": "filled",
                "prompts": [{ "label": "a" }, { "label": "b", "description": "more", "icon": "→" }],
                "tracks": [{ "label": "Orders", "prompts": [{ "label": "7" }] }] })
        );
        assert_eq!(Welcome::read(&serde_json::Map::new()), Welcome::default());
    }
}
