//! The settings of the embed page, and the element with them.

use serde::Deserialize;
use web::admin::filters::{Choice, non_empty};
use web::html::escaped;

/// The most characters of a value.
const MAX_CHARS: usize = 300;
/// The most characters of a colour.
const MAX_COLOUR: usize = 120;
/// The functions that a colour may have, as in `public/assets/embed-frame.js`; a test compares them.
const COLOUR_FUNCTIONS: [&str; 12] =
    ["rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color", "color-mix", "light-dark"];

/// The query of the embed page and of its preview. Empty fields are not set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct EmbedSettings {
    /// The chat: `page/agent`.
    pub(super) chat: String,
    /// The address of the site, as it was entered.
    pub(super) site: String,
    pub(super) display: Display,
    pub(super) theme: Theme,
    pub(super) density: Density,
    pub(super) label: String,
    pub(super) accent: String,
    pub(super) background: String,
    pub(super) text: String,
    pub(super) radius: String,
    pub(super) font: String,
}

/// How the site shows the chat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Display {
    #[default]
    Inline,
    Drawer,
    Page,
}

impl Choice for Display {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Inline, "inline", "In the page"),
        (Self::Drawer, "drawer", "A button that opens it"),
        (Self::Page, "page", "The whole page"),
    ];
}

/// The theme of the chat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

impl Choice for Theme {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::System, "system", "The system's"), (Self::Light, "light", "Light"), (Self::Dark, "dark", "Dark")];
}

/// How much room there is between the parts of the chat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Density {
    Compact,
    #[default]
    Normal,
    Spacious,
}

impl Choice for Density {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Compact, "compact", "Compact"),
        (Self::Normal, "normal", "Normal"),
        (Self::Spacious, "spacious", "Spacious"),
    ];
}

/// A chat that other sites can embed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EmbeddableChat {
    /// The id of the page.
    pub(super) page: String,
    /// The id of the agent.
    pub(super) agent: String,
    /// The name of the page for people.
    pub(super) title: String,
}

impl EmbeddableChat {
    /// Returns its value in the query.
    pub(super) fn value(&self) -> String {
        format!("{}/{}", self.page, self.agent)
    }
}

impl EmbedSettings {
    /// Returns the attributes of the element, without defaults and values that are not valid.
    pub(super) fn attributes(&self, chat: &EmbeddableChat) -> Vec<(&'static str, String)> {
        let own = [("page", chat.page.clone()), ("agent", chat.agent.clone())];
        let choices = [
            ("display", self.display.name(), Display::default().name()),
            ("theme", self.theme.name(), Theme::default().name()),
            ("density", self.density.name(), Density::default().name()),
        ];
        let choices = choices.into_iter().filter(|(_, chosen, default)| chosen != default);
        let choices = choices.map(|(name, chosen, _)| (name, chosen.to_owned()));
        let texts = self.texts().into_iter().filter(|(name, value)| is_valid(name, value));
        own.into_iter().chain(choices).chain(texts).collect()
    }

    /// Returns a message for each value that is not valid.
    pub(super) fn problems(&self) -> Vec<String> {
        let wrong = self.texts().into_iter().filter(|(name, value)| !is_valid(name, value));
        let expected = |name| match name {
            "label" => "a short text",
            "radius" => "a length of at most two digits, such as 8px",
            "font" => "a list of fonts, such as Georgia, serif",
            _ => "a colour, such as #0d6b61",
        };
        wrong.map(|(name, value)| format!("{name}: “{value}” is not {}.", expected(name))).collect()
    }

    /// Returns the attributes with a text, if it is set.
    fn texts(&self) -> Vec<(&'static str, String)> {
        let all = [
            ("label", &self.label),
            ("accent", &self.accent),
            ("background", &self.background),
            ("text", &self.text),
            ("radius", &self.radius),
            ("font", &self.font),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, non_empty(Some(value))?))).collect()
    }
}

/// Returns whether a value looks valid. The frame (`public/assets/embed-frame.js`) checks it against CSS.
fn is_valid(name: &str, value: &str) -> bool {
    let has_only = |others: &str| value.chars().all(|char| char.is_alphanumeric() || others.contains(char));
    let is_short = value.chars().count() <= MAX_CHARS;
    is_short
        && match name {
            "label" => true,
            "radius" => is_length(value),
            "font" => has_only(" ,.-_\"'"),
            _ => has_only(" #.,%()/+-") && value.len() <= MAX_COLOUR && has_colour_functions(value),
        }
}

