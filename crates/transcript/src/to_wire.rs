//! Converts agent events to stream chunks. No other code converts in this direction.

use crate::chunks::{self, available, citation, preliminary, standing_approval, suspended};
use crate::context;
use crate::exposure;
use agent::{Decision, Event};
use contract::{Exposure, Part, Source};
use serde_json::{Value, json};
use std::collections::HashSet;
use wire::message::{FilePart, SourceDocument, SourceUrl};
use wire::{ApprovalTerms, CONTEXT_EDITS, Chunk, CutOff, DataChunk, FinishReason, PROVIDER_ITEM, SummaryData};

/// Converts the events of one run. Providers choose the ids of their parts, and reuse them in the
/// next step, so each part gets a short id of its own in the stream.
#[derive(Debug, Default)]
pub struct ChunkConverter {
    open: Vec<(String, String)>,
    named: u32,
    /// Calls that were suspended in an earlier run and resume in this one.
    resumed: HashSet<String>,
}

/// Returns an id that is unique in the message, because providers restart the numbering of sources
/// in each reply.
fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

/// Converts the terms of an approval request.
fn terms(asked: Option<String>, terms: contract::ApprovalTerms, now: i64) -> ApprovalTerms {
    let lasts = terms.expires_after.map(|after| i64::try_from(after.as_millis()).unwrap_or(i64::MAX));
    ApprovalTerms {
        tool: asked,
        may_remember: terms.may_remember.then_some(true),
        expires_at: lasts.map(|after| now.saturating_add(after)),
        visible_parameters: terms.visible_parameters,
        exposed: terms.exposed.map(|Exposure { private, untrusted }| wire::Exposure { private, untrusted }),
        cut_off: terms.cut_off.then_some(CutOff::Open),
    }
}

