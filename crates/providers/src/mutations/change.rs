//! One change to one event of a recording.

use serde_json::Value;

/// What is done to a value.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// Something of another type stands in its place.
    Replaced(&'static str),
    /// It is not there.
    Removed,
    /// It is there twice.
    Doubled,
}

/// A value as JSON, and whether another one is of its type.
type Sample = (&'static str, fn(&Value) -> bool);

/// One of each JSON type.
const OTHERS: [Sample; 6] = [
    ("null", Value::is_null),
    ("true", Value::is_boolean),
    ("7", Value::is_number),
    (r#""zz""#, Value::is_string),
    (r#"["zz",{}]"#, Value::is_array),
    (r#"{"zz":{"a":1}}"#, Value::is_object),
];

/// A place in an event, with the values on the way as `key` or `[index]`.
pub(super) type Path = Vec<String>;

/// All changes to an event.
pub(super) fn changes(event: &Value) -> Vec<(Path, Change)> {
    let mut changes = Vec::new();
    collect(event, &mut Vec::new(), &mut changes);
    changes
}

fn collect(value: &Value, path: &mut Path, changes: &mut Vec<(Path, Change)>) {
    let others = OTHERS.iter().filter(|(_, is_same)| !is_same(value));
    changes.extend(others.map(|(json, _)| (path.clone(), Change::Replaced(json))));
    changes.extend([Change::Removed, Change::Doubled].map(|change| (path.clone(), change)));
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(index, value)| (format!("[{index}]"), value)).collect(),
        _ => Vec::new(),
    };
    for (step, value) in inner {
        path.push(step);
        collect(value, path, changes);
        path.pop();
    }
}

/// The events that stand in an event's place once it is changed.
pub(super) fn changed(event: &Value, path: &[String], change: &Change) -> Vec<String> {
    match (path, change) {
        ([], Change::Replaced(json)) => vec![(*json).to_owned()],
        ([], Change::Removed) => Vec::new(),
        ([], Change::Doubled) => vec![event.to_string(); 2],
        _ => {
            let mut json = String::new();
            write(event, path, change, &mut json);
            vec![json]
        }
    }
}

fn write(value: &Value, path: &[String], change: &Change, json: &mut String) {
    let Some((step, rest)) = path.split_first() else {
        *json += &value.to_string();
        return;
    };
    let (open, close, entries): (_, _, Vec<(String, &Value, bool)>) = match value {
        Value::Object(fields) => {
            let entry = |(key, value)| (format!("{}:", Value::from(String::clone(key))), value, key == step);
            ('{', '}', fields.iter().map(entry).collect())
        }
        Value::Array(list) => {
            let entry = |(index, value)| (String::new(), value, *step == format!("[{index}]"));
            ('[', ']', list.iter().enumerate().map(entry).collect())
        }
        _ => unreachable!("a path leads through objects and lists"),
    };
    json.push(open);
    let mut parts = Vec::new();
    for (key, value, is_meant) in entries {
        let mut part = key.clone();
        match change {
            _ if !is_meant => part += &value.to_string(),
            _ if !rest.is_empty() => write(value, rest, change, &mut part),
            Change::Replaced(other) => part += other,
            Change::Removed => continue,
            Change::Doubled => part += &format!("{value},{key}{value}"),
        }
        parts.push(part);
    }
    *json += &parts.join(",");
    json.push(close);
}
