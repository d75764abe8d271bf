//! The texts of the UI, and locales that replace them.
//!
//! The browser's code contains the English texts. The server builds a locale and sends it with the
//! page as pairs of number and text, limited to the texts that differ.

mod artifacts;
mod chat;
mod libraries;
mod navigation;
mod page;
mod workflows;

use litemap::LiteMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// A text of the UI. It refers to its English text, instead of being an index into a table, so that
/// each chunk of the browser's code contains the texts that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text(&'static Entry);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    number: u16,
    english: &'static str,
}

/// Generates a table of texts, numbered from `first`: a constant of [`Text`] with a name and an
/// English text for each entry.
macro_rules! texts {
    ($first:expr; $($name:ident = $english:literal,)*) => {
        use super::{Entry, Text};

        enum Position {
            $($name,)*
        }

        #[expect(non_upper_case_globals, reason = "a text is named like a variant of an enum")]
        impl Text {
            $(
                #[doc = concat!("“", $english, "”")]
                pub const $name: Self = Self(&Entry { number: $first as u16 + Position::$name as u16, english: $english });
            )*
        }

        pub(super) const TEXTS: &[Text] = &[$(Text::$name,)*];
        pub(super) const NAMES: &[&str] = &[$(stringify!($name),)*];
    };
}

use texts;

const OF_CHAT: usize = page::TEXTS.len() + chat::TEXTS.len();
const OF_WORKFLOWS: usize = OF_CHAT + workflows::TEXTS.len();
const OF_LIBRARIES: usize = OF_WORKFLOWS + libraries::TEXTS.len();
const OF_ARTIFACTS: usize = OF_LIBRARIES + artifacts::TEXTS.len();
const COUNT: usize = OF_ARTIFACTS + navigation::TEXTS.len();

/// The texts before those of libraries.
const TEXTS_BEFORE: [Text; OF_WORKFLOWS] = joined(&joined::<_, OF_CHAT>(page::TEXTS, chat::TEXTS), workflows::TEXTS);
const NAMES_BEFORE: [&str; OF_WORKFLOWS] = joined(&joined::<_, OF_CHAT>(page::NAMES, chat::NAMES), workflows::NAMES);
/// The texts of libraries, of artifacts and of navigation.
const LAST_TEXTS: [Text; COUNT - OF_WORKFLOWS] =
    joined(&joined::<_, { OF_ARTIFACTS - OF_WORKFLOWS }>(libraries::TEXTS, artifacts::TEXTS), navigation::TEXTS);
const LAST_NAMES: [&str; COUNT - OF_WORKFLOWS] =
    joined(&joined::<_, { OF_ARTIFACTS - OF_WORKFLOWS }>(libraries::NAMES, artifacts::NAMES), navigation::NAMES);

impl Text {
    /// All texts, in the order of their numbers.
    pub const ALL: &'static [Self] = &joined::<_, COUNT>(&TEXTS_BEFORE, &LAST_TEXTS);
    const NAMES: &'static [&'static str] = &joined::<_, COUNT>(&NAMES_BEFORE, &LAST_NAMES);

    /// Returns the number by which a page refers to the text.
    pub fn number(self) -> usize {
        usize::from(self.0.number)
    }

    /// Returns the English text.
    pub fn english(self) -> &'static str {
        self.0.english
    }

    /// Returns the key in a config, for example `tryAgain`.
    pub fn key(self) -> String {
        let name = Self::NAMES[self.number()];
        name[..1].to_ascii_lowercase() + &name[1..]
    }
}

/// Joins two slices with `N` elements in total.
const fn joined<T: Copy, const N: usize>(first: &[T], second: &[T]) -> [T; N] {
    let (mut all, mut at) = ([first[0]; N], 0);
    while at < N {
        all[at] = if at < first.len() { first[at] } else { second[at - first.len()] };
        at += 1;
    }
    all
}

/// Identifies this version of the table, since the numbers may mean other texts in another version
/// (FNV-1a over the names).
const VERSION: u32 = {
    let (mut hash, mut at) = (0x811c_9dc5_u32, 0);
    while at < Text::NAMES.len() {
        let (name, mut sign) = (Text::NAMES[at].as_bytes(), 0);
        while sign < name.len() {
            hash = (hash ^ name[sign] as u32).wrapping_mul(0x0100_0193);
            sign += 1;
        }
        hash = (hash ^ 0x2c).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
};

/// BCP 47 codes of the languages that are written from right to left.
const FROM_THE_RIGHT: [&str; 9] = ["ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur"];

/// A language with translated texts. Texts that it lacks fall back to those of the surrounding
/// locale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locale {
    /// The language's BCP 47 code; if absent, the language of the surrounding page.
    pub language: Option<String>,
    /// Whether it is written from right to left.
    pub is_rtl: bool,
    texts: LiteMap<u16, String>,
}

