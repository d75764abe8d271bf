//! Endpoints as tools. A failure is a result that the client's model reads, not an error of the protocol.

use crate::handler::{Call, Client, failed, result_of};
use crate::section::EndpointEntry;
use capability::{Context, EndpointCall, EndpointFailure};
use rmcp::model::CallToolResult;
use std::sync::Arc;

/// Calls an endpoint.
pub(crate) async fn call(context: &Context, client: &Client, entry: &EndpointEntry, call: Call) -> CallToolResult {
    let request = EndpointCall {
        caller: &client.caller,
        id: &entry.endpoint_id,
        payload: call.arguments,
        usage: format!("endpoint:{}", entry.endpoint_id),
        idempotency_key: format!("mcp-{}", uuid::Uuid::new_v4().simple()),
        meter: Arc::new(|models| models),
        cancel: call.cancel,
    };
    match context.current.call_endpoint(request).await {
        Ok(value) => result_of(value),
        Err(
            EndpointFailure::Refused(message) | EndpointFailure::TimedOut(message) | EndpointFailure::Failed(message),
        ) => failed(message),
    }
}