impl ChunkConverter {
    /// Appends the chunks of an event. `now` is Unix time in milliseconds, from which the time to decide
    /// on an approval request counts.
    pub fn convert(&mut self, event: Event, now: i64, out: &mut Vec<Chunk>) {
        match event {
            Event::StepStart { .. } => out.push(Chunk::StartStep),
            Event::StepFinish { .. } => {
                self.open.clear();
                out.push(Chunk::FinishStep);
            }
            Event::Part(part) => {
                out.extend(chunks::provider_output(&part));
                self.part(part, out);
            }
            Event::ToolCall { call, dynamic } => out.push(available(call, dynamic)),
            // The repeated chunk makes the client run the call.
            Event::CallHandedOver { call } => out.push(available(call, false)),
            Event::ToolCallInvalid { id, name, input, error, dynamic, metadata } => out.push(Chunk::ToolInputError {
                tool_call_id: id,
                tool_name: name,
                input,
                error_text: error,
                provider_executed: None,
                provider_metadata: metadata,
                dynamic: dynamic.then_some(true),
            }),
            Event::ApprovalRequest { call_id, asked, terms } => {
                let terms = Some(Box::new(self::terms(asked, terms, now)));
                out.push(Chunk::ToolApprovalRequest {
                    approval_id: new_id(),
                    tool_call_id: call_id,
                    terms,
                    approved: None,
                });
            }
            Event::Exposed { exposure } => out.push(exposure::exposure_chunk(&exposure)),
            Event::CallGranted { call_id, tool, grant } => out.push(standing_approval(call_id, &tool, &grant)),
            Event::ToolProgress { call_id, output } => out.push(preliminary(call_id, output)),
            Event::ToolSuspended { call_id, output, state } => {
                out.push(preliminary(call_id.clone(), output));
                out.push(suspended(call_id, state));
            }
            Event::ToolStarted { call_id, resumed: true, .. } => {
                self.resumed.insert(call_id);
            }
            Event::ToolFinished { call_id, result, dynamic, .. } => {
                if self.resumed.contains(&call_id) {
                    out.push(suspended(call_id.clone(), Value::Null));
                }
                out.push(match result {
                    Ok(output) => Chunk::ToolOutputAvailable {
                        tool_call_id: call_id,
                        output,
                        provider_executed: None,
                        provider_metadata: None,
                        dynamic: dynamic.then_some(true),
                        preliminary: None,
                    },
                    Err(error) => Chunk::ToolOutputError {
                        tool_call_id: call_id,
                        error_text: error.message,
                        provider_executed: None,
                        dynamic: dynamic.then_some(true),
                    },
                });
            }
            Event::ToolDenied { call_id, .. } => out.push(Chunk::ToolOutputDenied { tool_call_id: call_id }),
            // Shows the call as running again, since it had ended for watchers.
            Event::CallDecided {
                call, cut_off: true, decision: Decision::Approved | Decision::Again { .. }, ..
            } => {
                out.push(available(call, false));
            }
            Event::ReplyComplete(_)
            | Event::ContextSize(_)
            | Event::SideReply(_)
            | Event::ToolStarted { .. }
            | Event::PageCallReady { .. }
            | Event::CallDecided { .. }
            | Event::CallRuled { .. }
            | Event::Nested { .. } => {}
            Event::Fallback { to, .. } => {
                out.push(Chunk::MessageMetadata { message_metadata: json!({ "model": to.to_string() }) });
            }
            Event::Data { name, id, data } => {
                let kind = format!("data-{name}");
                // A remote agent chooses the names of its parts; those of the server are not for it.
                let is_servers = [wire::WORKFLOW_RESULT, wire::PROVIDER_OUTPUT, wire::HANDED_OVER, wire::QUOTA_WARNING]
                    .contains(&kind.as_str());
                if !wire::is_private(&kind) && !wire::is_context(&kind) && !is_servers {
                    out.push(Chunk::Data(DataChunk { kind, id, data, transient: None }));
                }
            }
            Event::ContextSummarized { text, through, model, tokens_before, tokens_after } => {
                let through_message_id = through;
                let data = SummaryData { text, through_message_id, model, tokens_before, tokens_after, at: now };
                out.push(Chunk::Data(context::summary(&data)));
            }
            Event::ContextCleared { through, tokens_before, tokens_after } => {
                let sizes = (tokens_before, tokens_after);
                out.push(Chunk::Data(context::cleared(&through, sizes, now)));
            }
            Event::ContextShortened { through, tokens_before, tokens_after } => {
                let sizes = (tokens_before, tokens_after);
                out.push(Chunk::Data(context::shortened(&through, sizes, now)));
            }
            Event::ReadingOffered => out.push(Chunk::Data(context::reading_offered(now))),
            Event::SummaryFailed { .. } => out.push(Chunk::Data(context::failed(now))),
            Event::PromptNote { text } => out.push(Chunk::Data(chunks::prompt_note(&text))),
            Event::PageContext { text } => out.push(Chunk::Data(chunks::page_context(&text))),
            Event::SourceUnavailable { name, error } => out.push(Chunk::Data(DataChunk {
                kind: "data-source-unavailable".to_owned(),
                id: Some(name.clone()),
                data: json!({ "name": name, "message": error }),
                transient: None,
            })),
            Event::Retry { attempt, wait, .. } => out.push(Chunk::Data(DataChunk {
                kind: "data-retry".to_owned(),
                id: None,
                data: json!({ "attempt": attempt, "waitMs": wait.as_millis() as u64 }),
                transient: Some(true),
            })),
        }
    }

