//! Where a chat stands on its page (L-79, L-88).

use super::properties::text;
use serde::Serialize;
use serde_json::{Map, Value};

/// Where a chat stands on its page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Display {
    /// Beside the rest of the page.
    #[default]
    Inline,
    /// Over the page, opened by a button that floats on it: see [`Drawer`].
    Drawer,
    /// On the whole page; what would stand beside it opens from the bar.
    Page,
}

impl Display {
    pub(super) fn read(properties: &Map<String, Value>) -> Self {
        match text(properties, "display").as_deref() {
            Some("drawer") => Self::Drawer,
            Some("page") => Self::Page,
            _ => Self::Inline,
        }
    }

    /// Whether it is the one that holds without a word in the config.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The drawer of a chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Drawer {
    /// The side that it comes from.
    pub placement: Placement,
    /// In pixels; on a narrow screen it takes the whole width.
    pub width: u32,
    /// What it is called, also on the button that opens it; empty: as the locale calls a chat.
    pub title: String,
}

/// A side of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Where lines begin, in a language that is written from the left.
    Left,
    /// The other one.
    #[default]
    Right,
}

impl Placement {
    /// As it is written in a config.
    pub fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

impl Default for Drawer {
    fn default() -> Self {
        Self { placement: Placement::Right, width: 400, title: String::new() }
    }
}

impl Drawer {
    pub(super) fn read(own: &Map<String, Value>) -> Self {
        let default = Self::default();
        let width = own.get("width").and_then(Value::as_u64).and_then(|width| u32::try_from(width).ok());
        Self {
            placement: if text(own, "placement").as_deref() == Some("left") {
                Placement::Left
            } else {
                Placement::Right
            },
            width: width.unwrap_or(default.width),
            title: text(own, "title").filter(|title| !title.is_empty()).unwrap_or(default.title),
        }
    }

    /// Whether it is the one that holds without a word in the config.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::page::AgentChatProperties;
    use serde_json::{Value, json};

    #[test]
    fn where_a_chat_stands() {
        let check = |written: Value, expected: Value| {
            let read = AgentChatProperties::read(written.as_object().unwrap());
            assert_eq!(json!([read.display, read.drawer]), expected, "{written}");
        };
        let drawer = json!({ "placement": "right", "width": 400, "title": "" });
        check(json!({}), json!(["inline", drawer]));
        check(json!({ "display": "page" }), json!(["page", drawer]));
        check(json!({ "display": "drawer", "drawer": { "title": "" } }), json!(["drawer", drawer]));
        let own = json!({ "placement": "left", "width": 520, "title": "Help" });
        check(json!({ "display": "drawer", "drawer": own }), json!(["drawer", own]));
    }
}
