//! A tool that the page runs, with the data that the browser needs. Its description for the model stays on the server.

use super::Action;
use crate::read::read_struct;
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// A tool that the page runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientTool {
    /// The name that the model uses.
    pub name: String,
    /// The actions to run, one after the other; `_event` holds the call's arguments.
    pub actions: Vec<Action>,
    /// Whether the host page of another site, which embeds the chat, runs the tool.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub host: bool,
    /// The result for the model; operators are not evaluated. `null`: the last action's result.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// The timeout of one call in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether the tool is idempotent: a call whose page closed while it ran is repeated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub idempotent: bool,
}

read_struct!(ClientTool {
    name: "name",
    actions: "actions" or default,
    host: "host" or default,
    result: "result" or default,
    timeout_ms: "timeoutMs",
    idempotent: "idempotent" or default,
});

impl ClientTool {
    /// The default timeout of a call.
    pub const TIMEOUT: Duration = Duration::from_secs(30);

    /// Returns the timeout of a call.
    pub fn timeout(&self) -> Duration {
        self.timeout_ms.map_or(Self::TIMEOUT, Duration::from_millis)
    }
}
