//! Builds the chunks that `to_wire` and the end of a run need.

use agent::{Grant, TurnUsage};
use contract::{Citation, Part, Source, ToolCall, displayed_item};
use serde_json::{Value, json};
use wire::{
    Chunk, DataChunk, PAGE_CONTEXT, PROMPT_NOTE, ProviderOutput, QUOTA_WARNING, SPENT, STANDING_APPROVAL,
    SUSPENDED_CALL,
};

/// The maximum number of bytes of the name of a provider's item.
const MAX_NAME: usize = 200;

/// Converts a citation to the format of the AI SDK's client.
pub(crate) fn citation(citation: Citation) -> Value {
    let source = match citation.source {
        Source::Url { id, url, title, metadata } => {
            json!({ "type": "source", "sourceType": "url", "id": id, "url": url, "title": title, "providerMetadata": metadata })
        }
        Source::Document { id, media_type, title, filename, metadata } => json!({
            "type": "source",
            "sourceType": "document",
            "id": id,
            "mediaType": media_type,
            "title": title,
            "filename": filename,
            "providerMetadata": metadata,
        }),
    };
    let mut citation = json!({
        "source": source,
        "startIndex": citation.start_index,
        "endIndex": citation.end_index,
        "citedText": citation.cited_text,
    });
    without_nulls(&mut citation);
    without_nulls(&mut citation["source"]);
    citation
}

/// Removes `null` fields, which the client rejects.
fn without_nulls(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.retain(|_, value| !value.is_null());
    }
}

/// Builds the chunk that shows a provider's item; `None` if other parts show what it contains. The item
/// itself stays on the server, for later requests to the same provider.
pub(crate) fn provider_output(part: &Part) -> Option<Chunk> {
    let Part::ProviderItem { provider, item, shown_as: Some(name) } = part else { return None };
    let name = &name[..name.floor_char_boundary(MAX_NAME)];
    Some(Chunk::Data(ProviderOutput { provider, name, content: &displayed_item(item) }.to_chunk()))
}

/// Builds the chunk of an interim result.
pub(crate) fn preliminary(tool_call_id: String, output: Value) -> Chunk {
    Chunk::ToolOutputAvailable {
        tool_call_id,
        output,
        provider_executed: None,
        provider_metadata: None,
        dynamic: None,
        preliminary: Some(true),
    }
}

/// Builds the chunk with the state of a suspended call; `null` once the call is over.
pub(crate) fn suspended(call_id: String, state: Value) -> Chunk {
    about_call(SUSPENDED_CALL, call_id, state)
}

/// Builds the chunk with the usage of a turn that waits for the user.
pub fn spent(spent: &TurnUsage) -> Chunk {
    let data = serde_json::to_value(spent).unwrap_or_default();
    Chunk::Data(DataChunk { kind: SPENT.to_owned(), id: Some("spent".to_owned()), data, transient: None })
}

/// Builds the part with the server's note to the model after a step.
pub fn prompt_note(text: &str) -> DataChunk {
    DataChunk { kind: PROMPT_NOTE.to_owned(), id: None, data: json!({ "text": text }), transient: None }
}

/// Builds the part about a quota of the user of which little is left.
pub fn quota_warning(text: &str) -> DataChunk {
    DataChunk { kind: QUOTA_WARNING.to_owned(), id: None, data: json!({ "text": text }), transient: None }
}

/// Builds the part with what the user's page contained.
pub(crate) fn page_context(text: &str) -> DataChunk {
    DataChunk { kind: PAGE_CONTEXT.to_owned(), id: None, data: json!({ "text": text }), transient: None }
}

/// Builds the chunk about the standing approval that lets a call run.
pub(crate) fn standing_approval(call_id: String, tool: &str, grant: &Grant) -> Chunk {
    let scope = if grant.is_for_conversation { "conversation" } else { "always" };
    about_call(STANDING_APPROVAL, call_id, json!({ "grantId": grant.id, "toolName": tool, "scope": scope }))
}

/// Builds a data chunk about a call.
fn about_call(kind: &str, call_id: String, data: Value) -> Chunk {
    Chunk::Data(DataChunk { kind: kind.to_owned(), id: Some(call_id), data, transient: None })
}

/// Builds the chunk of a call that is complete, or that runs again.
pub(crate) fn available(call: ToolCall, dynamic: bool) -> Chunk {
    Chunk::ToolInputAvailable {
        tool_call_id: call.id,
        tool_name: call.name,
        input: call.input,
        provider_executed: call.provider_executed.then_some(true),
        provider_metadata: call.metadata,
        dynamic: dynamic.then_some(true),
        title: None,
    }
}
