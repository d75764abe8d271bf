//! Changes to a long conversation before a model reads it, as they are displayed: the server's summary of earlier
//! messages, and the edits that a provider made to the context.

use crate::locale::{Text, fill_placeholders};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The type of the data part with the edits of the answer's newest request:
/// `{provider, edits: [{type, clearedToolUses?, clearedThinkingTurns?, clearedInputTokens?}]}`.
pub const CONTEXT_EDITS: &str = "data-context-edits";

/// A summary that replaces earlier messages for the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SummaryData {
    /// The summary.
    pub text: String,
    /// The newest message that it covers.
    pub through_message_id: String,
    /// The model that wrote it.
    pub model: String,
    /// The estimated tokens of a request before.
    pub tokens_before: u64,
    /// The estimated tokens of a request after.
    pub tokens_after: u64,
    /// When it was written, in milliseconds since 1970.
    pub at: i64,
}

/// The maximum number of edits that are displayed for one answer.
const MAX_SHOWN: usize = 16;

/// One edit of the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextEdit {
    text: Text,
    cleared: u64,
    tokens: u64,
}

impl ContextEdit {
    /// Reads the data of a [`CONTEXT_EDITS`] part. Edits that cleared nothing are left out.
    pub fn all_of(data: &Value) -> Vec<Self> {
        let edits = data.get("edits").and_then(Value::as_array).into_iter().flatten();
        edits.filter_map(Self::read).take(MAX_SHOWN).collect()
    }

    fn read(edit: &Value) -> Option<Self> {
        let number = |key: &str| edit.get(key).and_then(Value::as_u64);
        // A strategy's name ends with the date of its version.
        let (text, cleared) = match edit.get("type")?.as_str()? {
            kind if kind.starts_with("clear_tool_uses") => (Text::ContextToolResultsCleared, number("clearedToolUses")),
            kind if kind.starts_with("clear_thinking") => {
                (Text::ContextThinkingCleared, number("clearedThinkingTurns"))
            }
            kind if kind.starts_with("compact") => (Text::ContextSummarized, Some(1)),
            _ => (Text::ContextEdited, Some(1)),
        };
        let tokens = number("clearedInputTokens").unwrap_or_default();
        match cleared {
            Some(0) => None,
            Some(cleared) => Some(Self { text, cleared, tokens }),
            None => Some(Self { text: Text::ContextEdited, cleared: 1, tokens }),
        }
    }

    /// Describes the edit with the given texts and number format.
    pub fn said<'a>(&self, words: impl Fn(Text) -> &'a str, number: impl Fn(u64) -> String) -> String {
        let cleared = fill_placeholders(words(self.text), &[&number(self.cleared)]);
        match self.tokens {
            0 => cleared,
            tokens => format!("{cleared} ({})", fill_placeholders(words(Text::Tokens), &[&number(tokens)])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn edits_of_each_strategy_are_described() {
        let check = |edit: Value, expected: &[&str]| {
            let edits = ContextEdit::all_of(&json!({ "provider": "p", "edits": [edit] }));
            let said: Vec<_> = edits.iter().map(|edit| edit.said(Text::english, |number| number.to_string())).collect();
            assert_eq!(said, expected);
        };
        check(
            json!({ "type": "clear_tool_uses_20250919", "clearedToolUses": 8, "clearedInputTokens": 50000 }),
            &["Tool results that the provider cleared from the context: 8 (50000 tokens)"],
        );
        check(
            json!({ "type": "clear_tool_uses_20250919", "clearedToolUses": 1 }),
            &["Tool results that the provider cleared from the context: 1"],
        );
        check(
            json!({ "type": "clear_thinking_20251015", "clearedThinkingTurns": 3, "clearedInputTokens": 15 }),
            &["Turns whose thinking the provider cleared from the context: 3 (15 tokens)"],
        );
        check(json!({ "type": "compact_20260112" }), &["The provider summarized the earlier conversation"]);
        check(json!({ "type": "later", "clearedInputTokens": 5 }), &["The provider shortened the context (5 tokens)"]);
        check(json!({ "type": "clear_thinking_20251015" }), &["The provider shortened the context"]);
        check(json!({ "type": "clear_tool_uses_20250919", "clearedToolUses": 0, "clearedInputTokens": 0 }), &[]);
        check(json!({ "type": 7 }), &[]);
        check(json!("no edit"), &[]);
    }

    #[test]
    fn data_without_edits_has_none() {
        for data in [json!(null), json!([]), json!({ "edits": "no list" })] {
            assert_eq!(ContextEdit::all_of(&data), []);
        }
    }
}
