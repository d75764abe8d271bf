//! Keeps a control of the document and a key of the page state equal, in both directions.

use super::input::InputHandle;
use super::multi_select::{is_member, with_member};
use crate::prelude::*;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::web_sys;
use serde_json::Value;
use wire::page::BlockType;

/// Binds the `value` of an input's control to its key.
///
/// Not by Leptos' `prop:value`: that would overwrite what was typed, or restored by the browser, before the WASM had loaded.
pub(super) fn bind_text(input: &InputHandle, parse: fn(&str) -> Value) {
    bind(input, input.control_id(), Codec::Text(parse));
}

/// Binds the `checked` of an input's checkbox to its key.
pub(super) fn bind_checked(input: &InputHandle) {
    bind(input, input.control_id(), Codec::Checked);
}

/// Binds the `checked` of a checkbox to whether a text is in the list that the input holds.
pub(super) fn bind_member(input: &InputHandle, control_id: String, member: String) {
    bind(input, control_id, Codec::Member(member));
}

/// How a control's property reads as a value and back.
enum Codec {
    Text(fn(&str) -> Value),
    Checked,
    Member(String),
}

impl Codec {
    fn property(&self) -> JsValue {
        JsValue::from_str(match self {
            Self::Text(_) => "value",
            Self::Checked | Self::Member(_) => "checked",
        })
    }

    /// The input's value, given what the control shows and what the value is now.
    fn read(&self, property: &JsValue, now: &Value, input: &InputHandle) -> Value {
        match self {
            Self::Text(parse) => parse(&property.as_string().unwrap_or_default()),
            Self::Checked => Value::Bool(property.is_truthy()),
            // Equal if the control shows it as it is: what else is in the list is not this control's.
            Self::Member(member) if is_member(now, member) == property.is_truthy() => now.clone(),
            Self::Member(member) => {
                with_member(now, member, property.is_truthy(), &untrack(|| input.properties.options()))
            }
        }
    }

    fn write(&self, value: &Value) -> JsValue {
        match self {
            Self::Text(_) => JsValue::from_str(&text(value)),
            Self::Checked => JsValue::from_bool(value.as_bool().unwrap_or(false)),
            Self::Member(member) => JsValue::from_bool(is_member(value, member)),
        }
    }
}

fn bind(input: &InputHandle, control_id: String, codec: Codec) {
    let input = input.clone();
    let mut adopted = false;
    Effect::new(move |_| {
        if input.kind() == BlockType::Select {
            // Other options: the control has forgotten what is chosen.
            let _ = input.properties.value("options");
        }
        let value = input.state.get(&input.id);
        let Some(element) = document().get_element_by_id(&control_id) else { return };
        let property = codec.property();
        let shown = codec.read(&js_sys::Reflect::get(&element, &property).unwrap_or_default(), &value, &input);
        let first = !std::mem::replace(&mut adopted, true);
        if shown == value {
            return;
        }
        if first {
            input.state.set(&input.id, shown);
        } else {
            // Only when the meaning differs: writing `1` over a half-typed `1.` would fight the person. A property of an element
            // can always be set; nothing is lost if it cannot.
            let _ = js_sys::Reflect::set(&element, &property, &codec.write(&value));
        }
    });
}

/// Moves the focus to an element.
pub(crate) fn focus(id: &str) {
    let element = document().get_element_by_id(id);
    if let Some(element) = element.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
        // Only an element that is gone refuses.
        let _ = element.focus();
    }
}

/// A value as a control shows it: `null` is empty.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => wire::json::text(other),
    }
}

/// What a text control holds: its text, `null` when it is empty.
pub(crate) fn parse_text(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { Value::String(text.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use wire::page::parse_number;

    #[test]
    fn empty_is_null() {
        for (typed, expected) in [("", json!(null)), ("Ada", json!("Ada")), (" ", json!(" "))] {
            assert_eq!(parse_text(typed), expected);
            assert_eq!(text(&expected), typed);
        }
    }

    #[test]
    fn numbers_keep_their_kind() {
        for (typed, expected) in [
            ("3", json!(3)),
            ("-3", json!(-3)),
            ("2.5", json!(2.5)),
            ("1e3", json!(1000.0)),
            ("", json!(null)),
            ("-", json!(null)),
            ("inf", json!(null)),
        ] {
            assert_eq!(parse_number(typed), expected, "{typed}");
        }
    }
}
