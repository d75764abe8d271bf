//! Inputs and answers that are checked against schemas.

use schemas::{CheckError, Schema};
use serde_json::{Map, Value};
use wire::UserError;
use workflow_definition::Workflow;

/// The most bytes of an input or an answer.
const MAX_BYTES: usize = 1 << 20;

/// Checks the input of a run.
///
/// # Errors
/// 422 with the place of the first mistake.
pub(crate) async fn check(workflow: &Workflow, input: &Value) -> Result<(), UserError> {
    if !input.is_object() {
        return Err(UserError::invalid("/input", "The input is a JSON object."));
    }
    check_schema("/input", workflow.input.as_ref(), input).await
}

/// Checks a value against a schema. `place` is where the value stands in the request.
///
/// # Errors
/// 422 with the place of the first mistake.
pub(crate) async fn check_schema(
    place: &str,
    schema: Option<&Map<String, Value>>,
    value: &Value,
) -> Result<(), UserError> {
    if value.to_string().len() > MAX_BYTES {
        return Err(UserError::invalid(place, format!("This is larger than {MAX_BYTES} bytes.")));
    }
    let Some(schema) = schema else { return Ok(()) };
    let compiled = Schema::compile(&Value::Object(schema.clone())).await;
    let compiled =
        compiled.map_err(|error| UserError::invalid(place, format!("The schema cannot be used: {error}")))?;
    match compiled.check(value, 1).await {
        Ok(()) => Ok(()),
        Err(CheckError::Faults(faults)) => {
            let fault = faults.into_iter().next();
            let (path, message) = fault.map(|fault| (fault.path, fault.message)).unwrap_or_default();
            Err(UserError::invalid(format!("{place}{path}"), message))
        }
        Err(other) => Err(UserError::invalid(place, other.to_string())),
    }
}
