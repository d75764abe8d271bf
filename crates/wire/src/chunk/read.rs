//! Deserialization of a chunk: its type determines its fields.

use super::{Chunk, DataChunk, FinishReason};
use crate::message::{ApprovalTerms, FilePart, SourceDocument, SourceUrl};
use crate::read::{Fields, Read, Unreadable, deserialize_by_reading, read_names};
use serde_json::Value;

read_names!(FinishReason {
    "stop" => Stop,
    "length" => Length,
    "content-filter" => ContentFilter,
    "tool-calls" => ToolCalls,
    "error" => Error,
    "other" => Other,
});

impl Read for Chunk {
    fn read(value: Value) -> Result<Self, Unreadable> {
        let mut fields = Fields::of(value)?;
        let kind: String = fields.take("type")?;
        match kind.split_once('-').map_or(kind.as_str(), |(family, _)| family) {
            "text" | "reasoning" => text(&kind, &mut fields),
            "tool" => tool(&kind, &mut fields),
            "source" | "file" => source(&kind, &mut fields),
            "data" => Ok(Self::Data(DataChunk {
                id: fields.take("id")?,
                // A `null` value is valid, unlike an absent field.
                data: fields.take("data")?,
                transient: fields.take("transient")?,
                kind,
            })),
            _ => frame(&kind, &mut fields),
        }
    }
}

deserialize_by_reading!(Chunk);

/// Reads chunks about the message as a whole.
fn frame(kind: &str, fields: &mut Fields) -> Result<Chunk, Unreadable> {
    Ok(match kind {
        "start" => {
            Chunk::Start { message_id: fields.take("messageId")?, message_metadata: fields.take("messageMetadata")? }
        }
        "start-step" => Chunk::StartStep,
        "finish-step" => Chunk::FinishStep,
        "finish" => Chunk::Finish {
            finish_reason: fields.take("finishReason")?,
            message_metadata: fields.take("messageMetadata")?,
        },
        "message-metadata" => Chunk::MessageMetadata { message_metadata: fields.take("messageMetadata")? },
        "abort" => Chunk::Abort { reason: fields.take("reason")? },
        "error" => Chunk::Error { error_text: fields.take("errorText")? },
        _ => return Err(unknown(kind)),
    })
}

fn text(kind: &str, fields: &mut Fields) -> Result<Chunk, Unreadable> {
    let (id, provider_metadata) = (fields.take("id")?, fields.take("providerMetadata")?);
    Ok(match kind {
        "text-start" => Chunk::TextStart { id, provider_metadata },
        "text-delta" => Chunk::TextDelta { id, delta: fields.take("delta")?, provider_metadata },
        "text-end" => Chunk::TextEnd {
            id,
            citations: fields.take::<Option<_>>("citations")?.unwrap_or_default(),
            provider_metadata,
        },
        "reasoning-start" => Chunk::ReasoningStart { id, provider_metadata },
        "reasoning-delta" => Chunk::ReasoningDelta { id, delta: fields.take("delta")?, provider_metadata },
        "reasoning-end" => Chunk::ReasoningEnd { id, provider_metadata },
        _ => return Err(unknown(kind)),
    })
}

fn tool(kind: &str, fields: &mut Fields) -> Result<Chunk, Unreadable> {
    let tool_call_id = fields.take("toolCallId");
    let (provider_executed, dynamic) = (fields.take("providerExecuted")?, fields.take("dynamic")?);
    Ok(match kind {
        "tool-input-start" => Chunk::ToolInputStart {
            tool_call_id: tool_call_id?,
            tool_name: fields.take("toolName")?,
            provider_executed,
            dynamic,
            title: fields.take("title")?,
        },
        "tool-input-delta" => {
            Chunk::ToolInputDelta { tool_call_id: tool_call_id?, input_text_delta: fields.take("inputTextDelta")? }
        }
        "tool-input-available" => Chunk::ToolInputAvailable {
            tool_call_id: tool_call_id?,
            tool_name: fields.take("toolName")?,
            input: fields.take("input")?,
            provider_executed,
            provider_metadata: fields.take("providerMetadata")?,
            dynamic,
            title: fields.take("title")?,
        },
        "tool-input-error" => Chunk::ToolInputError {
            tool_call_id: tool_call_id?,
            tool_name: fields.take("toolName")?,
            input: fields.take("input")?,
            error_text: fields.take("errorText")?,
            provider_executed,
            provider_metadata: fields.take("providerMetadata")?,
            dynamic,
        },
        "tool-approval-request" => Chunk::ToolApprovalRequest {
            approval_id: fields.take("approvalId")?,
            tool_call_id: tool_call_id?,
            terms: fields.take::<Option<ApprovalTerms>>("terms")?.map(Box::new),
            approved: fields.take("approved")?,
        },
        "tool-output-available" => Chunk::ToolOutputAvailable {
            tool_call_id: tool_call_id?,
            output: fields.take("output")?,
            provider_executed,
            provider_metadata: fields.take("providerMetadata")?,
            dynamic,
            preliminary: fields.take("preliminary")?,
        },
        "tool-output-error" => Chunk::ToolOutputError {
            tool_call_id: tool_call_id?,
            error_text: fields.take("errorText")?,
            provider_executed,
            dynamic,
        },
        "tool-output-denied" => Chunk::ToolOutputDenied { tool_call_id: tool_call_id? },
        _ => return Err(unknown(kind)),
    })
}

