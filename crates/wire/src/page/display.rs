//! How a chat is placed on its page.

use super::properties::text;
use serde::Serialize;
use serde_json::{Map, Value};

/// How a chat is placed on its page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Display {
    /// Among the other blocks of the page.
    #[default]
    Inline,
    /// In an overlay that a floating button opens; see [`Drawer`].
    Drawer,
    /// On the whole page; other blocks open from the bar.
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

    /// Returns whether it is the default.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The settings of a chat's drawer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Drawer {
    /// The side from which it opens.
    pub placement: Placement,
    /// The width in pixels; on a narrow screen it takes the full width.
    pub width: u32,
    /// The title, also that of the button that opens it; if empty, the locale's word for a chat.
    pub title: String,
}

/// A side of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// The start of lines in a left-to-right language.
    Left,
    /// The end of lines in a left-to-right language.
    #[default]
    Right,
}

impl Placement {
    /// Returns the name in a config.
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

    /// Returns whether it is the default.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::page::AgentChatProperties;
    use serde_json::{Value, json};

    #[test]
    fn display_and_drawer_are_read() {
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
