//! Endpoints as tools. A failure is a result that the client's model reads, not an error of the protocol.

use crate::handler::{Call, Client, failed, result_of};
use crate::progress::Progress;
use crate::section::OfferedEndpoint;
use capability::{Context, EndpointCall, EndpointFailure};
use contract::{CallReport, CallReports};
use rmcp::model::CallToolResult;
use serde_json::Value;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The most reports of a routine that wait for a slow client; the routine then waits, too.
const MAX_REPORTS: usize = 16;

/// Calls an endpoint.
pub(crate) async fn call(context: &Context, client: &Client, entry: &OfferedEndpoint, call: Call) -> CallToolResult {
    let Call { arguments, mut progress, cancel } = call;
    let id = uuid::Uuid::new_v4().simple();
    let (sender, mut reports) = mpsc::channel(MAX_REPORTS);
    let request = EndpointCall {
        caller: &client.caller,
        id: &entry.endpoint_id,
        payload: arguments,
        usage: format!("endpoint:{}", entry.endpoint_id),
        idempotency_key: format!("mcp-{id}"),
        meter: Arc::new(|models| models),
        cancel,
        reports: CallReports::new(id.to_string(), sender),
    };
    let mut called = pin!(context.current.call_endpoint(request));
    let outcome = loop {
        tokio::select! {
            biased;
            Some((_, report)) = reports.recv() => show(report, &mut progress).await,
            outcome = &mut called => break outcome,
        }
    };
    match outcome {
        Ok(value) => result_of(value),
        Err(
            EndpointFailure::Refused(message) | EndpointFailure::TimedOut(message) | EndpointFailure::Failed(message),
        ) => failed(message),
    }
}

/// Shows what a routine says with `:status`.
async fn show(report: CallReport, progress: &mut Progress) {
    if let CallReport::Data { name, data, .. } = report
        && name == "status"
        && let Some(text) = data.get("message").and_then(Value::as_str)
    {
        progress.step(text.to_owned()).await;
    }
}
