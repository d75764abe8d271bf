//! The prompts that the caller sees in the prompt library, as prompts of the protocol.

use crate::call::Client;
use crate::error::protocol_error;
use capability::{Context, FilledPrompt, UserPrompt, UserPromptVariable, UserPrompts};
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, JsonObject, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns the prompts of this server; `None` if there are none, or the credentials do not allow their use.
pub(crate) fn library(context: &Context, client: &Client) -> Option<Arc<dyn UserPrompts>> {
    let library = context.current.user_prompts().filter(|_| client.may_use_prompts())?;
    library.is_on(&context.current.config()).then_some(library)
}

/// Returns a page of the prompts of a caller. A cursor is the name of the last prompt of the page before.
pub(crate) async fn list(
    context: &Context,
    client: &Client,
    cursor: Option<&str>,
) -> Result<ListPromptsResult, ErrorData> {
    let Some(library) = library(context, client) else { return Ok(ListPromptsResult::default()) };
    let page = library.list(context, &client.caller, cursor).await.map_err(protocol_error)?;
    let last = page.prompts.last().filter(|_| page.has_more);
    let next_cursor = last.map(|prompt| prompt.name.clone());
    let mut result = ListPromptsResult::with_all_items(page.prompts.into_iter().map(prompt).collect());
    result.next_cursor = next_cursor;
    Ok(result)
}

/// Returns a prompt with the arguments in place of its variables, as a message of the user.
pub(crate) async fn get(
    context: &Context,
    client: &Client,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let unknown = || ErrorData::invalid_params("There is no prompt with this name.", None);
    let library = library(context, client).ok_or_else(unknown)?;
    let values = texts(request.arguments.unwrap_or_default())?;
    let filled = library.fill(context, &client.caller, &request.name, values).await;
    let FilledPrompt { description, text } = filled.map_err(protocol_error)?;
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).with_description(description))
}

/// Returns a prompt as clients see it.
fn prompt(UserPrompt { name, title, description, variables }: UserPrompt) -> Prompt {
    let arguments: Vec<_> = variables.into_iter().map(argument).collect();
    let arguments = Some(arguments).filter(|arguments| !arguments.is_empty());
    Prompt::new(name, Some(description), arguments).with_title(title)
}

fn argument(UserPromptVariable { name, values }: UserPromptVariable) -> PromptArgument {
    let argument = PromptArgument::new(name).with_required(values.is_empty());
    match values.as_slice() {
        [] => argument,
        [only] if only.is_empty() => argument.with_description("May be left out."),
        [only] => argument.with_description(format!("Default: {only}")),
        [first, ..] => argument.with_description(format!("One of: {}. Default: {first}", values.join(", "))),
    }
}

/// Returns arguments, which are texts.
fn texts(arguments: JsonObject) -> Result<BTreeMap<String, String>, ErrorData> {
    let text = |(name, value)| match value {
        Value::String(text) => Ok((name, text)),
        _ => Err(ErrorData::invalid_params("The arguments of a prompt must be texts.", None)),
    };
    arguments.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn variables_are_arguments() {
        let check = |values: &[&str], expected: Value| {
            let values = values.iter().map(ToString::to_string).collect();
            let found = argument(UserPromptVariable { name: "a".to_owned(), values });
            assert_eq!(serde_json::to_value(found).unwrap(), expected);
        };
        check(&[], json!({ "name": "a", "required": true }));
        check(&[""], json!({ "name": "a", "required": false, "description": "May be left out." }));
        check(&["b"], json!({ "name": "a", "required": false, "description": "Default: b" }));
        check(&["b", "c"], json!({ "name": "a", "required": false, "description": "One of: b, c. Default: b" }));
    }

    #[test]
    fn arguments_are_texts() {
        let check = |arguments: Value, expected: Option<usize>| {
            let arguments = arguments.as_object().cloned().unwrap_or_default();
            assert_eq!(texts(arguments).ok().map(|texts| texts.len()), expected);
        };
        check(json!({}), Some(0));
        check(json!({ "a": "b", "c": "" }), Some(2));
        check(json!({ "a": 1 }), None);
        check(json!({ "a": null }), None);
    }
}
