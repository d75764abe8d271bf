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
    let Call { arguments, mut progress, cancel, .. } = call;
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
        Ok(value) if entry.returns_content => match content_blocks(&value) {
            Ok(blocks) => CallToolResult::success(blocks),
            Err(why) => {
                tracing::warn!(endpoint = entry.endpoint_id, why, "an endpoint did not return content of MCP");
                failed(format!("The result is not the content that the tool should return: {why}."))
            }
        },
        Ok(value) => result_of(value),
        Err(
            EndpointFailure::Refused(message) | EndpointFailure::TimedOut(message) | EndpointFailure::Failed(message),
        ) => failed(message),
    }
}

/// Returns the blocks of a result that is content of the protocol: `{content: […]}` and nothing else.
///
/// # Errors
/// The value is something else. The text says what is wrong, without parts of the value.
fn content_blocks(value: &Value) -> Result<Vec<ContentBlock>, String> {
    let fields = value.as_object().filter(|fields| fields.len() == 1);
    let blocks = fields.and_then(|fields| fields.get("content")).and_then(Value::as_array);
    let blocks = blocks.ok_or("it is not an object with nothing but `content`, a list of blocks")?;
    let read = |(index, block): (usize, &Value)| {
        ContentBlock::deserialize(block).map_err(|_| format!("block {} is not a content block of MCP", index + 1))
    };
    blocks.iter().enumerate().map(read).collect()
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
    fn content_has_blocks_of_the_protocol_and_nothing_else() {
        let check = |value: Value, expected: Result<(), &str>| {
            let read = content_blocks(&value).map(|blocks| assert_eq!(json!({ "content": blocks }), value));
            assert_eq!(read.as_ref().map_err(String::as_str).copied(), expected, "{value}");
        };
        let text = json!({ "type": "text", "text": "A picture:" });
        let image = json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" });
        let audio = json!({ "type": "audio", "data": "aGk=", "mimeType": "audio/wav" });
        let note = json!({ "uri": "note://1", "mimeType": "text/plain", "text": "hi" });
        let resource = json!({ "type": "resource", "resource": note });
        check(json!({ "content": [text, image, audio, resource] }), Ok(()));
        check(json!({ "content": [] }), Ok(()));
        let second = Err("block 2 is not a content block of MCP");
        check(json!({ "content": [text, { "type": "image" }] }), second);
        check(json!({ "content": [text, { "type": "order" }] }), second);
        let other = Err("it is not an object with nothing but `content`, a list of blocks");
        check(json!({ "content": [text], "total": 1 }), other);
        check(json!({ "content": "a text" }), other);
        check(json!([text]), other);
        check(json!({}), other);
    }
}
