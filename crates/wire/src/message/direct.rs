//! Deserializes messages directly, without building a [`Value`] of the whole first: a server reads
//! thousands of messages of a conversation for each turn, and most of their content is text. The
//! result is the same as that of [`crate::read::Read`], which the browser uses because it needs
//! less code.

use super::read::{self, TextFields};
use super::{Role, UiMessage, UiPart};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

impl<'de> Deserialize<'de> for UiMessage {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_map(MessageVisitor)
    }
}

impl<'de> Deserialize<'de> for UiPart {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_map(PartVisitor)
    }
}

struct MessageVisitor;

impl<'de> Visitor<'de> for MessageVisitor {
    type Value = UiMessage;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UiMessage, A::Error> {
        let (mut id, mut role, mut metadata, mut parts) = (None, None, None, None::<Vec<UiPart>>);
        while let Some(Key(key)) = map.next_key()? {
            let named = |error: A::Error| A::Error::custom(format!("{key}: {error}"));
            match &*key {
                "id" => id = Some(map.next_value::<String>().map_err(named)?),
                "role" => role = Some(map.next_value::<Role>().map_err(named)?),
                "metadata" => metadata = map.next_value::<Option<Value>>().map_err(named)?,
                "parts" => parts = map.next_value().map_err(named)?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(UiMessage {
            id: id.ok_or_else(|| A::Error::missing_field("id"))?,
            role: role.ok_or_else(|| A::Error::missing_field("role"))?,
            metadata,
            parts: parts.unwrap_or_default(),
        })
    }
}

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = UiPart;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    /// This crate writes the type first. If another program did not, the fields before it are
    /// collected.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UiPart, A::Error> {
        let Some(Key(first)) = map.next_key()? else { return Err(A::Error::missing_field("type")) };
        let value: Value = map.next_value()?;
        let read = match (&*first, value.as_str()) {
            ("type", Some("text")) => text(map)?.part().map(UiPart::Text),
            ("type", Some("reasoning")) => text(map)?.part().map(UiPart::Reasoning),
            _ => {
                let mut fields = Map::new();
                fields.insert(first.into_owned(), value);
                while let Some((Key(key), value)) = map.next_entry()? {
                    fields.insert(key.into_owned(), value);
                }
                read::part(Value::Object(fields))
            }
        };
        read.map_err(A::Error::custom)
    }
}

/// Reads the fields of a text part.
fn text<'de, A: MapAccess<'de>>(mut map: A) -> Result<TextFields, A::Error> {
    let mut fields = TextFields::default();
    while let Some(Key(key)) = map.next_key()? {
        match fields.named(&key) {
            Some(field) => *field = Some(map.next_value()?),
            // For a duplicate type, this reader would use the first and the generic one the last,
            // so it is rejected.
            None if key == "type" => return Err(A::Error::duplicate_field("type")),
            None => drop(map.next_value::<IgnoredAny>()?),
        }
    }
    Ok(fields)
}

/// A field name; copied only if it contains escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Read;
    use proptest::prelude::*;
    use proptest::sample::select;

    /// Generates an object with some of the fields, each once.
    fn any_object(fields: &'static [(&str, &[&str])]) -> impl Strategy<Value = Vec<String>> {
        let field = |(name, values): &(&'static str, &'static [&'static str])| {
            let name = *name;
            select(*values).prop_map(move |value| format!("\"{name}\":{value}"))
        };
        let fields = fields.iter().map(field).collect::<Vec<_>>();
        let count = fields.len();
        (fields, prop::sample::subsequence((0..count).collect::<Vec<_>>(), 0..=count))
            .prop_map(|(fields, which)| which.into_iter().map(|place| fields[place].clone()).collect())
    }

    fn object(fields: &[String]) -> String {
        format!("{{{}}}", fields.join(","))
    }

    const ODD: &[&str] = &["null", "true", "7", "\"x\"", "\"done\"", "\"a\\nb\"", "{\"a\":[1]}", "[{}]"];

    fn any_part() -> impl Strategy<Value = String> {
        const FIELDS: &[(&str, &[&str])] = &[
            ("text", ODD),
            ("state", ODD),
            ("id", ODD),
            ("citations", ODD),
            ("providerMetadata", ODD),
            ("data", ODD),
            ("more", ODD),
        ];
        let kind = select(vec!["\"text\"", "\"reasoning\"", "\"step-start\"", "\"data-x\"", "\"later\"", "7"]);
        (kind, any_object(FIELDS), 0..7_usize).prop_map(|(kind, mut fields, place)| {
            fields.insert(place.min(fields.len()), format!("\"type\":{kind}"));
            object(&fields)
        })
    }

    fn any_message() -> impl Strategy<Value = String> {
        const FIELDS: &[(&str, &[&str])] = &[
            ("id", &["\"m\"", "\"m\"", "7"]),
            ("role", &["\"user\"", "\"assistant\"", "\"robot\""]),
            ("metadata", ODD),
            ("more", ODD),
        ];
        let parts = prop_oneof![
            4 => prop::collection::vec(any_part(), 0..3).prop_map(|parts| format!("[{}]", parts.join(","))),
            1 => select(ODD).prop_map(str::to_owned),
        ];
        (any_object(FIELDS), parts, 0..5_usize).prop_map(|(mut fields, parts, place)| {
            fields.insert(place.min(fields.len()), format!("\"parts\":{parts}"));
            object(&fields)
        })
    }

    proptest! {
        /// Checks that this reader and the generic one give the same result for any input.
        #[test]
        fn direct_and_generic_readers_agree(json in any_message()) {
            let in_steps = UiMessage::read(serde_json::from_str(&json).unwrap()).ok();
            prop_assert_eq!(serde_json::from_str::<UiMessage>(&json).ok(), in_steps, "{}", json);
        }
    }
}
