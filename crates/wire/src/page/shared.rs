//! The state that a page shares with an agent, and what the agent may write.

use super::property::Property;
use super::{AgentChatProperties, Block, Page};
use serde::Serialize;
use serde_json::{Map, Number, Value};

/// The name of the tool with which an agent writes the shared state.
pub const UPDATE_PAGE_STATE: &str = "update-page-state";

/// A key of the shared state with its type and target.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedField {
    /// The key that the agent sees.
    pub key: String,
    /// The key of the page state, or the path such as `cart.items`, to which a write goes; absent if
    /// the agent may only read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The type of its value.
    #[serde(flatten)]
    pub field_type: FieldType,
}

/// The type of a field's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum FieldType {
    /// Any text.
    Text,
    /// A finite number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// The value of one option.
    Choice {
        /// The allowed values.
        options: Vec<String>,
    },
    /// A list of option values.
    Choices {
        /// The allowed values; if empty, any.
        options: Vec<String>,
    },
    /// A date, `YYYY-MM-DD`.
    Date,
    /// Any value; the type is not declared.
    Any,
}

/// The keys of the shared state that the agent may only read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ReadOnlyKeys {
    /// `true`: every key. `false`: none.
    All(bool),
    /// These keys.
    Listed(Vec<String>),
}

impl ReadOnlyKeys {
    /// Whether the agent may only read the key.
    pub fn contains(&self, key: &str) -> bool {
        match self {
            Self::All(all) => *all,
            Self::Listed(keys) => keys.iter().any(|listed| listed == key),
        }
    }

    /// Reads the value of a property.
    pub(super) fn from_property(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(all) => Some(Self::All(*all)),
            keys => Vec::from_value(keys).map(Self::Listed),
        }
    }

    /// Whether the agent may write every key.
    pub(super) fn is_none(&self) -> bool {
        *self == Self::All(false)
    }
}

/// Returns the fields that a chat on this page shares.
///
/// `{_state: path}` is writable, unless the chat shares the key read-only; with the id of an input
/// it has that input's type. Any other expression is read-only, and so is a path into the value of
/// an input. The keys of a chat whose [state is one operator](shared_object) are not known here:
/// see [`object_fields`].
pub fn shared_fields(page: &Page, chat: &AgentChatProperties) -> Vec<SharedField> {
    if shared_object(&chat.shared_state).is_some() {
        return Vec::new();
    }
    let field = |(key, expression): (&String, &Value)| {
        let path = state_path(expression);
        let declared = path.and_then(|path| input_type(&page.blocks, path));
        let is_within_input = |path: &&str| {
            declared.is_none()
                && path.split_once('.').is_some_and(|(first, _)| input_type(&page.blocks, first).is_some())
        };
        let target = path.filter(|path| !chat.shared_state_read_only.contains(key) && !is_within_input(path));
        SharedField {
            key: key.clone(),
            target: target.map(str::to_owned),
            field_type: declared.unwrap_or(FieldType::Any),
        }
    };
    chat.shared_state.iter().map(field).collect()
}

/// Returns the operator that yields the whole shared state, such as `{_state: order}`, if it is not
/// a list of keys.
pub fn shared_object(shared: &Map<String, Value>) -> Option<(&str, &Value)> {
    let (name, argument) = shared.iter().next().filter(|_| shared.len() == 1)?;
    name.starts_with('_').then_some((name, argument))
}

/// Returns the fields of a chat whose shared state is one operator, by the keys of its value. With
/// `{_state: path}` they are writable, as places in that object.
pub fn object_fields(chat: &AgentChatProperties, value: &Map<String, Value>) -> Vec<SharedField> {
    let Some((name, argument)) = shared_object(&chat.shared_state) else { return Vec::new() };
    let path = argument.as_str().filter(|_| name == "_state");
    let field = |key: &String| {
        // A key with a dot is no single place.
        let is_writable = !key.contains('.') && !chat.shared_state_read_only.contains(key);
        let target = path.filter(|_| is_writable).map(|path| format!("{path}.{key}"));
        SharedField { key: key.clone(), target, field_type: FieldType::Any }
    };
    value.keys().take(MAX_OBJECT_FIELDS).map(field).collect()
}

/// The maximum number of fields of a shared object; more are left out.
const MAX_OBJECT_FIELDS: usize = 200;

/// Returns the path in `{_state: path}`.
fn state_path(expression: &Value) -> Option<&str> {
    match expression.as_object() {
        Some(operator) if operator.len() == 1 => operator.get("_state")?.as_str(),
        _ => None,
    }
}