impl Locale {
    /// The languages that the server ships.
    pub const NAMES: [&'static str; 2] = ["en", "he"];

    /// Returns a shipped language with all its texts.
    pub fn shipped(name: &str) -> Option<Self> {
        let mut locale = Self::for_language(name);
        match name {
            "en" => Text::ALL.iter().for_each(|text| locale.set(*text, text.english())),
            "he" => {
                let words: HashMap<String, String> = serde_json::from_str(include_str!("locale/he.json")).ok()?;
                Text::ALL.iter().for_each(|text| locale.set(*text, words.get(&text.key()).map_or("", String::as_str)));
            }
            _ => return None,
        }
        Some(locale)
    }

    /// Creates a locale for a language, without any texts.
    pub fn for_language(language: &str) -> Self {
        let code = language.split('-').next().unwrap_or_default();
        Self { language: Some(language.to_owned()), is_rtl: FROM_THE_RIGHT.contains(&code), texts: LiteMap::new() }
    }

    /// Sets a text.
    pub fn set(&mut self, text: Text, words: impl Into<String>) {
        self.texts.insert(text.0.number, words.into());
    }

    /// Sets a text, as [`Self::set`], and returns the locale.
    #[must_use]
    pub fn with(mut self, text: Text, words: impl Into<String>) -> Self {
        self.set(text, words);
        self
    }

    /// Returns the texts with their numbers.
    pub fn texts(&self) -> impl Iterator<Item = (usize, &str)> {
        self.texts.iter().map(|(number, words)| (usize::from(*number), words.as_str()))
    }

    /// Removes the texts that equal the English ones.
    #[must_use]
    pub fn without_english(mut self) -> Self {
        self.texts.retain(|number, words| Text::ALL[usize::from(*number)].english() != words);
        self
    }

    /// Serializes the locale for the browser: `{language, rtl, table, texts: [[number, text], …]}`.
    pub fn to_value(&self) -> Value {
        json!({ "language": self.language, "rtl": self.is_rtl, "table": VERSION, "texts": self.texts.iter().collect::<Vec<_>>() })
    }

    /// Reads the output of [`Self::to_value`]. Texts of another version of the table are dropped,
    /// because their numbers mean other texts.
    pub fn read(own: &Map<String, Value>) -> Self {
        let mut texts = LiteMap::new();
        if own.get("table").and_then(Value::as_u64) == Some(u64::from(VERSION)) {
            for entry in own.get("texts").and_then(Value::as_array).into_iter().flatten() {
                let number = entry.get(0).and_then(Value::as_u64).and_then(|number| u16::try_from(number).ok());
                if let (Some(number), Some(words)) = (number, entry.get(1).and_then(Value::as_str)) {
                    texts.insert(number, words.to_owned());
                }
            }
        }
        Self {
            language: own.get("language").and_then(Value::as_str).map(str::to_owned),
            is_rtl: own.get("rtl") == Some(&Value::Bool(true)),
            texts,
        }
    }
}

impl Serialize for Locale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

/// Replaces the placeholders `{1}`, `{2}` and so on of a text.
pub fn fill_placeholders(words: &str, parts: &[&str]) -> String {
    let mut filled = String::new();
    let mut rest = words;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let number = after.bytes().next().map_or(0, |digit| usize::from(digit.wrapping_sub(b'1')));
        match (parts.get(number), after.get(1..2)) {
            (Some(part), Some("}")) => {
                filled.push_str(part);
                rest = &after[2..];
            }
            _ => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placeholders(words: &str) -> Vec<&str> {
        let mut places: Vec<_> = ["{1}", "{2}", "{3}"].into_iter().filter(|place| words.contains(place)).collect();
        places.sort_unstable();
        places
    }

    #[test]
    fn hebrew_translates_every_text_and_nothing_else() {
        let words: HashMap<String, String> = serde_json::from_str(include_str!("locale/he.json")).unwrap();
        for text in Text::ALL {
            let said = words.get(&text.key()).unwrap_or_else(|| panic!("`{}` has no words", text.key()));
            assert!(!said.trim().is_empty(), "`{}` is empty", text.key());
            if !text.english().is_empty() {
                assert_eq!(placeholders(said), placeholders(text.english()), "{}", text.key());
            }
        }
        assert_eq!(words.len(), Text::ALL.len());
        assert!(Text::ALL.iter().enumerate().all(|(number, text)| text.number() == number));
        assert_eq!(Text::Months.english().split(' ').count(), 12);
        assert_eq!(words["months"].split(' ').count(), 12);
    }

    #[test]
    fn locale_round_trips_through_json() {
        let own = Locale::for_language("de").with(Text::Send, "Senden").with(Text::MoreLeftOut, "{1} fehlen");
        assert_eq!(Locale::read(own.to_value().as_object().unwrap()), own);
        let mut other = own.to_value();
        other["table"] = 1.into();
        assert_eq!(Locale::read(other.as_object().unwrap()), Locale::for_language("de"));
        assert!(Locale::for_language("he-IL").is_rtl);
        assert!(!Locale::shipped("en").unwrap().is_rtl);
        assert_eq!(Locale::shipped("en").unwrap().without_english(), Locale::for_language("en"));
    }

    #[test]
    fn placeholders_are_filled_in() {
        fn check(words: &str, parts: &[&str], expected: &str) {
            assert_eq!(fill_placeholders(words, parts), expected);
        }
        check("{1} of {2}", &["1", "9"], "1 of 9");
        check("{2}/{1}", &["1", "9"], "9/1");
        check("{1}", &["{1}"], "{1}");
        check("a { b {3} {é", &["1"], "a { b {3} {é");
        check("", &["1"], "");
    }
}
