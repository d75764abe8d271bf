//! What the chunks of a run become: the result of a call, and the progress on the way.

use crate::handler::failed;
use crate::progress::Progress;
use chat::ChunkReader;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};
use wire::api::{MessageMetadata, Outcome};
use wire::{Chunk, EndReason, Reducer, Role, ToolPart, ToolState, UiMessage, UiPart};

/// Reads the frames of a run.
pub(crate) struct Answer {
    chunks: ChunkReader,
    reducer: Reducer,
    characters: usize,
}

/// Where the answer is.
pub(crate) struct Place {
    pub(crate) conversation_id: String,
    /// The link for the user.
    pub(crate) url: String,
}

impl Answer {
    pub(crate) fn new(message_id: &str) -> Self {
        let message = UiMessage::new(message_id, Role::Assistant);
        Self { chunks: ChunkReader::new(), reducer: Reducer::new(message), characters: 0 }
    }

    /// Reads a frame, and reports the progress.
    pub(crate) async fn push(&mut self, frame: &[u8], progress: &mut Progress) {
        for chunk in self.chunks.push(frame) {
            // A chunk that does not fit changes nothing.
            let _ = self.reducer.apply(&chunk);
            self.report(chunk, progress).await;
        }
    }

    async fn report(&mut self, chunk: Chunk, progress: &mut Progress) {
        match chunk {
            Chunk::StartStep => progress.step("Thinking".to_owned()).await,
            Chunk::ToolInputAvailable { tool_name, title, .. } => {
                progress.step(format!("Using {}", title.unwrap_or(tool_name))).await;
            }
            Chunk::TextDelta { delta, .. } => {
                self.characters += delta.chars().count();
                progress.text(self.characters).await;
            }
            _ => {}
        }
    }

    /// Returns the result of the call.
    pub(crate) fn result(self, place: &Place) -> CallToolResult {
        let Self { chunks, reducer, .. } = self;
        result(&reducer.into_message(), chunks.is_over(), place)
    }
}

fn result(message: &UiMessage, is_over: bool, place: &Place) -> CallToolResult {
    let Place { conversation_id, url } = place;
    let metadata = MessageMetadata::from_message(message);
    let outcome = metadata.outcome.filter(|_| is_over);
    let reason = metadata.reason.filter(|_| is_over);
    let explained = reason.and_then(EndReason::explanation);
    let texts = message.parts.iter().filter_map(|part| match part {
        UiPart::Text(text) if !text.text.is_empty() => Some(text.text.as_str()),
        _ => None,
    });
    let answer = texts.collect::<Vec<_>>().join("\n\n");
    let waiting: Vec<_> = match outcome {
        Some(Outcome::Waiting) => message.tools().filter(|tool| !tool.is_final()).collect(),
        _ => Vec::new(),
    };
    let note = match outcome {
        Some(Outcome::Done) => None,
        Some(Outcome::Waiting) => Some(waiting_note(&waiting, url)),
        Some(Outcome::Limit) => {
            let limit = explained.unwrap_or("The agent has reached one of its limits.");
            Some(format!("{limit} Ask it to go on, or see {url}"))
        }
        Some(Outcome::Stopped) => {
            let cause = explained.map(|cause| format!(" {cause}")).unwrap_or_default();
            Some(format!("The answer was stopped.{cause} See {url}"))
        }
        Some(Outcome::Interrupted) if metadata.error.is_none() => {
            Some(format!("{} Ask it to go on, or see {url}", explained.unwrap_or("The answer was interrupted.")))
        }
        Some(_) => {
            Some(metadata.error.map_or_else(|| "The agent has no answer. Try again.".to_owned(), |error| error.message))
        }
        None => Some(format!("The answer was cut off. It goes on in the conversation: {url}")),
    };
    let continues =
        format!("To continue this conversation, call the tool again with `conversationId` {conversation_id}.");
    let texts = [Some(answer.clone()).filter(|answer| !answer.is_empty()), note, Some(continues)];
    let content = texts.into_iter().flatten().map(ContentBlock::text).collect();
    let is_good = matches!(outcome, Some(Outcome::Done | Outcome::Waiting | Outcome::Limit));
    let mut result = if is_good { CallToolResult::success(content) } else { CallToolResult::error(content) };
    let waits_for =
        waiting.iter().map(|tool| json!({ "tool": tool.tool_name, "kind": kind(tool) })).collect::<Vec<_>>();
    result.structured_content = Some(json!({
        "answer": answer,
        "conversationId": conversation_id,
        "url": url,
        "outcome": outcome.map_or(json!("cutOff"), |outcome| json!(outcome)),
        "reason": reason,
        "waitsFor": waits_for,
    }));
    result
}

/// What a call of a tool waits for.
fn kind(tool: &ToolPart) -> &'static str {
    match tool.state {
        ToolState::ApprovalRequested => "approval",
        _ => "user",
    }
}

