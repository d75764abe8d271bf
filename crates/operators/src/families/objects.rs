//! Mappings.

use crate::Arguments;
use crate::parameters::Kind::{List, Map, Text};
use crate::parameters::Parameters::{Named, One, Values};
use crate::parameters::required;
use crate::registry::Run::Plain;
use crate::registry::{Definition, operator};
use crate::values::is_prototype_key;
use serde_json::{Map as Fields, Value};

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_object.assign", Values(Map), Plain(assign), "One mapping with the keys of all; later ones take precedence.",
        [r#"[{"first": "Rachel", "series": "Friends"}, {"first": "Monica"}]"# => r#"{"first":"Monica","series":"Friends"}"#]).keeps_secrets(),
    operator!("_object.defineProperty", Named(&[required("on", Map), required("key", Text), required("descriptor", Map)]), Plain(define),
        "The mapping with the `value` of `descriptor` at a key that may be computed.",
        [r#"{"on": {"firstName": "Rachel"}, "key": "lastName", "descriptor": {"value": "Green"}}"# => r#"{"firstName":"Rachel","lastName":"Green"}"#]),
    operator!("_object.entries", One(Map), Plain(entries), "The keys with their values, as a list of pairs.",
        [r#"{"firstName": "Monica", "lastName": "Geller"}"# => r#"[["firstName","Monica"],["lastName","Geller"]]"#]),
    operator!("_object.fromEntries", One(List), Plain(from_entries), "A mapping of a list of pairs of a key and a value.",
        [r#"[["firstName", "Monica"], ["age", 26]]"# => r#"{"firstName":"Monica","age":26}"#]),
    operator!("_object.keys", One(Map), Plain(keys), "The keys.", [r#"{"firstName": "Monica", "age": 26}"# => r#"["firstName","age"]"#]),
    operator!("_object.values", One(Map), Plain(values), "The values.", [r#"{"firstName": "Monica", "age": 26}"# => r#"["Monica",26]"#]),
];

fn fields(arguments: &mut Arguments, index: usize) -> Fields<String, Value> {
    if let Value::Object(fields) = arguments.value(index) { fields } else { Fields::new() }
}

fn insert(into: &mut Fields<String, Value>, key: &str, value: Value) -> Result<(), String> {
    if is_prototype_key(key) {
        return Err(format!("the key `{key}` is not allowed"));
    }
    into.insert(key.to_owned(), value);
    Ok(())
}

fn assign(mut arguments: Arguments) -> Result<Value, String> {
    let mut merged = Fields::new();
    let mut index = 0;
    while arguments.get(index).is_some() {
        merged.extend(fields(&mut arguments, index));
        index += 1;
    }
    Ok(merged.into())
}

fn define(mut arguments: Arguments) -> Result<Value, String> {
    let (mut on, key) = (fields(&mut arguments, 0), arguments.text(1));
    let value = fields(&mut arguments, 2).remove("value").unwrap_or_default();
    insert(&mut on, &key, value)?;
    Ok(on.into())
}

fn entries(mut arguments: Arguments) -> Result<Value, String> {
    let pair = |(key, value): (String, Value)| Value::Array(vec![key.into(), value]);
    Ok(fields(&mut arguments, 0).into_iter().map(pair).collect())
}

fn from_entries(mut arguments: Arguments) -> Result<Value, String> {
    let mut made = Fields::new();
    for entry in arguments.list(0) {
        match entry {
            Value::Array(pair) => match <[Value; 2]>::try_from(pair) {
                Ok([Value::String(key), value]) => insert(&mut made, &key, value)?,
                Ok([Value::Number(key), value]) => insert(&mut made, &key.to_string(), value)?,
                _ => return Err("each entry is a list of a key and a value".to_owned()),
            },
            _ => return Err("each entry is a list of a key and a value".to_owned()),
        }
    }
    Ok(made.into())
}

fn keys(mut arguments: Arguments) -> Result<Value, String> {
    Ok(fields(&mut arguments, 0).into_iter().map(|(key, _)| key).collect())
}

fn values(mut arguments: Arguments) -> Result<Value, String> {
    Ok(fields(&mut arguments, 0).into_iter().map(|(_, value)| value).collect())
}
