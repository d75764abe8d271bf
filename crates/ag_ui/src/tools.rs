//! The tools of the frontend.

use crate::input::Tool;
use contract::ToolSpec;
use schemas::{Schema, SchemaError};
use serde_json::json;
use wire::UserError;

/// The most tools of a request.
const MAX_TOOLS: usize = 128;
/// The most bytes of all tools.
const MAX_BYTES: usize = 512 << 10;

/// Returns the declarations of the tools. Their names are checked with those of the agent.
///
/// # Errors
/// 422 with the place of what cannot be used.
pub(crate) fn specs(tools: &[Tool]) -> Result<Vec<ToolSpec>, UserError> {
    if tools.len() > MAX_TOOLS {
        return Err(UserError::invalid("/tools", format!("A request has at most {MAX_TOOLS} tools.")));
    }
    let size = |tool: &Tool| tool.description.len() + tool.parameters.to_string().len();
    if tools.iter().map(size).sum::<usize>() > MAX_BYTES {
        return Err(UserError::invalid("/tools", format!("The tools have at most {} KB.", MAX_BYTES >> 10)));
    }
    let spec = |(at, tool): (usize, &Tool)| {
        let parameters = match &tool.parameters {
            value if value.is_null() || value == &json!({}) => json!({ "type": "object", "properties": {} }),
            value if value.is_object() => value.clone(),
            _ => {
                let path = format!("/tools/{at}/parameters");
                return Err(UserError::invalid(path, "The parameters are a JSON Schema."));
            }
        };
        Ok(ToolSpec::new(&tool.name, &tool.description, parameters))
    };
    tools.iter().enumerate().map(spec).collect()
}

/// Checks that the arguments of all tools can be checked.
///
/// # Errors
/// 422 for a schema that cannot be used, 503 while too many others are looked at.
pub(crate) async fn check_schemas(tools: &[ToolSpec]) -> Result<(), UserError> {
    for (at, tool) in tools.iter().enumerate() {
        let invalid = |reason: String| Err(UserError::invalid(format!("/tools/{at}/parameters"), reason));
        match Schema::compile_cached(&tool.input_schema).await {
            Ok(_) => {}
            Err(SchemaError::Busy) => return Err(web::busy()),
            Err(SchemaError::Invalid { path, message, .. }) => {
                return invalid(format!("This is not a JSON Schema, at `{path}`: {message}."));
            }
            Err(SchemaError::Refused(reason)) => return invalid(format!("This schema cannot be used: {reason}.")),
        }
    }
    Ok(())
}
