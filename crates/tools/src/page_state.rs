//! `update-page-state`: the agent writes fields of the page; the browser executes it, for the declared keys only (L-64 to L-73).

use contract::{Execution, Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

/// The tool's name.
pub const NAME: &str = "update-page-state";

/// A field that the page shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its key.
    pub key: String,
    /// What it may hold.
    pub kind: FieldKind,
    /// Whether the agent may write it.
    pub writable: bool,
}

/// What a field may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Any text.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// One of these.
    Choice(Vec<String>),
    /// A list of some of these; empty: of any texts.
    Choices(Vec<String>),
    /// `YYYY-MM-DD`.
    Date,
    /// Anything.
    Any,
}

impl FieldKind {
    /// What it may hold, for the model.
    pub fn describe(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Number => "number".to_owned(),
            Self::Boolean => "true or false".to_owned(),
            Self::Choice(options) => format!("one of: {}", options.join(", ")),
            Self::Choices(options) if options.is_empty() => "list of texts".to_owned(),
            Self::Choices(options) => format!("list of any of: {}", options.join(", ")),
            Self::Date => "date as YYYY-MM-DD".to_owned(),
            Self::Any => "any value".to_owned(),
        }
    }

    /// The field for the model. Only a hint: the server does not check the values, because a wrong one must reach the
    /// browser, which refuses that one alone, with a reason, and writes the others.
    fn hint(&self) -> Value {
        let description = self.describe();
        match self {
            Self::Choice(options) => json!({ "description": description, "examples": options }),
            _ => json!({ "description": description }),
        }
    }
}

/// The tool for one turn: its fields are those of the page at the moment of sending.
pub struct PageStateTool {
    spec: ToolSpec,
}

impl PageStateTool {
    /// The tool, unless there is nothing to write (L-65).
    pub fn new(fields: &[Field]) -> Option<Self> {
        let writable: Vec<_> = fields.iter().filter(|field| field.writable).collect();
        if writable.is_empty() {
            return None;
        }
        let list: String =
            writable.iter().map(|field| format!("\n- {} ({})", field.key, field.kind.describe())).collect();
        let description = format!(
            "Writes fields of the page that the user is looking at. Give only the fields to change; null clears one. The \
             result lists what was written, and what was refused with the reason. Fields:{list}"
        );
        let hints: Map<_, _> = writable.iter().map(|field| (field.key.clone(), field.kind.hint())).collect();
        let schema = json!({
            "type": "object",
            "properties": { "updates": { "type": "object", "properties": hints, "additionalProperties": true } },
            "required": ["updates"],
        });
        Some(Self { spec: ToolSpec { execution: Execution::Client, ..ToolSpec::new(NAME, description, schema) } })
    }
}

impl Tool for PageStateTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, _: Value, _: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async { Err(ToolError::new("This tool runs in the user's browser.")) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_writable_fields_are_offered() {
        let field = |key: &str, kind, writable| Field { key: key.to_owned(), kind, writable };
        assert!(PageStateTool::new(&[]).is_none());
        assert!(PageStateTool::new(&[field("fixed", FieldKind::Any, false)]).is_none());
        let tool = PageStateTool::new(&[
            field("name", FieldKind::Text, true),
            field("priority", FieldKind::Choice(vec!["low".to_owned(), "high".to_owned()]), true),
            field("tags", FieldKind::Choices(vec!["new".to_owned(), "vip".to_owned()]), true),
            field("fixed", FieldKind::Any, false),
        ]);
        let tool = tool.unwrap();
        insta::assert_snapshot!(tool.spec().description, @"
        Writes fields of the page that the user is looking at. Give only the fields to change; null clears one. The result lists what was written, and what was refused with the reason. Fields:
        - name (text)
        - priority (one of: low, high)
        - tags (list of any of: new, vip)
        ");
        insta::assert_snapshot!(tool.spec().input_schema, @r#"{"type":"object","properties":{"updates":{"type":"object","properties":{"name":{"description":"text"},"priority":{"description":"one of: low, high","examples":["low","high"]},"tags":{"description":"list of any of: new, vip"}},"additionalProperties":true}},"required":["updates"]}"#);
    }
}
