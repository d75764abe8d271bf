//! `update-page-state`: the agent writes fields of the page's shared state. The browser executes
//! the call, for the declared keys only.

use contract::{Execution, Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use wire::page::UPDATE_PAGE_STATE;

/// A field of the page's shared state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateField {
    /// The key.
    pub key: String,
    /// The type of the values.
    pub kind: StateFieldKind,
    /// Whether the agent may write the field.
    pub writable: bool,
}

/// The type of a field's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateFieldKind {
    /// Any text.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// One of these texts.
    Choice(Vec<String>),
    /// A list of some of these texts; if there are none, of any texts.
    Choices(Vec<String>),
    /// `YYYY-MM-DD`.
    Date,
    /// A list.
    List,
    /// An object.
    Object,
    /// Any value.
    Any,
}

impl StateFieldKind {
    /// Describes the type for the model.
    pub fn describe(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Number => "number".to_owned(),
            Self::Boolean => "true or false".to_owned(),
            Self::Choice(options) => format!("one of: {}", options.join(", ")),
            Self::Choices(options) if options.is_empty() => "list of texts".to_owned(),
            Self::Choices(options) => format!("list of any of: {}", options.join(", ")),
            Self::Date => "date as YYYY-MM-DD".to_owned(),
            Self::List => "list".to_owned(),
            Self::Object => "object".to_owned(),
            Self::Any => "any value".to_owned(),
        }
    }

    /// Returns the field's schema for the model. It is only a hint: the server does not check the
    /// values, because an invalid one must reach the browser, which refuses only that one, with a
    /// reason, and writes the others.
    fn hint(&self) -> Value {
        let description = self.describe();
        match self {
            Self::Choice(options) => json!({ "description": description, "examples": options }),
            _ => json!({ "description": description }),
        }
    }
}

/// The tool for one turn, with the page's fields at the time of sending.
pub struct PageStateTool {
    spec: ToolSpec,
}

impl PageStateTool {
    /// Creates the tool, unless no field is writable.
    pub fn new(fields: &[StateField]) -> Option<Self> {
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
        Some(Self {
            spec: ToolSpec { execution: Execution::Client, ..ToolSpec::new(UPDATE_PAGE_STATE, description, schema) },
        })
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
        let field = |key: &str, kind, writable| StateField { key: key.to_owned(), kind, writable };
        assert!(PageStateTool::new(&[]).is_none());
        assert!(PageStateTool::new(&[field("fixed", StateFieldKind::Any, false)]).is_none());
        let tool = PageStateTool::new(&[
            field("name", StateFieldKind::Text, true),
            field("priority", StateFieldKind::Choice(vec!["low".to_owned(), "high".to_owned()]), true),
            field("tags", StateFieldKind::Choices(vec!["new".to_owned(), "vip".to_owned()]), true),
            field("fixed", StateFieldKind::Any, false),
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
