//! The inverse of the reducer: converts a message to chunks.

use crate::message::{TextPart, TextState, ToolPart, ToolState};
use crate::{Chunk, DataChunk, Role, UiMessage, UiPart};
use serde_json::Value;

/// Returns the chunks that rebuild a message, without `start` and `finish`, for a client that joins
/// in the middle.
pub fn replay(message: &UiMessage) -> Vec<Chunk> {
    debug_assert_ne!(message.role, Role::User, "only answers are told in chunks");
    let mut chunks = Vec::new();
    let mut in_step = false;
    for (at, part) in message.parts.iter().enumerate() {
        if matches!(part, UiPart::StepStart) {
            if in_step {
                chunks.push(Chunk::FinishStep);
            }
            in_step = true;
        }
        replay_part(part, format!("r{at}"), &mut chunks);
    }
    if in_step {
        chunks.push(Chunk::FinishStep);
    }
    chunks
}

fn replay_part(part: &UiPart, id: String, chunks: &mut Vec<Chunk>) {
    match part {
        UiPart::StepStart => chunks.push(Chunk::StartStep),
        UiPart::Text(text) => {
            let provider_metadata = text.provider_metadata.clone();
            chunks.push(Chunk::TextStart { id: id.clone(), provider_metadata });
            chunks.push(Chunk::TextDelta { id: id.clone(), delta: text.text.clone(), provider_metadata: None });
            if is_complete(text) {
                let citations = text.citations.clone();
                chunks.push(Chunk::TextEnd { id, citations, provider_metadata: None });
            }
        }
        UiPart::Reasoning(text) => {
            let id = text.id.clone().unwrap_or(id);
            let provider_metadata = text.provider_metadata.clone();
            chunks.push(Chunk::ReasoningStart { id: id.clone(), provider_metadata });
            chunks.push(Chunk::ReasoningDelta { id: id.clone(), delta: text.text.clone(), provider_metadata: None });
            if is_complete(text) {
                chunks.push(Chunk::ReasoningEnd { id, provider_metadata: None });
            }
        }
        UiPart::File(file) => chunks.push(Chunk::File(file.clone())),
        UiPart::SourceUrl(source) => chunks.push(Chunk::SourceUrl(source.clone())),
        UiPart::SourceDocument(source) => chunks.push(Chunk::SourceDocument(source.clone())),
        UiPart::Data(data) => chunks.push(Chunk::Data(DataChunk {
            kind: data.kind.clone(),
            id: data.id.clone(),
            data: data.data.clone(),
            transient: None,
        })),
        UiPart::Tool(tool) => replay_tool(tool, chunks),
        UiPart::Other(_) => {}
    }
}

/// Returns whether a text part is complete. An imported one may have no state and counts as
/// complete.
fn is_complete(text: &TextPart) -> bool {
    text.state != Some(TextState::Streaming)
}

fn replay_tool(tool: &ToolPart, chunks: &mut Vec<Chunk>) {
    let tool_call_id = tool.tool_call_id.clone();
    let tool_name = tool.tool_name.clone();
    let dynamic = tool.dynamic.then_some(true);
    let provider_executed = tool.provider_executed;
    let provider_metadata = tool.call_provider_metadata.clone();
    match (&tool.input, &tool.raw_input) {
        (None, Some(input)) => {
            let error_text = tool.error_text.clone().unwrap_or_default();
            let input = input.clone();
            if tool.title.is_some() {
                // Only the start of a call carries its title.
                chunks.push(start(tool));
            }
            chunks.push(Chunk::ToolInputError {
                tool_call_id: tool_call_id.clone(),
                tool_name,
                input,
                error_text,
                provider_executed,
                provider_metadata: tool.result_provider_metadata.clone(),
                dynamic,
            });
        }
        (input, _) if tool.state == ToolState::InputStreaming => {
            chunks.push(start(tool));
            if let Some(input) = input {
                let input_text_delta = crate::json::text(input);
                chunks.push(Chunk::ToolInputDelta { tool_call_id: tool_call_id.clone(), input_text_delta });
            }
        }
        (input, _) => {
            let input = input.clone().unwrap_or(Value::Null);
            let title = tool.title.clone();
            chunks.push(Chunk::ToolInputAvailable {
                tool_call_id: tool_call_id.clone(),
                tool_name,
                input,
                provider_executed,
                provider_metadata,
                dynamic,
                title,
            });
        }
    }
    // A call that requested an approval half-way has an interim output, which precedes the request.
    if matches!(tool.state, ToolState::ApprovalRequested | ToolState::ApprovalResponded)
        && let Some(output) = &tool.output
    {
        chunks.push(Chunk::ToolOutputAvailable {
            tool_call_id: tool_call_id.clone(),
            output: output.clone(),
            provider_executed,
            provider_metadata: None,
            dynamic,
            preliminary: tool.preliminary,
        });
    }
    if let Some(approval) = &tool.approval {
        chunks.push(Chunk::ToolApprovalRequest {
            approval_id: approval.id.clone(),
            tool_call_id: tool_call_id.clone(),
            terms: approval.terms.clone(),
            approved: approval.approved,
        });
    }
    match tool.state {
        // The user approved and the browser runs the call: repeating the input moves its state past
        // the approval request.
        ToolState::InputAvailable if tool.approval.is_some() => chunks.push(Chunk::ToolInputAvailable {
            tool_call_id,
            tool_name: tool.tool_name.clone(),
            input: tool.input.clone().unwrap_or(Value::Null),
            provider_executed,
            provider_metadata: None,
            dynamic,
            title: None,
        }),
        ToolState::OutputAvailable => chunks.push(Chunk::ToolOutputAvailable {
            tool_call_id,
            output: tool.output.clone().unwrap_or(Value::Null),
            provider_executed,
            provider_metadata: tool.result_provider_metadata.clone(),
            dynamic,
            preliminary: tool.preliminary,
        }),
        ToolState::OutputError => chunks.push(Chunk::ToolOutputError {
            tool_call_id,
            error_text: tool.error_text.clone().unwrap_or_default(),
            provider_executed,
            dynamic,
        }),
        ToolState::OutputDenied => chunks.push(Chunk::ToolOutputDenied { tool_call_id }),
        _ => {}
    }
}

fn start(tool: &ToolPart) -> Chunk {
    Chunk::ToolInputStart {
        tool_call_id: tool.tool_call_id.clone(),
        tool_name: tool.tool_name.clone(),
        provider_executed: tool.provider_executed,
        dynamic: tool.dynamic.then_some(true),
        title: tool.title.clone(),
    }
}
