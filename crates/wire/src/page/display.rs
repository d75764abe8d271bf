//! How a chat is placed on its page.

use super::define::{choices, properties};
#[cfg(feature = "schema")]
use super::schema::Text;

choices! {
    /// How a chat is placed on its page.
    #[derive(Default)]
    #[schemars(extend("x-names" = "display"))]
    pub enum Display {
        /// In the layout of the page.
        #[default]
        Inline,
        /// In a drawer over the page, which a floating button opens.
        Drawer,
        /// On the whole page. Other blocks open from the top bar.
        Page,
    }

    /// A side of the page.
    #[schemars(extend("x-names" = "placement"))]
    pub enum Placement {
        /// The left side.
        Left,
        /// The right side.
        Right,
        /// The upper edge, over the whole width.
        Top,
        /// The lower edge, over the whole width.
        Bottom,
    }
}

impl Display {
    /// Returns whether it is the default.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

properties! {
    /// Settings of a chat in a drawer.
    #[derive(Eq)]
    pub struct Drawer {
        /// The side of the page.
        pub placement: Placement = Placement::Right,
        /// The width in pixels, at the left or the right. On a narrow screen the drawer takes the whole width.
        #[schemars(range(min = 240, max = 2000))]
        pub width: u32 = 400,
        /// The height in pixels, at the top or the bottom; at most that of the window.
        #[schemars(range(min = 240, max = 2000))]
        pub height: u32 = 400,
        /// The title, which is also the label of the button. Default: `Chat`.
        #[schemars(with = "Text")]
        pub title: String = String::new(),
    }
}

impl Drawer {
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
        let drawer = json!({ "placement": "right", "width": 400, "height": 400, "title": "" });
        check(json!({}), json!(["inline", drawer]));
        check(json!({ "display": "page" }), json!(["page", drawer]));
        check(json!({ "display": "drawer", "drawer": { "title": "" } }), json!(["drawer", drawer]));
        for placement in ["left", "top", "bottom"] {
            let own = json!({ "placement": placement, "width": 520, "height": 300, "title": "Help" });
            check(json!({ "display": "drawer", "drawer": own }), json!(["drawer", own]));
        }
    }
}
