//! The section `locale`, and the property `locale` of chats and lists of conversations: the
//! language and the texts of the UI.

use super::Context;
use crate::shape::pattern;
use config_source::{Node, PathStep};
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use wire::locale::{Locale, Text};

/// The language of the UI, or a language with texts of your own.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum LocaleEntry {
    /// A language that is included.
    Named(NamedLocale),
    /// A language with texts of your own.
    Words(LocaleWords),
}

/// A language that is included.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct NamedLocale(String);

impl JsonSchema for NamedLocale {
    fn schema_name() -> Cow<'static, str> {
        "NamedLocale".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Locale::NAMES, "x-names": "locale" })
    }
}

/// A language with texts that replace the included ones.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct LocaleWords {
    /// The language tag, such as `de` or `pt-BR`. The texts of an included language are used.
    /// Default: the language of the page, or English.
    language: Option<Language>,
    /// The writing direction. Default: that of the language.
    direction: Option<DirectionEntry>,
    /// Texts by name that replace the included ones.
    #[serde(default)]
    texts: TextsEntry,
}

/// A language tag.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Language(String);

impl JsonSchema for Language {
    fn schema_name() -> Cow<'static, str> {
        "Language".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": pattern::LANGUAGE })
    }
}

/// A writing direction.
#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("x-names" = "direction"))]
pub(crate) enum DirectionEntry {
    /// Left to right.
    Ltr,
    /// Right to left.
    Rtl,
}

/// Texts by name, with the placeholders `{1}` and `{2}`.
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct TextsEntry(IndexMap<String, String>);

impl JsonSchema for TextsEntry {
    fn schema_name() -> Cow<'static, str> {
        "Texts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let text = |text: &Text| {
            let about = match text.english() {
                "" => "The server's English message.".to_owned(),
                english => format!("“{english}”"),
            };
            (text.key(), json!({ "type": "string", "description": about }))
        };
        let properties: Map<String, Value> = Text::ALL.iter().map(text).collect();
        json_schema!({
            "type": "object",
            "description": "Texts by their names; `{1}` and `{2}` are filled in.",
            "properties": properties,
            "additionalProperties": false
        })
    }
}

/// Reads a locale.
pub(super) fn read(node: &Node, context: &mut Context<'_, '_>) -> Option<Locale> {
    let entry: LocaleEntry = context.decode(node)?;
    match entry {
        LocaleEntry::Named(NamedLocale(name)) => Locale::shipped(&name),
        LocaleEntry::Words(words) => Some(custom_locale(words, node, context)),
    }
}

fn custom_locale(words: LocaleWords, node: &Node, context: &mut Context<'_, '_>) -> Locale {
    let mut locale = match &words.language {
        Some(Language(language)) => Locale::shipped(language).unwrap_or_else(|| Locale::for_language(language)),
        None => Locale::default(),
    };
    if let Some(direction) = words.direction {
        locale.is_rtl = direction == DirectionEntry::Rtl;
        if words.language.is_none() {
            let help = "say the `language`, too, so that it is read out as one".to_owned();
            context.report.error(
                node.span_at(&[PathStep::Key("direction")]),
                "a direction without its language",
                Some(help),
            );
        }
    }
    for (key, said) in words.texts.0 {
        let Some(text) = Text::ALL.iter().find(|text| text.key() == key) else { continue };
        check_placeholders(*text, &said, &key, node, context);
        locale.set(*text, said);
    }
    locale
}

/// Reports placeholders of a text that are missing or have no value.
fn check_placeholders(text: Text, said: &str, key: &str, node: &Node, context: &mut Context<'_, '_>) {
    let at = node.span_at(&[PathStep::Key("texts"), PathStep::Key(key)]);
    for place in ["{1}", "{2}", "{3}"] {
        let (is_known, is_used) = (text.english().contains(place), said.contains(place));
        if is_used && !is_known && !text.english().is_empty() {
            let help = format!("in English it is “{}”", text.english());
            context.report.error(at, format!("nothing is filled in at `{place}` here"), Some(help));
        }
        if is_known && !is_used {
            let help = format!("in English it is “{}”", text.english());
            context.report.warning(
                at,
                format!("`{place}` is missing here, so what stands there is not said"),
                Some(help),
            );
        }
    }
    if text == Text::Months && said.split(' ').count() != 12 {
        context.report.error(at, "twelve months are written here, with a space between them", None);
    }
}