fn input_type(blocks: &[Block], id: &str) -> Option<FieldType> {
    blocks.iter().find_map(|block| {
        let own = if block.id == id { block.kind.field_type(&block.properties) } else { None };
        own.or_else(|| input_type(&block.blocks, id))
    })
}

/// The result of an `update-page-state` call.
#[derive(Clone, Debug, PartialEq)]
pub struct PageStateUpdate {
    /// Keys and paths of the page state with their new values, in the order of the call.
    pub written: Vec<(String, Value)>,
    /// The output for the model: `{ok, written, ignored?, refused?: [{key, reason}]}`.
    pub output: Value,
}

/// Checks the input of an `update-page-state` call against the declared fields. Only declared keys
/// are written; an invalid value is refused with a reason for the model; `null` clears a field.
pub fn apply_updates(fields: &[SharedField], input: &Value) -> PageStateUpdate {
    let empty = Map::new();
    let updates = input.get("updates").and_then(Value::as_object).unwrap_or(&empty);
    let (mut written, mut keys, mut ignored, mut refused) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (key, value) in updates {
        let field = fields.iter().find(|field| field.key == *key);
        let Some((field, target)) = field.and_then(|field| Some((field, field.target.as_ref()?))) else {
            ignored.push(Value::from(key.as_str()));
            continue;
        };
        match field.field_type.accept(value) {
            Ok(value) => {
                written.push((target.clone(), value));
                keys.push(Value::from(key.as_str()));
            }
            Err(reason) => refused.push(serde_json::json!({ "key": key, "reason": reason })),
        }
    }
    let mut output = Map::new();
    output.insert("ok".to_owned(), Value::Bool(refused.is_empty()));
    output.insert("written".to_owned(), Value::Array(keys));
    for (name, list) in [("ignored", ignored), ("refused", refused)] {
        if !list.is_empty() {
            output.insert(name.to_owned(), Value::Array(list));
        }
    }
    PageStateUpdate { written, output: Value::Object(output) }
}

impl FieldType {
    /// Returns the value to store, or the reason why it is invalid.
    pub(crate) fn accept(&self, value: &Value) -> Result<Value, String> {
        let fits = match (self, value) {
            (_, Value::Null) | (Self::Any, _) => true,
            (Self::Text, value) => value.is_string(),
            (Self::Number, value) => value.is_number(),
            (Self::Boolean, value) => value.is_boolean(),
            (Self::Choice { options }, value) => value.as_str().is_some_and(|text| options.iter().any(|o| o == text)),
            (Self::Choices { options }, value) => value.as_array().is_some_and(|chosen| {
                let is_option = |text: &str| options.is_empty() || options.iter().any(|option| option == text);
                chosen.iter().all(|value| value.as_str().is_some_and(is_option))
            }),
            (Self::Date, value) => value.as_str().is_some_and(is_date),
        };
        if fits { Ok(value.clone()) } else { Err(format!("expected {}", self.expectation())) }
    }

    /// Describes the allowed values for a model.
    pub fn expectation(&self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Boolean => "true or false".to_owned(),
            Self::Choice { options } => format!("one of {}", options.join(", ")),
            Self::Choices { options } if options.is_empty() => "a list of texts".to_owned(),
            Self::Choices { options } => format!("a list of some of {}", options.join(", ")),
            Self::Date => "a date as YYYY-MM-DD".to_owned(),
            Self::Any => "anything".to_owned(),
        }
    }
}

