//! A row of the audit log: as JSON, and the decisions about a call as text.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use store::{AuditRow, GateDecision};

/// A row in the list, with the name of its user.
pub(super) struct AuditItem {
    pub(super) row: AuditRow,
    pub(super) user_name: Option<String>,
}

/// The JSON of a row in the list.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NamedLine<'a> {
    #[serde(flatten)]
    line: AuditLine,
    /// The user's name, if they have an account here.
    user_name: Option<&'a str>,
}

impl Serialize for AuditItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        NamedLine { line: AuditLine::from(&self.row), user_name: self.user_name.as_deref() }.serialize(serializer)
    }
}

impl JsonSchema for AuditItem {
    fn schema_name() -> Cow<'static, str> {
        "AuditItem".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = NamedLine::json_schema(generator);
        schema.insert("description".to_owned(), "A row of the audit log, with the name of its user.".into());
        schema
    }
}

/// A row of the audit log, as `chatwright audit export` prints it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditLine {
    /// The row's number: from 1 on, without gaps.
    number: i64,
    /// When the call ended, as in `2026-11-21T10:00:00Z`.
    #[schemars(with = "String")]
    time: Value,
    /// The user on whose behalf the call was made.
    user_id: String,
    /// The agent.
    agent_id: String,
    /// The conversation.
    conversation_id: String,
    /// The assistant message.
    message_id: String,
    /// The run.
    run_id: String,
    /// The call's id.
    call_id: String,
    /// The tool's name.
    tool: String,
    /// The arguments.
    arguments: Value,
    /// The decisions about the call; a text if the row was tampered with.
    #[schemars(with = "Recorded<Vec<GateDecision>>")]
    gates: Value,
    /// How the call ended.
    outcome: String,
    /// How long the tool ran, in milliseconds.
    duration_ms: Option<i64>,
    /// The hash of the previous row.
    previous: String,
    /// The hash of this row.
    hash: String,
}

/// A value of a row. Invalid JSON was tampered with; it is shown as plain text.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
#[expect(dead_code, reason = "only its schema is used")]
enum Recorded<T> {
    Json(T),
    Text(String),
}

impl From<&AuditRow> for AuditLine {
    fn from(row: &AuditRow) -> Self {
        let row = row.clone();
        let read = |text: String| serde_json::from_str(&text).unwrap_or(Value::String(text));
        let time = jiff::Timestamp::from_millisecond(row.at);
        Self {
            number: row.number,
            time: time.map_or_else(|_| row.at.into(), |time| Value::from(time.to_string())),
            user_id: row.user_id,
            agent_id: row.agent_id,
            conversation_id: row.conversation_id,
            message_id: row.message_id,
            run_id: row.run_id,
            call_id: row.call_id,
            tool: row.tool,
            arguments: read(row.arguments),
            gates: read(row.gates),
            outcome: row.outcome,
            duration_ms: row.duration_ms,
            previous: row.previous,
            hash: row.hash,
        }
    }
}

/// Formats the decisions about a call in one line.
pub(crate) fn gates_text(gates: &str) -> String {
    let gates: Vec<Value> = serde_json::from_str(gates).unwrap_or_default();
    let decision = |gate: &Value| {
        let text = |name: &str| gate[name].as_str().unwrap_or_default().to_owned();
        let why = gate["reason"].as_str().map(|reason| format!(" ({reason})")).unwrap_or_default();
        format!("{} {}{why}", text("gate"), text("decision"))
    };
    if gates.is_empty() { "–".to_owned() } else { gates.iter().map(decision).collect::<Vec<_>>().join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_formatted_in_one_line() {
        let check = |text: &str, expected: &str| assert_eq!(gates_text(text), expected, "{text}");
        check("[]", "–");
        check("not json", "–");
        let two = r#"[{"gate":"approval","decision":"asked"},{"gate":"approval","decision":"denied","by":"ada","reason":"No."}]"#;
        check(two, "approval asked, approval denied (No.)");
    }
}
