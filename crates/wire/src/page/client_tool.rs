//! A tool that the page runs, as far as the browser must know it. What the model is told of it stays on the server.

use super::Action;
use crate::read::read_struct;
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// A tool that the page runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientTool {
    /// What the model calls it.
    pub name: String,
    /// What it does, one after the other; `_event` is what the model called it with.
    pub actions: Vec<Action>,
    /// The page of another site around the chat does it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub host: bool,
    /// What the model gets; operators are not evaluated. `null`: the last action's result.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// How long one call may take, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Made twice, the same call does no more than once: one whose page went in the middle is made once more.
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
    /// How long a call may take where nothing is said.
    pub const TIMEOUT: Duration = Duration::from_secs(30);

    /// How long one call may take.
    pub fn timeout(&self) -> Duration {
        self.timeout_ms.map_or(Self::TIMEOUT, Duration::from_millis)
    }
}
