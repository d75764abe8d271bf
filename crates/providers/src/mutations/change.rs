//! A single mutation of one event of a recording.

use serde_json::Value;

/// A mutation of a value.
#[derive(Clone, Debug)]
pub(super) enum Mutation {
    /// Replaced by a value of another type.
    Replaced(&'static str),
    /// Removed.
    Removed,
    /// Duplicated.
    Duplicated,
}

/// A value as JSON, and a function that checks whether another value has the same type.
type Sample = (&'static str, fn(&Value) -> bool);

/// A value of each JSON type.
const SAMPLES: [Sample; 6] = [
    ("null", Value::is_null),
    ("true", Value::is_boolean),
    ("7", Value::is_number),
    (r#""zz""#, Value::is_string),
    (r#"["zz",{}]"#, Value::is_array),
    (r#"{"zz":{"a":1}}"#, Value::is_object),
];

/// The path of a value in an event; each step is `key` or `[index]`.
pub(super) type Path = Vec<String>;

/// Returns all mutations of an event.
pub(super) fn all_mutations(event: &Value) -> Vec<(Path, Mutation)> {
    let mut changes = Vec::new();
    collect(event, &mut Vec::new(), &mut changes);
    changes
}

fn collect(value: &Value, path: &mut Path, changes: &mut Vec<(Path, Mutation)>) {
    let others = SAMPLES.iter().filter(|(_, is_same)| !is_same(value));
    changes.extend(others.map(|(json, _)| (path.clone(), Mutation::Replaced(json))));
    changes.extend([Mutation::Removed, Mutation::Duplicated].map(|change| (path.clone(), change)));
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

/// Returns the events that replace an event after its mutation.
pub(super) fn mutate(event: &Value, path: &[String], change: &Mutation) -> Vec<String> {
    match (path, change) {
        ([], Mutation::Replaced(json)) => vec![(*json).to_owned()],
        ([], Mutation::Removed) => Vec::new(),
        ([], Mutation::Duplicated) => vec![event.to_string(); 2],
        _ => {
            let mut json = String::new();
            write_mutated(event, path, change, &mut json);
            vec![json]
        }
    }
}

fn write_mutated(value: &Value, path: &[String], change: &Mutation, json: &mut String) {
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
            _ if !rest.is_empty() => write_mutated(value, rest, change, &mut part),
            Mutation::Replaced(other) => part += other,
            Mutation::Removed => continue,
            Mutation::Duplicated => part += &format!("{value},{key}{value}"),
        }
        parts.push(part);
    }
    *json += &parts.join(",");
    json.push(close);
}
