//! The tools for documents, over the libraries that the caller may read.

use crate::call::{Call, Client, failed, result_of};
use chat::RoutineMeters;
use contract::{CallReports, Tool, ToolContext};
use rmcp::model::CallToolResult;
use schemas::Schema;
use serde_json::Value;
use std::sync::Arc;

/// How many problems of the arguments are named.
const MAX_FAULTS: usize = 8;

/// Who is named in the usage of models that search documents.
const USAGE: &str = "mcp:documents";

/// Calls a tool for documents.
pub(crate) async fn call(meters: &RoutineMeters, client: &Client, tool: &dyn Tool, call: Call) -> CallToolResult {
    let spec = tool.spec();
    if let Err(problem) = check(&spec.input_schema, &call.arguments).await {
        return failed(problem);
    }
    let context = ToolContext {
        call_id: uuid::Uuid::now_v7().simple().to_string(),
        scope: Arc::new(client.caller.scope()),
        cancel: call.cancel.clone(),
        reports: CallReports::default(),
        may_repeat: spec.annotations.idempotent,
        models: meters.meter(&client.caller, USAGE),
    };
    tokio::select! {
        result = tokio::time::timeout(spec.timeout, tool.call(call.arguments, context)) => match result {
            Ok(Ok(value)) => result_of(value),
            Ok(Err(error)) => failed(error.message),
            Err(_) => failed(format!("This took longer than {} s. Try again.", spec.timeout.as_secs())),
        },
        () = call.cancel.cancelled() => failed("The call was cancelled."),
    }
}

/// Checks arguments.
///
/// # Errors
/// The error for the client's model.
async fn check(schema: &Value, arguments: &Value) -> Result<(), String> {
    let schema = Schema::compile_cached(schema).await;
    let schema = schema.map_err(|_| "This tool cannot be used now. Try again in a moment.".to_owned())?;
    schema.check(arguments, MAX_FAULTS).await.map_err(|error| format!("The arguments are not valid: {error}."))
}
