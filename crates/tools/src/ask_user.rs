//! `ask-user`: the agent asks its user a question. The browser shows the question. The call stays
//! open, over reloads and restarts, until it is answered or the user sends something else.

use contract::{Annotations, Execution, Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use wire::question::ASK_USER;

/// The reasons for which an agent may ask.
const KINDS: [&str; 5] =
    ["missing_info", "ambiguous_requirement", "approach_choice", "risk_confirmation", "suggestion"];

/// The tool.
pub struct AskUserTool {
    spec: ToolSpec,
}

impl Default for AskUserTool {
    fn default() -> Self {
        let description = "Asks the user a question and waits for the answer. Ask when information is missing, the request is \
             ambiguous, there are several approaches, or the next action could do harm. Ask before you act, and one \
             question at a time. The answer has `option`, `text` or `fields`.";
        let annotations = Annotations { reads_only: true, ..Annotations::default() };
        let spec = ToolSpec::new(ASK_USER, description, schema());
        Self { spec: ToolSpec { execution: Execution::Client, annotations, ..spec } }
    }
}

fn schema() -> Value {
    let options =
        json!({ "type": "array", "maxItems": 10, "items": { "type": "string", "minLength": 1, "maxLength": 200 } });
    let described = |mut schema: Value, description: &str| {
        schema["description"] = description.into();
        schema
    };
    let field = json!({
        "type": "object",
        "properties": {
            "key": { "type": "string", "pattern": "^[a-zA-Z0-9_]{1,64}$" },
            "label": { "type": "string", "minLength": 1, "maxLength": 200 },
            "type": { "enum": ["text", "number", "boolean", "choice", "date"] },
            "options": described(options.clone(), "For the type `choice`."),
            "required": { "type": "boolean" },
        },
        "required": ["key", "label", "type"],
        "additionalProperties": false,
    });
    let context = "Background that the user needs for the answer.";
    json!({
        "type": "object",
        "properties": {
            "kind": { "enum": KINDS, "description": "The reason for the question." },
            "question": { "type": "string", "minLength": 1, "maxLength": 1000 },
            "context": { "type": "string", "maxLength": 2000, "description": context },
            "options": described(options, "Answers to choose from. The user may always write another."),
            "fields": { "type": "array", "maxItems": 16, "items": field, "description": "A form, to ask for several values at once." },
        },
        "required": ["kind", "question"],
        "additionalProperties": false,
    })
}

impl Tool for AskUserTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, _: Value, _: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async { Err(ToolError::new("The user answers this, not the server.")) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_limits_questions() {
        let tool = AskUserTool::default();
        let schema = schemas::Schema::new(&tool.spec().input_schema).unwrap();
        let check = |input: Value, fits: bool| assert_eq!(schema.check_blocking(&input, 1).is_ok(), fits, "{input}");
        for kind in KINDS {
            check(json!({ "kind": kind, "question": "Go?" }), true);
        }
        check(json!({ "kind": "curiosity", "question": "Go?" }), false);
        check(json!({ "kind": "suggestion", "question": "" }), false);
        check(json!({ "kind": "suggestion", "question": "x".repeat(1001) }), false);
        check(json!({ "question": "Go?" }), false);
        let with = |key: &str, value: Value| {
            let mut input = json!({ "kind": "approach_choice", "question": "Which?" });
            input[key] = value;
            input
        };
        check(with("options", json!(["a", "b"])), true);
        check(with("options", json!([""])), false);
        check(with("options", json!(vec!["a"; 10])), true);
        check(with("options", json!(vec!["a"; 11])), false);
        let field = json!({ "key": "name", "label": "Name", "type": "text", "required": true });
        check(with("fields", json!(vec![&field; 16])), true);
        check(with("fields", json!(vec![&field; 17])), false);
        check(with("fields", json!([{ "key": "a b", "label": "Name", "type": "text" }])), false);
        check(with("fields", json!([{ "key": "a", "label": "Name", "type": "password" }])), false);
        check(with("html", json!("<b>")), false);
    }
}
