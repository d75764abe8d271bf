//! Reads the bodies of requests. The history in a body becomes [`Entry`]s, of which [`history::History`] makes
//! messages.

pub(crate) mod chat;
pub(crate) mod content;
mod format;
pub(crate) mod history;
mod parameters;
pub(crate) mod responses;
#[cfg(test)]
mod tests;
mod tools;

pub(crate) use parameters::Parameters;

use crate::error::ApiError;
use parameters::SharedParameters;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use wire::UiPart;

/// The most messages or items of a request.
pub(crate) const MAX_ENTRIES: usize = 2_000;
/// The longest reason in an error, in characters.
const MAX_REASON: usize = 200;
/// The parameters that may be long, which are no shared ones.
const LONG: [&str; 2] = ["messages", "input"];
/// The most bytes of text of a request: messages, instructions and results of tools.
const MAX_TEXT: usize = 4 << 20;

/// An entry of the history in a request, with its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The parameter, for errors.
    pub(crate) param: String,
    pub(crate) kind: EntryKind,
}

/// One step of the history.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EntryKind {
    /// A system or developer message.
    Instructions(String),
    /// A message of the user.
    User(Vec<UiPart>),
    /// A message of the agent.
    Assistant(String),
    /// A call of a tool.
    Call { id: String, name: String, arguments: Map<String, Value> },
    /// The result of a call.
    Output { call_id: String, output: Value },
    /// An item of a stored response, by its id.
    Reference(String),
}

impl EntryKind {
    /// Returns the id of the item to which it refers.
    pub(crate) fn reference(&self) -> Option<&str> {
        if let Self::Reference(id) = self { Some(id) } else { None }
    }
}

/// Reads a body.
///
/// # Errors
/// 400 with the parameter that cannot be read.
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let body = serde_json::from_slice(bytes).map_err(|_| ApiError::malformed("The request is not valid JSON."))?;
    let Value::Object(fields) = body else { return Err(ApiError::malformed("The request is not a JSON object.")) };
    // Where serde merges types it does not know which field is wrong.
    for (name, value) in fields.iter().filter(|(name, _)| !LONG.contains(&name.as_str())) {
        let alone = Value::from(Map::from_iter([(name.clone(), value.clone())]));
        if let Err(error) = SharedParameters::deserialize(alone) {
            return Err(unreadable(&error).at(name.chars().take(100).collect::<String>()));
        }
    }
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| {
        let path = error.path().to_string();
        let error = unreadable(error.inner());
        if path == "." { error } else { error.at(path) }
    })
}

fn unreadable(error: &serde_json::Error) -> ApiError {
    ApiError::malformed(format!("Invalid request: {}.", reason(error)))
}

/// Returns the problem, without the value, which may be long.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(", expected ") {
        Some((_, expected)) => format!("expected {expected}"),
        None => text.chars().take(MAX_REASON).collect(),
    }
}

/// Reads a part of a body.
fn part<T: for<'v> Deserialize<'v>>(value: &Value, param: &str) -> Result<T, ApiError> {
    T::deserialize(value).map_err(|error| ApiError::invalid(param, format!("This cannot be read: {}.", reason(&error))))
}

/// Refuses parameters that are not read. Those without a value change nothing.
///
/// # Errors
/// 400 with the first one.
fn check_rest(rest: &Map<String, Value>, known: &[&str]) -> Result<(), ApiError> {
    for (name, value) in rest {
        let shown: String = name.chars().take(100).collect();
        if value.is_null() {
            continue;
        }
        return Err(if known.contains(&name.as_str()) {
            ApiError::unsupported(&shown, format!("This server does not support the parameter `{shown}`."))
        } else {
            ApiError::unsupported(&shown, format!("Unrecognized request argument supplied: {shown}."))
        });
    }
    Ok(())
}

/// Checks the sizes of a history.
pub(crate) fn check_size(entries: &[Entry], param: &str) -> Result<(), ApiError> {
    if entries.len() > MAX_ENTRIES {
        return Err(ApiError::invalid(param, format!("A request has at most {MAX_ENTRIES} messages.")));
    }
    check_length(entries.iter().map(Entry::length).sum(), param)
}

/// Checks the length of all texts of a history, in bytes.
pub(crate) fn check_length(length: usize, param: &str) -> Result<(), ApiError> {
    if length > MAX_TEXT {
        Err(ApiError::invalid(param, format!("A request has at most {} MB of text.", MAX_TEXT >> 20)))
    } else {
        Ok(())
    }
}

impl Entry {
    /// Returns the length of its text, in bytes.
    pub(crate) fn length(&self) -> usize {
        let text = |part: &UiPart| if let UiPart::Text(text) = part { text.text.len() } else { 0 };
        match &self.kind {
            EntryKind::Instructions(text) | EntryKind::Assistant(text) => text.len(),
            EntryKind::User(parts) => parts.iter().map(text).sum(),
            EntryKind::Call { arguments, .. } => Value::Object(arguments.clone()).to_string().len(),
            EntryKind::Output { output: Value::String(text), .. } => text.len(),
            EntryKind::Output { output, .. } => output.to_string().len(),
            EntryKind::Reference(_) => 0,
        }
    }
}

/// Reads the arguments of a call, which clients send as JSON in a string.
fn arguments(text: &str, param: &str) -> Result<Map<String, Value>, ApiError> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        _ => Err(ApiError::invalid(param, "The arguments of a call are a JSON object in a string.")),
    }
}
