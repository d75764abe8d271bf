//! Two-way binding between a DOM control and a key of the page state.

use super::input::InputHandle;
use super::multi_select::{is_member, with_member};
use crate::prelude::*;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::web_sys;
use serde_json::Value;
use wire::page::BlockType;

/// Binds the `value` of an input's control to its key.
///
/// Does not use Leptos' `prop:value`, which would overwrite what the user typed, or the browser
/// restored, before the WASM was loaded.
pub(super) fn bind_text(input: &InputHandle, parse: fn(&str) -> Value) {
    bind(input, input.control_id(), PropertyCodec::Text(parse));
}

/// Binds the `checked` of an input's checkbox to its key.
pub(super) fn bind_checked(input: &InputHandle) {
    bind(input, input.control_id(), PropertyCodec::Checked);
}

/// Binds the `checked` of a checkbox to whether the input's list contains `member`.
pub(super) fn bind_member(input: &InputHandle, control_id: String, member: String) {
    bind(input, control_id, PropertyCodec::Member(member));
}

/// Converts between a property of a DOM control and the input's value.
enum PropertyCodec {
    Text(fn(&str) -> Value),
    Checked,
    Member(String),
}

impl PropertyCodec {
    fn property(&self) -> JsValue {
        JsValue::from_str(match self {
            Self::Text(_) => "value",
            Self::Checked | Self::Member(_) => "checked",
        })
    }

    /// Returns the input's value for the control's current property; `now` is the value in the page
    /// state.
    fn read(&self, property: &JsValue, now: &Value, input: &InputHandle) -> Value {
        match self {
            Self::Text(parse) => parse(&property.as_string().unwrap_or_default()),
            Self::Checked => Value::Bool(property.is_truthy()),
            // The control already agrees with the value. Other members of the list belong to other
            // controls.
            Self::Member(member) if is_member(now, member) == property.is_truthy() => now.clone(),
            Self::Member(member) => {
                with_member(now, member, property.is_truthy(), &untrack(|| input.properties.options()))
            }
        }
    }

    fn write(&self, value: &Value) -> JsValue {
        match self {
            Self::Text(_) => JsValue::from_str(&display_text(value)),
            Self::Checked => JsValue::from_bool(value.as_bool().unwrap_or(false)),
            Self::Member(member) => JsValue::from_bool(is_member(value, member)),
        }
    }
}

fn bind(input: &InputHandle, control_id: String, codec: PropertyCodec) {
    let input = input.clone();
    let mut adopted = false;
    Effect::new(move |_| {
        if input.kind() == BlockType::Select {
            // Tracked: when the options change, the browser resets the selection of the control.
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
            // Only when the meaning differs: replacing a half-typed `1.` by `1` would disturb the
            // user. A property of an element can always be set; nothing is lost if it cannot.
            let _ = js_sys::Reflect::set(&element, &property, &codec.write(&value));
        }
    });
}

/// Moves the focus to an element.
pub(crate) fn focus(id: &str) {
    let element = document().get_element_by_id(id);
    if let Some(element) = element.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
        // Fails only if the element is gone.
        let _ = element.focus();
    }
}

/// Returns the text that a control shows for a value; `null` is the empty text.
pub(crate) fn display_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => wire::json::text(other),
    }
}

/// Parses the text of a control: the empty text is `null`.
pub(crate) fn parse_text(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { Value::String(text.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use wire::page::parse_number;

    #[test]
    fn empty_text_is_null() {
        for (typed, expected) in [("", json!(null)), ("Ada", json!("Ada")), (" ", json!(" "))] {
            assert_eq!(parse_text(typed), expected);
            assert_eq!(display_text(&expected), typed);
        }
    }

    #[test]
    fn integers_and_floats_are_distinguished() {
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