/// Returns whether a text is a valid calendar date, `YYYY-MM-DD`.
pub fn is_date(text: &str) -> bool {
    let number = |range: std::ops::Range<usize>| {
        text.get(range).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?.parse::<u32>().ok()
    };
    let shaped = text.len() == 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-';
    let (Some(year), Some(month), Some(day)) = (number(0..4), number(5..7), number(8..10)) else { return false };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    shaped && (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// Parses the text of a number control: an integer where possible, `null` for an incomplete or
/// invalid number. It uses the JSON parser, because the standard library's parser of fractions
/// would noticeably enlarge the browser's download.
pub fn parse_number(text: &str) -> Value {
    let text = text.trim();
    let integer = text.parse::<i64>().ok().map(Number::from);
    let number = integer.or_else(|| crate::json::partial::number(text));
    number.map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields() -> Vec<SharedField> {
        let page: Page = serde_json::from_value(json!({ "id": "p", "blocks": [{ "id": "form", "type": "Card",
            "properties": { "title": "Form" }, "blocks": [
                { "id": "name", "type": "TextInput", "properties": {} },
                { "id": "age", "type": "NumberInput", "properties": {} },
                { "id": "on", "type": "Switch", "properties": {} },
                { "id": "day", "type": "DatePicker", "properties": {} },
                { "id": "kind", "type": "Select", "properties": { "options": [{ "value": "a", "label": "A" }, "b"] } },
                { "id": "tags", "type": "MultiSelect", "properties": { "options": ["x", "y"] } },
                { "id": "any", "type": "Select", "properties": { "options": { "_state": "list" } } }] }] }))
        .unwrap();
        let shared = json!({ "legal_name": { "_state": "name" }, "age": { "_state": "age" }, "on": { "_state": "on" },
            "day": { "_state": "day" }, "kind": { "_state": "kind" }, "tags": { "_state": "tags" }, "any": { "_state": "any" }, "fixed": 7,
            "all": { "_state": true }, "cart": { "_state": "cart.items" }, "first": { "_state": "tags.0" }, "plan": { "_state": "plan" } });
        let chat = AgentChatProperties {
            shared_state: shared.as_object().unwrap().clone(),
            shared_state_read_only: ReadOnlyKeys::Listed(vec!["plan".to_owned()]),
            ..AgentChatProperties::default()
        };
        shared_fields(&page, &chat)
    }

    #[test]
    fn only_valid_updates_of_declared_keys_are_written() {
        let check = |updates: Value, written: &str, output: &str| {
            let applied = apply_updates(&fields(), &json!({ "updates": updates }));
            assert_eq!(serde_json::to_string(&applied.written).unwrap(), written);
            assert_eq!(applied.output.to_string(), output);
        };
        check(json!({ "legal_name": "Ada" }), r#"[["name","Ada"]]"#, r#"{"ok":true,"written":["legal_name"]}"#);
        check(json!({ "legal_name": null }), r#"[["name",null]]"#, r#"{"ok":true,"written":["legal_name"]}"#);
        check(
            json!({ "admin": true, "fixed": 8, "all": {}, "first": "x", "plan": 1, "__proto__": 1 }),
            "[]",
            r#"{"ok":true,"written":[],"ignored":["admin","fixed","all","first","plan","__proto__"]}"#,
        );
        check(
            json!({ "kind": "c", "age": "12", "on": true }),
            r#"[["on",true]]"#,
            r#"{"ok":false,"written":["on"],"refused":[{"key":"kind","reason":"expected one of a, b"},{"key":"age","reason":"expected a number"}]}"#,
        );
        check(json!({ "day": "2024-02-29" }), r#"[["day","2024-02-29"]]"#, r#"{"ok":true,"written":["day"]}"#);
        check(
            json!({ "tags": ["x", "y"], "any": "z" }),
            r#"[["tags",["x","y"]],["any","z"]]"#,
            r#"{"ok":true,"written":["tags","any"]}"#,
        );
        check(
            json!({ "tags": ["x", "q"], "any": 1 }),
            "[]",
            r#"{"ok":false,"written":[],"refused":[{"key":"tags","reason":"expected a list of some of x, y"},{"key":"any","reason":"expected a text"}]}"#,
        );
        check(
            json!({ "cart": [{ "sku": 1 }] }),
            r#"[["cart.items",[{"sku":1}]]]"#,
            r#"{"ok":true,"written":["cart"]}"#,
        );
        check(json!("nonsense"), "[]", r#"{"ok":true,"written":[]}"#);
    }

    #[test]
    fn keys_of_a_shared_object_are_places_in_it() {
        let check = |shared: Value, expected: &[(&str, Option<&str>)]| {
            let chat = AgentChatProperties {
                shared_state: shared.as_object().unwrap().clone(),
                shared_state_read_only: ReadOnlyKeys::Listed(vec!["id".to_owned()]),
                ..AgentChatProperties::default()
            };
            let value = json!({ "id": 7, "note": "", "a.b": 1 });
            let fields = object_fields(&chat, value.as_object().unwrap());
            let found: Vec<_> = fields.iter().map(|field| (field.key.as_str(), field.target.as_deref())).collect();
            assert_eq!(found, expected, "{shared}");
        };
        check(json!({ "_state": "order" }), &[("id", None), ("note", Some("order.note")), ("a.b", None)]);
        check(json!({ "_if": { "test": true } }), &[("id", None), ("note", None), ("a.b", None)]);
        check(json!({ "note": { "_state": "note" } }), &[]);
    }

    #[test]
    fn only_calendar_dates_are_accepted() {
        let check = |text: &str, expected: bool| assert_eq!(is_date(text), expected, "{text}");
        check("2026-11-20", true);
        check("2023-02-29", false);
        check("2000-02-29", true);
        check("1900-02-29", false);
        check("2026-13-01", false);
        check("2026-04-31", false);
        check("2026-4-1", false);
        check("+026-04-01", false);
        check("2026-04-0é", false);
    }
}