/// Says what the user must do before the agent goes on.
fn waiting_note(waiting: &[&ToolPart], url: &str) -> String {
    let (approvals, others): (Vec<_>, Vec<_>) = waiting.iter().partition(|tool| kind(tool) == "approval");
    let names =
        |tools: &[&&ToolPart]| tools.iter().map(|tool| format!("`{}`", tool.tool_name)).collect::<Vec<_>>().join(", ");
    let mut note = String::new();
    if !approvals.is_empty() {
        note += &format!("The user must approve or deny {} before the agent goes on. ", names(&approvals));
    }
    if !others.is_empty() {
        note += &format!("The agent waits for the user's answer or browser: {}. ", names(&others));
    }
    note + &format!("They do that in the conversation, where the agent then goes on: {url}")
}

/// Returns the result of a call that could not begin.
pub(crate) fn not_begun(error: wire::UserError) -> CallToolResult {
    let later = error.retry_after.map(|seconds| format!(" Try again in {seconds} s.")).unwrap_or_default();
    failed(format!("{}{later}", error.message))
}

/// Returns the JSON Schema of the structured content.
pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "answer": { "type": "string", "description": "The text of the answer." },
            "conversationId": { "type": "string", "description": "The conversation, to continue it." },
            "url": { "type": "string", "description": "Where the user finds the conversation." },
            "outcome": { "type": "string", "description": "`done`; `waiting` if the user must do something in the conversation first; `limit`, `stopped`, `failed`, `interrupted` or `cutOff`." },
            "reason": { "type": ["string", "null"], "description": "Why the answer ended, more precisely than `outcome`: `maxSteps`, `totalTokens`, `costUsd`, `stoppedByAdmin`, and so on." },
            "waitsFor": {
                "type": "array",
                "description": "The calls that wait for the user.",
                "items": {
                    "type": "object",
                    "properties": { "tool": { "type": "string" }, "kind": { "type": "string", "enum": ["approval", "user"] } },
                    "required": ["tool", "kind"],
                },
            },
        },
        "required": ["answer", "conversationId", "url", "outcome", "waitsFor"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the texts and the outcome of a message with this metadata.
    fn check(parts: &Value, metadata: Value, is_over: bool) -> String {
        let message = json!({ "id": "m", "role": "assistant", "parts": parts, "metadata": metadata });
        let message: UiMessage = serde_json::from_value(message).unwrap();
        let place = Place { conversation_id: "c".to_owned(), url: "http://a.test/desk?conversation=c".to_owned() };
        let result = result(&message, is_over, &place);
        let texts: Vec<_> = result.content.iter().map(|block| block.as_text().unwrap().text.as_str()).collect();
        let structured = result.structured_content.unwrap();
        let (outcome, waits) = (&structured["outcome"], &structured["waitsFor"]);
        format!("{} {outcome} {waits}\n{}", result.is_error.unwrap_or_default(), texts.join("\n"))
    }

    #[test]
    fn result_says_how_the_run_ended() {
        let text = json!({ "type": "text", "text": "Well." });
        let done = json!([{ "type": "text", "text": "Let me see." }, { "type": "text", "text": "" }, text]);
        insta::assert_snapshot!(check(&done, json!({ "outcome": "done" }), true), @r#"
        false "done" []
        Let me see.

        Well.
        To continue this conversation, call the tool again with `conversationId` c.
        "#);
        let asks = json!({ "type": "tool-send", "toolCallId": "t", "state": "approval-requested", "input": {}, "approval": { "id": "p" } });
        let of_page = json!({ "type": "tool-ask-user", "toolCallId": "u", "state": "input-available", "input": {} });
        let open = json!([text, asks, of_page]);
        insta::assert_snapshot!(check(&open, json!({ "outcome": "waiting" }), true), @r#"
        false "waiting" [{"tool":"send","kind":"approval"},{"tool":"ask-user","kind":"user"}]
        Well.
        The user must approve or deny `send` before the agent goes on. The agent waits for the user's answer or browser: `ask-user`. They do that in the conversation, where the agent then goes on: http://a.test/desk?conversation=c
        To continue this conversation, call the tool again with `conversationId` c.
        "#);
        insta::assert_snapshot!(check(&done, json!({ "outcome": "limit", "reason": "maxSteps" }), true), @r#"
        false "limit" []
        Let me see.

        Well.
        The agent reached its limit of steps for one answer. Ask it to go on, or see http://a.test/desk?conversation=c
        To continue this conversation, call the tool again with `conversationId` c.
        "#);
        let error = json!({ "code": "unavailable", "message": "The model is busy. Try again." });
        insta::assert_snapshot!(check(&json!([]), json!({ "outcome": "failed", "error": error }), true), @r#"
        true "failed" []
        The model is busy. Try again.
        To continue this conversation, call the tool again with `conversationId` c.
        "#);
        insta::assert_snapshot!(check(&done, json!({ "outcome": "stopped", "reason": "stoppedByAdmin" }), true), @r#"
        true "stopped" []
        Let me see.

        Well.
        The answer was stopped. An administrator stopped the answer. See http://a.test/desk?conversation=c
        To continue this conversation, call the tool again with `conversationId` c.
        "#);
        insta::assert_snapshot!(check(&done, Value::Null, false), @r#"
        true "cutOff" []
        Let me see.

        Well.
        The answer was cut off. It goes on in the conversation: http://a.test/desk?conversation=c
        To continue this conversation, call the tool again with `conversationId` c.
        "#);
    }
}
