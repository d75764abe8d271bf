//! Reads messages from a [`Value`].

use super::{
    Approval, ApprovalTerms, DataPart, FilePart, SourceDocument, SourceUrl, TextPart, TextState, ToolPart, ToolState,
    UiMessage, UiPart,
};
use crate::ProviderMetadata;
use crate::read::{Fields, Read, Unreadable};
use serde_json::Value;

impl Read for UiMessage {
    fn read(value: Value) -> Result<Self, Unreadable> {
        let mut fields = Fields::of(value)?;
        Ok(Self {
            id: fields.take("id")?,
            role: fields.take("role")?,
            metadata: fields.take("metadata")?,
            parts: fields.take_or_default("parts")?,
        })
    }
}

#[cfg(target_arch = "wasm32")]
crate::read::deserialize_by_reading!(UiMessage, UiPart);

impl Read for UiPart {
    fn read(value: Value) -> Result<Self, Unreadable> {
        part(value).map_err(Unreadable::from)
    }
}

/// Reads a part of any type.
pub(super) fn part(mut value: Value) -> Result<UiPart, String> {
    let kind = value.get("type").and_then(Value::as_str).ok_or("missing field `type`")?.to_owned();
    let fields = &mut value;
    Ok(match kind.as_str() {
        "text" => UiPart::Text(TextFields::from_value(fields).part()?),
        "reasoning" => UiPart::Reasoning(TextFields::from_value(fields).part()?),
        "file" => UiPart::File(FilePart {
            media_type: need(fields, "mediaType")?,
            url: need(fields, "url")?,
            filename: text(fields, "filename"),
            provider_metadata: metadata(fields, "providerMetadata"),
        }),
        "source-url" => UiPart::SourceUrl(SourceUrl {
            source_id: need(fields, "sourceId")?,
            url: need(fields, "url")?,
            title: text(fields, "title"),
            provider_metadata: metadata(fields, "providerMetadata"),
        }),
        "source-document" => UiPart::SourceDocument(SourceDocument {
            source_id: need(fields, "sourceId")?,
            media_type: need(fields, "mediaType")?,
            title: need(fields, "title")?,
            filename: text(fields, "filename"),
            provider_metadata: metadata(fields, "providerMetadata"),
        }),
        "step-start" => UiPart::StepStart,
        "dynamic-tool" => {
            let name = text(fields, "toolName").unwrap_or_default();
            UiPart::Tool(Box::new(ToolPart { dynamic: true, ..ToolPart::read(name, fields)? }))
        }
        kind if kind.starts_with("data-") => {
            let (id, data) = (text(fields, "id"), present(fields, "data").ok_or("missing field `data`")?);
            UiPart::Data(DataPart { kind: kind.to_owned(), id, data })
        }
        kind => match kind.strip_prefix("tool-") {
            Some(name) => UiPart::Tool(Box::new(ToolPart::read(name.to_owned(), fields)?)),
            None => UiPart::Other(value),
        },
    })
}

/// The fields of a text or reasoning part.
#[derive(Default)]
pub(super) struct TextFields {
    id: Option<Value>,
    text: Option<Value>,
    state: Option<Value>,
    provider_metadata: Option<Value>,
    citations: Option<Value>,
}

impl TextFields {
    fn from_value(fields: &mut Value) -> Self {
        let mut found = Self::default();
        for name in ["id", "text", "state", "providerMetadata", "citations"] {
            if let Some(field) = found.named(name) {
                *field = present(fields, name);
            }
        }
        found
    }

    /// Returns the field of this name; `None` for an unknown one.
    pub(super) fn named(&mut self, name: &str) -> Option<&mut Option<Value>> {
        Some(match name {
            "id" => &mut self.id,
            "text" => &mut self.text,
            "state" => &mut self.state,
            "providerMetadata" => &mut self.provider_metadata,
            "citations" => &mut self.citations,
            _ => return None,
        })
    }

    /// Builds the part.
    pub(super) fn part(self) -> Result<TextPart, String> {
        let state = match string(self.state).as_deref() {
            None => None,
            Some("streaming") => Some(TextState::Streaming),
            Some("done") => Some(TextState::Done),
            Some(unknown) => return Err(format!("unknown state `{unknown}`")),
        };
        let citations = match self.citations {
            Some(Value::Array(citations)) => citations,
            _ => Vec::new(),
        };
        let text = string(self.text).ok_or("missing field `text`")?;
        Ok(TextPart { id: string(self.id), text, state, provider_metadata: object(self.provider_metadata), citations })
    }
}

impl ToolPart {
    fn read(tool_name: String, fields: &mut Value) -> Result<Self, String> {
        Ok(Self {
            tool_name,
            dynamic: false,
            tool_call_id: need(fields, "toolCallId")?,
            state: ToolState::read(&need(fields, "state")?)?,
            title: text(fields, "title"),
            provider_executed: yes(fields, "providerExecuted"),
            input: take(fields, "input"),
            raw_input: take(fields, "rawInput"),
            output: present(fields, "output"),
            error_text: text(fields, "errorText"),
            preliminary: yes(fields, "preliminary"),
            approval: take(fields, "approval").map(Approval::read).transpose()?,
            call_provider_metadata: metadata(fields, "callProviderMetadata"),
            result_provider_metadata: metadata(fields, "resultProviderMetadata"),
            tool_metadata: take(fields, "toolMetadata"),
        })
    }
}

impl ToolState {
    fn read(name: &str) -> Result<Self, String> {
        Ok(match name {
            "input-streaming" => Self::InputStreaming,
            "input-available" => Self::InputAvailable,
            "approval-requested" => Self::ApprovalRequested,
            "approval-responded" => Self::ApprovalResponded,
            "output-available" => Self::OutputAvailable,
            "output-error" => Self::OutputError,
            "output-denied" => Self::OutputDenied,
            unknown => return Err(format!("unknown state `{unknown}`")),
        })
    }
}

impl Approval {
    fn read(mut fields: Value) -> Result<Self, String> {
        let fields = &mut fields;
        Ok(Self {
            id: need(fields, "id")?,
            approved: yes(fields, "approved"),
            reason: text(fields, "reason"),
            signature: text(fields, "signature"),
            // Unreadable terms are dropped: the server never trusts a client's terms.
            terms: take(fields, "terms").and_then(|terms| ApprovalTerms::read(terms).ok()).map(Box::new),
            expired: yes(fields, "expired"),
            passed_over: yes(fields, "passedOver"),
        })
    }
}

/// Returns a field that is present, even if it is `null`.
fn present(fields: &mut Value, key: &str) -> Option<Value> {
    fields.get_mut(key).map(Value::take)
}

/// Returns a field that is not `null`; some clients write `null` for an absent value.
fn take(fields: &mut Value, key: &str) -> Option<Value> {
    present(fields, key).filter(|value| !value.is_null())
}

fn text(fields: &mut Value, key: &str) -> Option<String> {
    string(present(fields, key))
}

fn string(value: Option<Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn need(fields: &mut Value, key: &str) -> Result<String, String> {
    text(fields, key).ok_or_else(|| format!("missing field `{key}`"))
}

fn yes(fields: &Value, key: &str) -> Option<bool> {
    fields.get(key)?.as_bool()
}

fn metadata(fields: &mut Value, key: &str) -> Option<ProviderMetadata> {
    object(present(fields, key))
}

fn object(value: Option<Value>) -> Option<ProviderMetadata> {
    match value? {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}