fn source(kind: &str, fields: &mut Fields) -> Result<Chunk, Unreadable> {
    let provider_metadata = fields.take("providerMetadata")?;
    Ok(match kind {
        "source-url" => Chunk::SourceUrl(SourceUrl {
            source_id: fields.take("sourceId")?,
            url: fields.take("url")?,
            title: fields.take("title")?,
            provider_metadata,
        }),
        "source-document" => Chunk::SourceDocument(SourceDocument {
            source_id: fields.take("sourceId")?,
            media_type: fields.take("mediaType")?,
            title: fields.take("title")?,
            filename: fields.take("filename")?,
            provider_metadata,
        }),
        "file" => Chunk::File(FilePart {
            media_type: fields.take("mediaType")?,
            url: fields.take("url")?,
            filename: fields.take("filename")?,
            provider_metadata,
        }),
        _ => return Err(unknown(kind)),
    })
}

fn unknown(kind: &str) -> Unreadable {
    Unreadable::from(format!("unknown chunk type `{kind}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_chunks_are_rejected() {
        let check = |json: &str, expected: &str| {
            let error = serde_json::from_str::<Chunk>(json).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{json}: {error}");
        };
        check(r#"{"type":"execute","code":"1"}"#, "unknown chunk type `execute`");
        check(r#"{"type":"tool-approval-response","toolCallId":"a"}"#, "unknown chunk type `tool-approval-response`");
        check(r#"{"type":"text-delta","id":"1"}"#, "missing field `delta`");
        check(r#"{"id":"1"}"#, "missing field `type`");
        check("[]", "invalid type: a list, expected an object");
    }

    /// Checks that every kind of chunk round-trips.
    #[test]
    fn every_kind_of_chunk_round_trips() {
        let check = |json: &str| {
            let chunk: Chunk = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&chunk).unwrap(), json);
        };
        check(r#"{"type":"start","messageId":"m","messageMetadata":{"a":1}}"#);
        check(r#"{"type":"start-step"}"#);
        check(r#"{"type":"text-start","id":"1"}"#);
        check(r#"{"type":"text-delta","id":"1","delta":"x"}"#);
        check(r#"{"type":"text-end","id":"1","providerMetadata":{"p":{"a":1}}}"#);
        check(r#"{"type":"reasoning-start","id":"1"}"#);
        check(r#"{"type":"reasoning-delta","id":"1","delta":"","providerMetadata":{"anthropic":{"signature":"s"}}}"#);
        check(r#"{"type":"reasoning-end","id":"1"}"#);
        check(
            r#"{"type":"tool-input-start","toolCallId":"c","toolName":"t","providerExecuted":true,"dynamic":true,"title":"T"}"#,
        );
        check(r#"{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"{"}"#);
        check(r#"{"type":"tool-input-available","toolCallId":"c","toolName":"t","input":null}"#);
        check(r#"{"type":"tool-input-error","toolCallId":"c","toolName":"t","input":"{","errorText":"e"}"#);
        check(r#"{"type":"tool-approval-request","approvalId":"a","toolCallId":"c"}"#);
        check(r#"{"type":"tool-approval-request","approvalId":"a","toolCallId":"c","approved":false}"#);
        check(r#"{"type":"tool-output-available","toolCallId":"c","output":null,"preliminary":true}"#);
        check(r#"{"type":"tool-output-error","toolCallId":"c","errorText":"e"}"#);
        check(r#"{"type":"tool-output-denied","toolCallId":"c"}"#);
        check(r#"{"type":"source-url","sourceId":"s","url":"https://example.org","title":"T"}"#);
        check(r#"{"type":"source-document","sourceId":"s","mediaType":"application/pdf","title":"T","filename":"f"}"#);
        check(r#"{"type":"file","mediaType":"image/png","url":"data:,"}"#);
        check(r#"{"type":"finish-step"}"#);
        check(r#"{"type":"finish","finishReason":"tool-calls"}"#);
        check(r#"{"type":"message-metadata","messageMetadata":{"a":1}}"#);
        check(r#"{"type":"abort","reason":"stopped"}"#);
        check(r#"{"type":"error","errorText":"e"}"#);
        check(r#"{"type":"data-title","id":"1","data":{"title":"T"},"transient":true}"#);
    }
}
