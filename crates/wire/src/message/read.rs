//! Deserializes messages, with serde's derive for the parts. Text, which most of a conversation is,
//! is read directly, without a [`Value`] in between: a server reads thousands of messages of a
//! conversation for each turn.
//!
//! Unknown fields and types are accepted. Optional fields of the wrong type are dropped.

use super::{Role, TextState, ToolPart, UiMessage, UiPart};
use crate::read::{Read, Unreadable, from_value};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
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

impl Read for UiMessage {
    fn read(value: Value) -> Result<Self, Unreadable> {
        from_value(value)
    }
}

struct MessageVisitor;

/// By hand, because errors name the field.
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

/// By hand, because the type of a tool part contains the tool's name.
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
        match (&*first, value.as_str()) {
            ("type", Some("text")) => Deserialize::deserialize(MapAccessDeserializer::new(map)).map(UiPart::Text),
            ("type", Some("reasoning")) => {
                Deserialize::deserialize(MapAccessDeserializer::new(map)).map(UiPart::Reasoning)
            }
            _ => {
                let mut fields = Map::new();
                fields.insert(first.into_owned(), value);
                while let Some((Key(key), value)) = map.next_entry()? {
                    fields.insert(key.into_owned(), value);
                }
                part(fields).map_err(A::Error::custom)
            }
        }
    }
}

/// Reads a part of any type from its fields.
fn part(fields: Map<String, Value>) -> Result<UiPart, Unreadable> {
    let text = |name| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    let (kind, tool_name) = (text("type").ok_or_else(|| Unreadable::missing_field("type"))?, text("toolName"));
    let fields = Value::Object(fields);
    Ok(match kind.as_str() {
        "text" => UiPart::Text(from_value(fields)?),
        "reasoning" => UiPart::Reasoning(from_value(fields)?),
        "file" => UiPart::File(from_value(fields)?),
        "source-url" => UiPart::SourceUrl(from_value(fields)?),
        "source-document" => UiPart::SourceDocument(from_value(fields)?),
        "step-start" => UiPart::StepStart,
        "dynamic-tool" => tool(tool_name.unwrap_or_default(), true, fields)?,
        kind if kind.starts_with("data-") => UiPart::Data(from_value(fields)?),
        kind => match kind.strip_prefix("tool-") {
            Some(name) => tool(name.to_owned(), false, fields)?,
            None => UiPart::Other(fields),
        },
    })
}

fn tool(tool_name: String, dynamic: bool, fields: Value) -> Result<UiPart, Unreadable> {
    let tool: ToolPart = from_value(fields)?;
    Ok(UiPart::Tool(Box::new(ToolPart { tool_name, dynamic, ..tool })))
}

/// A field name; copied only if it contains escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads an optional field; a value of the wrong type counts as absent.
pub(super) fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(d: D) -> Result<Option<T>, D::Error> {
    Value::deserialize(d).map(|value| from_value(value).ok())
}

/// Reads a list; a value of another type counts as an empty one.
pub(super) fn lenient_list<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Value>, D::Error> {
    lenient(d).map(Option::unwrap_or_default)
}

/// Reads a field whose `null` differs from an absent one.
pub(super) fn present<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(d).map(Some)
}

/// Reads the state of a text part. An unknown name is an error, another type counts as absent.
pub(super) fn text_state<'de, D: Deserializer<'de>>(d: D) -> Result<Option<TextState>, D::Error> {
    match Value::deserialize(d)? {
        name @ Value::String(_) => TextState::read(name).map(Some).map_err(D::Error::custom),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::json;

    #[test]
    fn errors_name_the_unreadable_field() {
        let check = |json: &str, expected: &str| {
            let error = serde_json::from_str::<UiMessage>(json).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{json}: {error}");
        };
        check(r#"{"id":7,"role":"user"}"#, "id: invalid type: integer `7`, expected a string");
        check(r#"{"id":"m","role":"robot"}"#, "role: unknown value `robot`");
        check(r#"{"id":"m"}"#, "missing field `role`");
        check(r#"{"id":"m","role":"user","parts":[{"type":"text"}]}"#, "parts: missing field `text`");
        check(r#"{"id":"m","role":"user","parts":{}}"#, "parts: invalid type: map, expected a sequence");
        check("[]", "invalid type: sequence, expected an object");
    }

    #[test]
    fn optional_fields_of_the_wrong_type_are_dropped() {
        let check = |json: Value, expected: Value| {
            let part: UiPart = serde_json::from_value(json).unwrap();
            assert_eq!(serde_json::to_value(part).unwrap(), expected);
        };
        check(
            json!({ "type": "text", "text": "x", "id": 7, "state": 7, "citations": {}, "providerMetadata": [] }),
            json!({ "type": "text", "text": "x" }),
        );
        check(
            json!({ "type": "file", "mediaType": "image/png", "url": "data:,", "filename": null }),
            json!({ "type": "file", "mediaType": "image/png", "url": "data:," }),
        );
        check(
            json!({ "type": "tool-a", "toolCallId": "c", "state": "output-denied", "title": 1, "input": null,
                "output": null, "preliminary": "yes", "approval": { "id": "a", "approved": 1, "terms": 7 } }),
            json!({ "type": "tool-a", "toolCallId": "c", "state": "output-denied", "output": null,
                "approval": { "id": "a" } }),
        );
    }

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

    /// Generates a part with its type at any place.
    fn any_part() -> impl Strategy<Value = String> {
        const FIELDS: &[(&str, &[&str])] = &[
            ("text", ODD),
            ("state", ODD),
            ("id", ODD),
            ("citations", ODD),
            ("providerMetadata", ODD),
            ("data", ODD),
            ("toolCallId", ODD),
            ("more", ODD),
        ];
        let kind =
            select(vec!["\"text\"", "\"reasoning\"", "\"step-start\"", "\"data-x\"", "\"tool-x\"", "\"later\"", "7"]);
        (kind, any_object(FIELDS), 0..8_usize).prop_map(|(kind, mut fields, place)| {
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
        /// Checks that the text of a message and its [`Value`] give the same result, which survives
        /// being written and read again.
        #[test]
        fn text_and_value_give_the_same_message(json in any_message()) {
            let value: Value = serde_json::from_str(&json).unwrap();
            let message = serde_json::from_str::<UiMessage>(&json).ok();
            prop_assert_eq!(&UiMessage::read(value).ok(), &message, "{}", json);
            if let Some(message) = message {
                let written = serde_json::to_string(&message).unwrap();
                prop_assert_eq!(serde_json::from_str::<UiMessage>(&written).unwrap(), message, "{}", json);
            }
        }

        /// Checks that the place of the type does not matter.
        #[test]
        fn the_type_of_a_part_may_follow_its_fields(json in any_part()) {
            let Value::Object(mut fields) = serde_json::from_str::<Value>(&json).unwrap() else { unreachable!() };
            let kind = fields.shift_remove("type").unwrap();
            fields.shift_insert(0, "type".to_owned(), kind);
            let in_front = UiPart::deserialize(Value::Object(fields)).ok();
            let part = serde_json::from_str::<UiPart>(&json).ok();
            match (&part, &in_front) {
                // Parts of unknown types are kept as they are, and so is the order of their fields.
                (Some(UiPart::Other(part)), Some(UiPart::Other(in_front))) => prop_assert_eq!(part, in_front),
                _ => prop_assert_eq!(part, in_front, "{}", json),
            }
        }
    }
}
