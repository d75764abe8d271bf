//! A row of the audit log: as JSON, and the decisions about a call as text.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use store::AuditRow;

/// A row in the list, with the name of its user.
pub(super) struct AuditItem {
    pub(super) row: AuditRow,
    pub(super) user_name: Option<String>,
}

impl Serialize for AuditItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut item = row_json(&self.row);
        item["userName"] = self.user_name.as_deref().into();
        item.serialize(serializer)
    }
}

/// Returns a row of the audit log as JSON, as `chatwright audit export` prints it.
pub fn row_json(row: &AuditRow) -> Value {
    // Invalid JSON was tampered with; it is shown as plain text.
    let read = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    json!({
        "number": row.number,
        "time": jiff::Timestamp::from_millisecond(row.at).map_or_else(|_| row.at.into(), |time| Value::from(time.to_string())),
        "userId": row.user_id,
        "agentId": row.agent_id,
        "conversationId": row.conversation_id,
        "messageId": row.message_id,
        "runId": row.run_id,
        "callId": row.call_id,
        "tool": row.tool,
        "arguments": read(&row.arguments),
        "gates": read(&row.gates),
        "outcome": row.outcome,
        "durationMs": row.duration_ms,
        "previous": row.previous,
        "hash": row.hash,
    })
}

/// Formats the decisions about a call in one line.
pub(crate) fn gates_text(gates: &str) -> String {
    let gates: Vec<Value> = serde_json::from_str(gates).unwrap_or_default();
    let decision = |gate: &Value| {
        let text = |name: &str| gate[name].as_str().unwrap_or_default().to_owned();
        let why = gate["reason"].as_str().map(|reason| format!(" ({reason})")).unwrap_or_default();
        format!("{} {}{why}", text("gate"), text("decision"))
    };
    match gates.is_empty() {
        true => "–".to_owned(),
        false => gates.iter().map(decision).collect::<Vec<_>>().join(", "),
    }
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