    fn part(&mut self, part: Part, out: &mut Vec<Chunk>) {
        out.push(match part {
            Part::TextDelta { id, delta } => Chunk::TextDelta { id: self.name(&id), delta, provider_metadata: None },
            Part::TextStart { id } => Chunk::TextStart { id: self.open(id), provider_metadata: None },
            Part::TextEnd { id, metadata, citations } => Chunk::TextEnd {
                id: self.close(&id),
                citations: citations.into_iter().map(citation).collect(),
                provider_metadata: metadata,
            },
            Part::ReasoningStart { id, metadata } => {
                Chunk::ReasoningStart { id: self.open(id), provider_metadata: metadata }
            }
            Part::ReasoningDelta { id, delta, metadata } => {
                Chunk::ReasoningDelta { id: self.name(&id), delta, provider_metadata: metadata }
            }
            Part::ReasoningEnd { id, metadata } => {
                Chunk::ReasoningEnd { id: self.close(&id), provider_metadata: metadata }
            }
            Part::ToolInputStart { id, name, provider_executed } => Chunk::ToolInputStart {
                tool_call_id: id,
                tool_name: name,
                provider_executed: provider_executed.then_some(true),
                dynamic: None,
                title: None,
            },
            Part::ToolInputDelta { id, delta } => Chunk::ToolInputDelta { tool_call_id: id, input_text_delta: delta },
            Part::ToolResult { id, output, is_error: true, .. } => Chunk::ToolOutputError {
                tool_call_id: id,
                error_text: output.as_str().map_or_else(|| output.to_string(), str::to_owned),
                provider_executed: Some(true),
                dynamic: None,
            },
            Part::ToolResult { id, output, metadata, .. } => Chunk::ToolOutputAvailable {
                tool_call_id: id,
                output,
                provider_executed: Some(true),
                provider_metadata: metadata,
                dynamic: None,
                preliminary: None,
            },
            Part::Source(Source::Url { url, title, metadata, .. }) => {
                Chunk::SourceUrl(SourceUrl { source_id: new_id(), url, title, provider_metadata: metadata })
            }
            Part::Source(Source::Document { media_type, title, filename, metadata, .. }) => {
                Chunk::SourceDocument(SourceDocument {
                    source_id: new_id(),
                    media_type,
                    title,
                    filename,
                    provider_metadata: metadata,
                })
            }
            Part::File { media_type, url, metadata } => {
                Chunk::File(FilePart { media_type, url, filename: None, provider_metadata: metadata })
            }
            Part::ProviderItem { provider, item, .. } => Chunk::Data(DataChunk {
                kind: PROVIDER_ITEM.to_owned(),
                id: None,
                data: json!({ "provider": provider, "item": item }),
                transient: None,
            }),
            // Each request of an answer repeats the edits of the earlier ones, so only the newest
            // part is kept.
            Part::ContextEdits { provider, edits } => Chunk::Data(DataChunk {
                kind: CONTEXT_EDITS.to_owned(),
                id: Some("context-edits".to_owned()),
                data: json!({ "provider": provider, "edits": edits }),
                transient: None,
            }),
            // The loop emits its own events for calls and the end, and drops keep-alives.
            Part::ToolCall { .. } | Part::Finish { .. } | Part::Alive => return,
        });
    }

    fn open(&mut self, provider_id: String) -> String {
        self.named += 1;
        let name = self.named.to_string();
        self.open.push((provider_id, name.clone()));
        name
    }

    fn name(&self, provider_id: &str) -> String {
        let open = self.open.iter().rev().find(|(id, _)| id == provider_id);
        open.map_or_else(|| provider_id.to_owned(), |(_, name)| name.clone())
    }

    fn close(&mut self, provider_id: &str) -> String {
        match self.open.iter().rposition(|(id, _)| id == provider_id) {
            Some(at) => self.open.remove(at).1,
            None => provider_id.to_owned(),
        }
    }
}

/// Returns whether the user may rely on the chunk, so that it must be stored before it is sent.
pub fn is_acknowledgement(chunk: &Chunk) -> bool {
    match chunk {
        Chunk::ToolInputAvailable { .. }
        | Chunk::ToolInputError { .. }
        | Chunk::ToolApprovalRequest { .. }
        | Chunk::ToolOutputError { .. }
        | Chunk::ToolOutputDenied { .. } => true,
        Chunk::ToolOutputAvailable { preliminary, .. } => *preliminary != Some(true),
        // The next request must not differ from what another server would send after a crash.
        other => context::changes_context(other),
    }
}

/// Returns whether the chunk must stay on the server.
pub fn is_private(chunk: &Chunk) -> bool {
    matches!(chunk, Chunk::Data(data) if wire::is_private(&data.kind))
}

