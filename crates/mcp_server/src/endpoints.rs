//! Endpoints as tools. A failure is a result that the client's model reads, not an error of the protocol.

use crate::call::{Call, Client, failed, result_of};
use crate::section::OfferedEndpoint;
use capability::{Context, EndpointCall, EndpointFailure};
use contract::{CallReport, CallReports};
use rmcp::model::CallToolResult;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The most texts that wait for a slow client; more are dropped.
const MAX_REPORTS: usize = 16;

/// Calls an endpoint.
pub(crate) async fn call(context: &Context, client: &Client, entry: &OfferedEndpoint, call: Call) -> CallToolResult {
    let Call { arguments, mut progress, cancel } = call;
    let id = uuid::Uuid::new_v4().simple();
    let (sender, mut reports) = mpsc::channel(MAX_REPORTS);
    let (texts, mut shown) = mpsc::channel(MAX_REPORTS);
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
    // The routine and its time limit do not wait for a client that does not read.
    let read = async move {
        while let Some((_, report)) = reports.recv().await {
            if let Some(text) = status(report) {
                let _ = texts.try_send(text);
            }
        }
    };
    let show = async move {
        while let Some(text) = shown.recv().await {
            progress.step(text).await;
        }
    };
    let (outcome, (), ()) = tokio::join!(context.current.call_endpoint(request), read, show);
    match outcome {
        Ok(value) => result_of(value),
        Err(
            EndpointFailure::Refused(message) | EndpointFailure::TimedOut(message) | EndpointFailure::Failed(message),
        ) => failed(message),
    }
}

/// Returns what a routine says with `:status`.
fn status(report: CallReport) -> Option<String> {
    match report {
        CallReport::Data { name, data, .. } if name == "status" => {
            data.get("message").and_then(Value::as_str).map(str::to_owned)
        }
        _ => None,
    }
}
