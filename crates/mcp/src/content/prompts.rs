//! Prompts of a server (<https://modelcontextprotocol.io/specification/2025-11-25/server/prompts>): commands of the
//! composer, and a tool with which the agent gets the text of the one that the user has chosen. The text comes as a result of
//! a tool, so it is bounded, recorded, and counts as what others have written, as results of the server's tools do.

use super::in_call;
use super::prompt_list::{MAX_ARGUMENTS, PromptInfo};
use super::resources::declared;
use crate::result;
use crate::users::UserConnection;
use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::sync::Arc;

/// Returns what the instructions of an agent say about the prompts. `prefix` begins their names as commands.
pub(crate) fn context(server: &str, prefix: &str, tool: &str, prompts: &[PromptInfo]) -> Option<String> {
    if prompts.is_empty() {
        return None;
    }
    let mut text = format!(
        "The server `{server}` has prompts. If the user's newest message begins with `/` and the name of one of them, call \
         `{tool}` with it, with its arguments from the rest of the message, and answer what its text asks. Ask the user for \
         required arguments that are missing.\n"
    );
    for PromptInfo { name, about, arguments } in prompts {
        let argument = |(name, is_required): &(String, bool)| format!("{name}{}", if *is_required { "" } else { "?" });
        let arguments: Vec<_> = arguments.iter().map(argument).collect();
        let _ = writeln!(text, "- /{prefix}{name}({}): {about}", arguments.join(", "));
    }
    Some(text)
}

/// Gets the text of a prompt.
pub(crate) struct PromptTool {
    spec: ToolSpec,
    seat: Arc<UserConnection>,
    prefix: String,
}

impl PromptTool {
    /// Creates the tool; the base has the terms of the server's tools.
    pub(crate) fn new(name: String, server: &str, prefix: &str, base: &ToolSpec, seat: Arc<UserConnection>) -> Self {
        let about = format!("Returns the text of a prompt of `{server}` that the user has chosen with `/`.");
        let arguments =
            json!({ "type": "object", "additionalProperties": { "type": "string" }, "maxProperties": MAX_ARGUMENTS });
        let schema = json!({
            "type": "object",
            "properties": { "name": { "type": "string", "maxLength": 200 }, "arguments": arguments },
            "required": ["name"],
            "additionalProperties": false,
        });
        let spec = ToolSpec { deferrable: false, ..declared(name, about, schema, base) };
        Self { spec, seat, prefix: prefix.to_owned() }
    }
}

impl Tool for PromptTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        async move {
            let name = input.get("name").and_then(Value::as_str).unwrap_or_default().trim_start_matches('/');
            let name = name.strip_prefix(&self.prefix).unwrap_or(name).to_owned();
            let arguments: Map<_, _> = input.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
            let asked = self.seat.read_in_call(&context, |connection| {
                let (name, arguments) = (name.clone(), arguments.clone());
                async move { connection.prompt(name, arguments).await }.boxed()
            });
            Ok(result::prompt_value(in_call(&context, asked).await?))
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::prompt_list::{MAX_PROMPTS, read_prompts};
    use rmcp::model::Prompt;

    #[test]
    fn prompts_are_limited_and_described() {
        let prompt = |value: Value| serde_json::from_value::<Prompt>(value).unwrap();
        let mut listed = vec![
            prompt(json!({ "name": "review", "description": "Reviews\u{202e} code.\nWell.",
                "arguments": [{ "name": "path", "required": true }, { "name": "style" }] })),
            prompt(json!({ "name": "two words" })),
            prompt(json!({ "name": "odd", "arguments": [{ "name": "a b" }] })),
        ];
        let prompts = read_prompts("s", listed.clone());
        let text = context("s", "t_", "s_get_prompt", &prompts).unwrap();
        assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), ["- /t_review(path, style?): Reviews code. Well."]);
        assert_eq!(context("s", "", "p", &[]), None);
        listed.extend((0..60).map(|at| prompt(json!({ "name": format!("p{at}") }))));
        assert_eq!(read_prompts("s", listed).len(), MAX_PROMPTS);
    }
}