/// Converts a finish reason to the wire type.
pub fn finish_reason(reason: contract::FinishReason) -> FinishReason {
    use contract::FinishReason as From;
    match reason {
        From::Stop => FinishReason::Stop,
        From::Length => FinishReason::Length,
        From::ContentFilter => FinishReason::ContentFilter,
        From::ToolCalls => FinishReason::ToolCalls,
        From::Error => FinishReason::Error,
        From::Pause | From::Other => FinishReason::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Providers restart the numbering of sources in each reply of a message.
    #[test]
    fn source_ids_are_unique_across_steps() {
        let (mut converter, mut chunks) = (ChunkConverter::default(), Vec::new());
        for _ in 0..2 {
            let (id, url) = ("source-1".to_owned(), "https://example.org/".to_owned());
            let source = Source::Url { id, url, title: None, metadata: None };
            converter.convert(Event::Part(Part::Source(source)), 0, &mut chunks);
        }
        let ids: HashSet<_> = chunks
            .iter()
            .filter_map(|chunk| match chunk {
                Chunk::SourceUrl(source) => Some(&source.source_id),
                _ => None,
            })
            .collect();
        assert_eq!(ids.len(), 2);
    }

    /// The user sees an item that nothing else shows, and only the server has the item itself.
    #[test]
    fn items_without_another_part_are_shown_and_read_by_no_model() {
        let item = |shown_as: Option<&str>| {
            let (item, shown_as) =
                (json!({ "type": "later", "encrypted_content": "abc" }), shown_as.map(str::to_owned));
            Event::Part(Part::ProviderItem { provider: "openai".to_owned(), item, shown_as })
        };
        let forged = Event::Data { name: "provider-output".to_owned(), id: None, data: json!({ "name": "forged" }) };
        let (mut converter, mut chunks) = (ChunkConverter::default(), Vec::new());
        for event in [item(None), item(Some("later")), forged] {
            converter.convert(event, 0, &mut chunks);
        }
        let sent: Vec<_> = chunks.iter().filter(|chunk| !is_private(chunk)).map(|chunk| json!(chunk)).collect();
        let content = json!({ "type": "later", "encrypted_content": "… (3 bytes)" });
        let data = json!({ "provider": "openai", "name": "later", "content": content });
        assert_eq!(sent, [json!({ "type": "data-provider-output", "data": data })]);
        let mut reducer = wire::Reducer::new(wire::UiMessage::new("m", wire::Role::Assistant));
        for chunk in &chunks {
            reducer.apply(chunk).unwrap();
        }
        let prompt = crate::to_prompt::to_prompt(std::slice::from_ref(reducer.message()), |_| false);
        let prompt: Vec<_> = prompt.iter().map(|message| json!(**message)).collect();
        let item = json!({ "type": "later", "encrypted_content": "abc" });
        let kept = json!({ "type": "provider-item", "provider": "openai", "item": item });
        assert_eq!(prompt, [json!({ "role": "assistant", "content": [kept, kept] })]);
    }

    /// The edits are stored with the answer once, and the model reads the whole history again.
    #[test]
    fn context_edits_are_kept_and_do_not_go_back() {
        let edits = |cleared| {
            let edit = contract::ContextEdit {
                kind: "clear_tool_uses_20250919".to_owned(),
                cleared_tool_uses: Some(cleared),
                cleared_thinking_turns: None,
                cleared_input_tokens: Some(500),
            };
            Event::Part(Part::ContextEdits { provider: "anthropic".to_owned(), edits: vec![edit] })
        };
        let (mut converter, mut chunks) = (ChunkConverter::default(), Vec::new());
        for event in [edits(1), Event::StepStart { number: 2 }, edits(2)] {
            converter.convert(event, 0, &mut chunks);
        }
        assert!(!chunks.iter().any(is_private), "they are shown");
        let mut reducer = wire::Reducer::new(wire::UiMessage::new("m", wire::Role::Assistant));
        for chunk in &chunks {
            reducer.apply(chunk).unwrap();
        }
        let message = reducer.message();
        let data: Vec<_> = message
            .parts
            .iter()
            .filter_map(|part| match part {
                wire::UiPart::Data(data) if data.kind == CONTEXT_EDITS => Some(&data.data),
                _ => None,
            })
            .collect();
        let newest = json!({ "type": "clear_tool_uses_20250919", "clearedToolUses": 2, "clearedInputTokens": 500 });
        assert_eq!(data, [&json!({ "provider": "anthropic", "edits": [newest] })]);
        assert!(crate::to_prompt::to_prompt(std::slice::from_ref(message), |_| false).is_empty());
    }
}
