//! Reading a chunk: all fields of all kinds in one pass, then the kind says which of them it takes.

use super::{Chunk, DataChunk, FinishReason};
use crate::ProviderMetadata;
use crate::message::{FilePart, SourceDocument, SourceUrl};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

/// Every field that any kind of chunk has.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    delta: Option<String>,
    message_id: Option<String>,
    #[serde(default, deserialize_with = "present")]
    message_metadata: Option<Value>,
    provider_metadata: Option<ProviderMetadata>,
    tool_call_id: Option<String>,
    tool_name: Option<String>,
    input_text_delta: Option<String>,
    #[serde(default, deserialize_with = "present")]
    input: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    output: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    data: Option<Value>,
    error_text: Option<String>,
    provider_executed: Option<bool>,
    dynamic: Option<bool>,
    preliminary: Option<bool>,
    transient: Option<bool>,
    title: Option<String>,
    approval_id: Option<String>,
    finish_reason: Option<FinishReason>,
    reason: Option<String>,
    source_id: Option<String>,
    url: Option<String>,
    media_type: Option<String>,
    filename: Option<String>,
}

/// A `null` that is there is not the same as a field that is not.
fn present<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(d).map(Some)
}

impl<'de> Deserialize<'de> for Chunk {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let fields = Fields::deserialize(d)?;
        fields.chunk().map_err(D::Error::custom)
    }
}

/// The field, or an error that names it.
fn need<T>(field: Option<T>, name: &str) -> Result<T, String> {
    field.ok_or_else(|| format!("missing field `{name}`"))
}

impl Fields {
    fn chunk(self) -> Result<Chunk, String> {
        Ok(match self.kind.as_str() {
            "start" => Chunk::Start { message_id: self.message_id, message_metadata: self.message_metadata },
            "start-step" => Chunk::StartStep,
            "finish-step" => Chunk::FinishStep,
            "finish" => Chunk::Finish { finish_reason: self.finish_reason, message_metadata: self.message_metadata },
            "message-metadata" => {
                Chunk::MessageMetadata { message_metadata: need(self.message_metadata, "messageMetadata")? }
            }
            "abort" => Chunk::Abort { reason: self.reason },
            "error" => Chunk::Error { error_text: need(self.error_text, "errorText")? },
            kind if kind.starts_with("text-") || kind.starts_with("reasoning-") => return self.text(),
            kind if kind.starts_with("tool-") => return self.tool(),
            kind if kind.starts_with("data-") => Chunk::Data(DataChunk {
                data: need(self.data, "data")?,
                kind: self.kind,
                id: self.id,
                transient: self.transient,
            }),
            _ => return self.source(),
        })
    }

    fn text(self) -> Result<Chunk, String> {
        let (id, provider_metadata) = (need(self.id, "id")?, self.provider_metadata);
        let delta = need(self.delta, "delta");
        Ok(match self.kind.as_str() {
            "text-start" => Chunk::TextStart { id, provider_metadata },
            "text-delta" => Chunk::TextDelta { id, delta: delta?, provider_metadata },
            "text-end" => Chunk::TextEnd { id, provider_metadata },
            "reasoning-start" => Chunk::ReasoningStart { id, provider_metadata },
            "reasoning-delta" => Chunk::ReasoningDelta { id, delta: delta?, provider_metadata },
            "reasoning-end" => Chunk::ReasoningEnd { id, provider_metadata },
            kind => return Err(unknown(kind)),
        })
    }

    fn tool(self) -> Result<Chunk, String> {
        let Self { provider_executed, provider_metadata, dynamic, title, preliminary, .. } = self;
        let tool_call_id = need(self.tool_call_id, "toolCallId")?;
        let tool_name = need(self.tool_name, "toolName");
        let input = need(self.input, "input");
        let error_text = need(self.error_text, "errorText");
        Ok(match self.kind.as_str() {
            "tool-input-start" => {
                Chunk::ToolInputStart { tool_call_id, tool_name: tool_name?, provider_executed, dynamic, title }
            }
            "tool-input-delta" => {
                let input_text_delta = need(self.input_text_delta, "inputTextDelta")?;
                Chunk::ToolInputDelta { tool_call_id, input_text_delta }
            }
            "tool-input-available" => {
                let (tool_name, input) = (tool_name?, input?);
                Chunk::ToolInputAvailable {
                    tool_call_id,
                    tool_name,
                    input,
                    provider_executed,
                    provider_metadata,
                    dynamic,
                    title,
                }
            }
            "tool-input-error" => {
                let (tool_name, input, error_text) = (tool_name?, input?, error_text?);
                Chunk::ToolInputError {
                    tool_call_id,
                    tool_name,
                    input,
                    error_text,
                    provider_executed,
                    provider_metadata,
                    dynamic,
                }
            }
            "tool-approval-request" => {
                Chunk::ToolApprovalRequest { approval_id: need(self.approval_id, "approvalId")?, tool_call_id }
            }
            "tool-output-available" => {
                let output = need(self.output, "output")?;
                Chunk::ToolOutputAvailable {
                    tool_call_id,
                    output,
                    provider_executed,
                    provider_metadata,
                    dynamic,
                    preliminary,
                }
            }
            "tool-output-error" => {
                Chunk::ToolOutputError { tool_call_id, error_text: error_text?, provider_executed, dynamic }
            }
            "tool-output-denied" => Chunk::ToolOutputDenied { tool_call_id },
            kind => return Err(unknown(kind)),
        })
    }

    fn source(self) -> Result<Chunk, String> {
        let Self { title, filename, provider_metadata, .. } = self;
        let source_id = need(self.source_id, "sourceId");
        let media_type = need(self.media_type, "mediaType");
        let url = need(self.url, "url");
        Ok(match self.kind.as_str() {
            "source-url" => Chunk::SourceUrl(SourceUrl { source_id: source_id?, url: url?, title, provider_metadata }),
            "source-document" => Chunk::SourceDocument(SourceDocument {
                source_id: source_id?,
                media_type: media_type?,
                title: need(title, "title")?,
                filename,
                provider_metadata,
            }),
            "file" => Chunk::File(FilePart { media_type: media_type?, url: url?, filename, provider_metadata }),
            kind => return Err(unknown(kind)),
        })
    }
}

fn unknown(kind: &str) -> String {
    format!("unknown chunk type `{kind}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_that_are_none() {
        let check = |json: &str, expected: &str| {
            let error = serde_json::from_str::<Chunk>(json).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{json}: {error}");
        };
        check(r#"{"type":"execute","code":"1"}"#, "unknown chunk type `execute`");
        check(r#"{"type":"tool-approval-response","toolCallId":"a"}"#, "unknown chunk type `tool-approval-response`");
        check(r#"{"type":"text-delta","id":"1"}"#, "missing field `delta`");
        check(r#"{"id":"1"}"#, "missing field `type`");
        check("[]", "invalid length");
    }

    /// Every kind, as it is written and read.
    #[test]
    fn every_kind_survives_the_wire() {
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