/// Returns whether a text has no functions but those of colours, each with both parentheses.
fn has_colour_functions(text: &str) -> bool {
    let mut before: Vec<_> = text.split('(').map(str::trim_end).collect();
    // After the last one there is no function.
    before.pop();
    let is_known = |text: &str| {
        let name = text.rsplit(|char: char| !char.is_ascii_alphanumeric() && char != '-').next().unwrap_or_default();
        COLOUR_FUNCTIONS.iter().any(|known| known.eq_ignore_ascii_case(name))
    };
    text.matches(')').count() == before.len() && before.into_iter().all(is_known)
}

/// Returns whether a text is a length with at most two digits before the point.
fn is_length(text: &str) -> bool {
    let number = ["px", "rem", "em"].iter().find_map(|unit| text.strip_suffix(unit));
    let is_number = |digits: &str, most: usize| {
        (1..=most).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    number.is_some_and(|number| match number.split_once('.') {
        Some((whole, rest)) => is_number(whole, 2) && is_number(rest, 3),
        None => is_number(number, 2),
    })
}

/// Returns the element `<script>` that loads the element of the chat from this server.
pub(super) fn script(server: &str) -> String {
    format!("<script type=\"module\" src=\"{}/embed.js\"></script>", escaped(server))
}

/// Returns the element of the chat.
pub(super) fn element(attributes: &[(&'static str, String)]) -> String {
    let attributes: String = attributes.iter().map(|(name, value)| format!(" {name}=\"{}\"", escaped(value))).collect();
    format!("<agent-chat{attributes}></agent-chat>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat() -> EmbeddableChat {
        EmbeddableChat { page: "desk".to_owned(), agent: "clerk".to_owned(), title: "Desk".to_owned() }
    }

    #[test]
    fn element_has_only_settings_that_differ_from_the_defaults() {
        let check = |settings: EmbedSettings, expected: &str| {
            assert_eq!(element(&settings.attributes(&chat())), expected);
            assert_eq!(settings.problems(), Vec::<String>::new());
        };
        check(EmbedSettings::default(), r#"<agent-chat page="desk" agent="clerk"></agent-chat>"#);
        let settings = EmbedSettings {
            display: Display::Drawer,
            theme: Theme::Dark,
            density: Density::Compact,
            label: " \"Help\" & <b> ".to_owned(),
            accent: "light-dark(#7a1fa2, rgb(90% 80% 70% / 0.5))".to_owned(),
            radius: "0.5rem".to_owned(),
            font: "\"Noto Serif\", serif".to_owned(),
            ..EmbedSettings::default()
        };
        check(
            settings,
            "<agent-chat page=\"desk\" agent=\"clerk\" display=\"drawer\" theme=\"dark\" density=\"compact\" \
             label=\"&quot;Help&quot; &amp; &lt;b>\" accent=\"light-dark(#7a1fa2, rgb(90% 80% 70% / 0.5))\" radius=\"0.5rem\" \
             font=\"&quot;Noto Serif&quot;, serif\"></agent-chat>",
        );
    }

    #[test]
    fn colours_have_the_functions_of_the_frame() {
        let frame = include_str!("../../../../public/assets/embed-frame.js");
        let list = frame.lines().find_map(|line| line.strip_prefix("const COLOUR_FUNCTIONS = ")).unwrap();
        let functions: Vec<String> = serde_json::from_str(list.trim_end_matches(';')).unwrap();
        assert_eq!(functions, COLOUR_FUNCTIONS);
    }

    #[test]
    fn values_that_are_not_valid_are_left_out() {
        let check = |name: &str, value: &str| {
            let settings: EmbedSettings = serde_json::from_value(serde_json::json!({ name: value })).unwrap();
            assert_eq!(settings.attributes(&chat()).len(), 2, "{name}: {value}");
            assert!(settings.problems()[0].starts_with(&format!("{name}: “{value}” is not a ")), "{name}: {value}");
        };
        check("accent", "url(https://example.com)");
        check("background", "var(--x)");
        check("background", "URL(//example.com)");
        check("accent", "light-dark(red, image-set(x))");
        check("accent", "rgb(1 2 3");
        check("accent", "(red)");
        check("accent", "ä(red)");
        check("accent", &"a".repeat(MAX_COLOUR + 1));
        check("text", "red; color: blue");
        check("radius", "100px");
        check("radius", "5");
        check("radius", ".5rem");
        check("font", "a;b");
        check("label", &"x".repeat(MAX_CHARS + 1));
    }
}
