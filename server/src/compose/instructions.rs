//! Instructions that are evaluated for each turn (L-20).

use operators::{Scope, evaluate, evaluate_text};
use serde_json::{Map, Value};
use wire::{ErrorCode, UserError};

/// The text of instructions. `user` is what `_user` reads, `context` what `_payload` does.
///
/// # Errors
/// In words for the user; the cause is in the log.
pub(super) fn text(
    instructions: &Value,
    agent_id: &str,
    user: Value,
    context: Map<String, Value>,
) -> Result<Option<String>, UserError> {
    let payload = Value::Object(context);
    let scope =
        Scope { payload: Some(&payload), user: Some(&user), expressions: Some(evaluate_text), ..Scope::default() };
    match evaluate(instructions, &scope) {
        Ok(Value::String(text)) => Ok(Some(text)),
        Ok(Value::Null) => Ok(None),
        Ok(other) => Ok(Some(other.to_string())),
        Err(error) => {
            tracing::error!(agent = agent_id, %error, "the agent's instructions cannot be evaluated");
            Err(UserError::new(ErrorCode::Internal, "This agent cannot be asked just now. Its owner can see why."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::text;
    use serde_json::{Value, json};

    #[test]
    fn instructions_of_a_turn() {
        let check = |instructions: Value, expected: Option<&str>| {
            let context = json!({ "pageId": "shop", "sharedState": { "tier": "gold" } }).as_object().cloned().unwrap();
            assert_eq!(
                text(&instructions, "a", json!({ "id": "ada" }), context).unwrap().as_deref(),
                expected,
                "{instructions}"
            );
        };
        check(
            json!({ "_template": "You serve {{ user.id }}, a {{ payload.sharedState.tier }} customer." }),
            Some("You serve ada, a gold customer."),
        );
        check(
            json!({ "_if": { "test": { "_eq": [{ "_payload": "pageId" }, "shop"] }, "then": "Sell.", "else": "Help." } }),
            Some("Sell."),
        );
        check(json!({ "_payload": "nothing" }), None);
        assert!(text(&json!({ "_expr": "1 / 0" }), "a", Value::Null, serde_json::Map::new()).is_err());
    }
}
