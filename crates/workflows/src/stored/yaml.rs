//! Definitions as YAML, as people read and edit them.

use super::save;
use capability::Context;
use chat::Caller;
use config::{Diagnostic, problems_in_yaml, read_yaml, to_yaml};
use serde_json::{Value, json};

/// The name of the text in messages.
const FILE: &str = "definition.yaml";

/// Writes a definition.
pub(crate) fn definition_yaml(definition: &Value) -> String {
    to_yaml(definition)
}

/// Writes a definition as a part of a config.
pub(crate) fn section_yaml(definition: &Value) -> String {
    to_yaml(&json!({ "workflows": [definition] }))
}

/// Reads a definition and checks it.
///
/// # Errors
/// The problems of the definition, with their places in the text.
pub(crate) async fn read_definition(context: &Context, caller: &Caller, text: &str) -> Result<Value, Vec<Diagnostic>> {
    let definition = read_yaml(FILE, text)?;
    match save::check(context, caller, definition.clone()).await {
        Ok(_) => Ok(definition),
        Err(problems) => Err(problems_in_yaml(FILE, text, problems)),
    }
}
