//! Endpoints as tools. A failure is a result that the client's model reads, not an error of the protocol.

use crate::call::{Call, Client, failed, result_of};
use crate::section::OfferedEndpoint;
use capability::{Context, EndpointCall, EndpointFailure};
use contract::{CallReport, CallReports};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Deserialize;
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
        Ok(value) => match content_blocks(&value) {
            Some(blocks) => CallToolResult::success(blocks),
            None => result_of(value),
        },
        Err(
            EndpointFailure::Refused(message) | EndpointFailure::TimedOut(message) | EndpointFailure::Failed(message),
        ) => failed(message),
    }
}

/// Returns the blocks of a value in the form of a result of the protocol: `{content: […]}` and nothing else. With that,
/// an endpoint returns images, audio and resources.
fn content_blocks(value: &Value) -> Option<Vec<ContentBlock>> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    let blocks = fields.get("content")?.as_array().filter(|blocks| !blocks.is_empty())?;
    blocks.iter().map(|block| ContentBlock::deserialize(block).ok()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_in_the_form_of_the_protocol_are_its_blocks() {
        let check = |value: Value, is_blocks: bool| {
            let blocks = content_blocks(&value);
            assert_eq!(blocks.is_some(), is_blocks, "{value}");
            if let Some(blocks) = blocks {
                assert_eq!(json!({ "content": blocks }), value);
            }
        };
        let text = json!({ "type": "text", "text": "A picture:" });
        let image = json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" });
        let audio = json!({ "type": "audio", "data": "aGk=", "mimeType": "audio/wav" });
        let note = json!({ "uri": "note://1", "mimeType": "text/plain", "text": "hi" });
        let resource = json!({ "type": "resource", "resource": note });
        check(json!({ "content": [text, image, audio, resource] }), true);
        // Other values are JSON, also those that only look like it.
        check(json!({ "content": [text], "total": 1 }), false);
        check(json!({ "content": [text, { "type": "image" }] }), false);
        check(json!({ "content": [{ "type": "order" }] }), false);
        check(json!({ "content": [] }), false);
        check(json!({ "content": "a text" }), false);
        check(json!([text]), false);
    }
}
