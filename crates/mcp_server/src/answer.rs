//! Converts the chunks of a run to the progress and the result of a call.

use crate::call::{Client, failed};
use crate::content::{AnswerContent, WaitingCall, WaitingFor};
use crate::progress::Progress;
use chat::ChunkReader;
use rmcp::model::{CallToolResult, ContentBlock};
use web::query_encoded;
use wire::api::{MessageMetadata, Outcome};
use wire::{Chunk, EndReason, Reducer, Role, UiMessage, UiPart, UserError};

/// Reads the frames of a run.
pub(crate) struct AnswerReader {
    chunks: ChunkReader,
    reducer: Reducer,
    characters: usize,
    /// How many steps and calls of tools were read.
    steps: usize,
}

/// Where the user finds the answer.
pub(crate) struct ConversationLink {
    pub(crate) conversation_id: String,
    /// The link for the user.
    pub(crate) url: String,
}

impl ConversationLink {
    /// Returns where the user finds a conversation on a page.
    pub(crate) fn new(client: &Client, page_id: &str, conversation_id: String) -> Self {
        let url = format!("{}/{page_id}?conversation={}", client.origin, query_encoded(&conversation_id));
        Self { conversation_id, url }
    }
}

impl AnswerReader {
    pub(crate) fn new(message_id: &str) -> Self {
        let message = UiMessage::new(message_id, Role::Assistant);
        Self { chunks: ChunkReader::new(), reducer: Reducer::new(message), characters: 0, steps: 0 }
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
        if let Chunk::TextDelta { delta, .. } = &chunk {
            self.characters += delta.chars().count();
            progress.text(self.characters).await;
        } else if let Some((number, text)) = self.step(chunk) {
            progress.answer_step(number, text).await;
        }
    }

    /// Returns the number and the text of a step or a call of a tool that a chunk begins.
    fn step(&mut self, chunk: Chunk) -> Option<(usize, String)> {
        let text = match chunk {
            Chunk::StartStep => "Thinking".to_owned(),
            Chunk::ToolInputAvailable { tool_name, title, .. } => format!("Using {}", title.unwrap_or(tool_name)),
            _ => return None,
        };
        self.steps += 1;
        Some((self.steps, text))
    }

    /// Returns the answer after the last frame.
    pub(crate) fn finish(self) -> Ended {
        let Self { chunks, reducer, .. } = self;
        Ended { message: reducer.into_message(), is_over: chunks.is_over() }
    }
}

/// An answer that is not being written.
pub(crate) struct Ended {
    pub(crate) message: UiMessage,
    /// Whether it is complete. Otherwise, its stream was cut off.
    is_over: bool,
}

impl Ended {
    /// Takes an answer as it is stored.
    pub(crate) fn of(message: UiMessage) -> Self {
        Self { message, is_over: true }
    }

    /// Returns whether it waits for the user.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_over && MessageMetadata::from_message(&self.message).outcome == Some(Outcome::Waiting)
    }

    /// Returns the result of the call.
    pub(crate) fn result(&self, link: &ConversationLink) -> CallToolResult {
        result(&self.message, self.is_over, link)
    }
}

fn result(message: &UiMessage, is_over: bool, link: &ConversationLink) -> CallToolResult {
    let ConversationLink { conversation_id, url } = link;
    let metadata = MessageMetadata::from_message(message);
    let outcome = metadata.outcome.filter(|_| is_over);
    let texts = message.parts.iter().filter_map(|part| match part {
        UiPart::Text(text) if !text.text.is_empty() => Some(text.text.as_str()),
        _ => None,
    });
    let answer = texts.collect::<Vec<_>>().join("\n\n");
    let waiting: Vec<_> = match outcome {
        Some(Outcome::Waiting) => message.tools().filter(|tool| !tool.is_final()).map(WaitingCall::from).collect(),
        _ => Vec::new(),
    };
    let reason = metadata.reason.filter(|_| is_over);
    let note = note(outcome, reason, metadata.error, &waiting, url);
    let continues =
        format!("To continue this conversation, call the tool again with `conversationId` {conversation_id}.");
    let texts = [Some(answer.clone()).filter(|answer| !answer.is_empty()), note, Some(continues)];
    let content = texts.into_iter().flatten().map(ContentBlock::text).collect();
    let is_good = matches!(outcome, Some(Outcome::Done | Outcome::Waiting | Outcome::Limit));
    let mut result = if is_good { CallToolResult::success(content) } else { CallToolResult::error(content) };
    let structured = AnswerContent {
        answer,
        conversation_id: conversation_id.clone(),
        url: url.clone(),
        outcome: outcome.into(),
        reason: reason.map(|reason| reason.name().to_owned()),
        waits_for: waiting,
    };
    result.structured_content = serde_json::to_value(structured).ok();
    result
}

/// Says how the run has ended, and what to do next; `None` if the answer is complete.
fn note(
    outcome: Option<Outcome>,
    reason: Option<EndReason>,
    error: Option<UserError>,
    waiting: &[WaitingCall],
    url: &str,
) -> Option<String> {
    let explained = reason.and_then(EndReason::explanation);
    match outcome {
        Some(Outcome::Done) => None,
        Some(Outcome::Waiting) => Some(waiting_note(waiting, url)),
        Some(Outcome::Limit) => {
            let limit = explained.unwrap_or("The agent has reached one of its limits.");
            Some(format!("{limit} Ask it to go on, or see {url}"))
        }
        Some(Outcome::Stopped) => {
            let cause = explained.map(|cause| format!(" {cause}")).unwrap_or_default();
            Some(format!("The answer was stopped.{cause} See {url}"))
        }
        Some(Outcome::Interrupted) if error.is_none() => {
            Some(format!("{} Ask it to go on, or see {url}", explained.unwrap_or("The answer was interrupted.")))
        }
        Some(Outcome::Failed | Outcome::Interrupted) => {
            Some(error.map_or_else(|| "The agent has no answer. Try again.".to_owned(), |error| error.message))
        }
        None => Some(format!("The answer was cut off. It goes on in the conversation: {url}")),
    }
}

/// Says what the user must do before the agent goes on.
fn waiting_note(waiting: &[WaitingCall], url: &str) -> String {
    let names = |waiting_for: WaitingFor| {
        let calls = waiting.iter().filter(|call| call.kind == waiting_for);
        calls.map(|call| format!("`{}`", call.tool)).collect::<Vec<_>>().join(", ")
    };
    let (approvals, others) = (names(WaitingFor::Approval), names(WaitingFor::User));
    let mut note = String::new();
    if !approvals.is_empty() {
        note += &format!("The user must approve or deny {approvals} before the agent goes on. ");
    }
    if !others.is_empty() {
        note += &format!("The agent waits for the user's answer or browser: {others}. ");
    }
    note + &format!("They do that in the conversation, where the agent then goes on: {url}")
}

/// Returns the result of a call that could not begin.
pub(crate) fn not_begun(error: UserError) -> CallToolResult {
    let later = error.retry_after.map(|seconds| format!(" Try again in {seconds} s.")).unwrap_or_default();
    failed(format!("{}{later}", error.message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use wire::reduce::replay;

    /// Returns the texts and the outcome of a message with this metadata.
    fn check(parts: &Value, metadata: Value, is_over: bool) -> String {
        let message = json!({ "id": "m", "role": "assistant", "parts": parts, "metadata": metadata });
        let message: UiMessage = serde_json::from_value(message).unwrap();
        let link =
            ConversationLink { conversation_id: "c".to_owned(), url: "http://a.test/desk?conversation=c".to_owned() };
        let result = result(&message, is_over, &link);
        let texts: Vec<_> = result.content.iter().map(|block| block.as_text().unwrap().text.as_str()).collect();
        let structured = result.structured_content.unwrap();
        let (outcome, waits) = (&structured["outcome"], &structured["waitsFor"]);
        format!("{} {outcome} {waits}\n{}", result.is_error.unwrap_or_default(), texts.join("\n"))
    }

    /// The stream of a run that continues an answer begins with its earlier steps, which have the same numbers again.
    #[test]
    fn steps_are_numbered_over_all_runs() {
        let check = |parts: Value, expected: &[(usize, &str)]| {
            let message = json!({ "id": "m", "role": "assistant", "parts": parts });
            let message: UiMessage = serde_json::from_value(message).unwrap();
            let mut reader = AnswerReader::new("m");
            let steps: Vec<_> = replay(&message).into_iter().filter_map(|chunk| reader.step(chunk)).collect();
            let steps: Vec<_> = steps.iter().map(|(number, text)| (*number, text.as_str())).collect();
            assert_eq!(steps, expected, "{parts}");
        };
        let step = json!({ "type": "step-start" });
        let tool = |state: &str| json!({ "type": "tool-send", "toolCallId": "t", "state": state, "input": {} });
        check(json!([step, tool("approval-requested")]), &[(1, "Thinking"), (2, "Using send")]);
        let text = json!({ "type": "text", "text": "Sent." });
        let all = [(1, "Thinking"), (2, "Using send"), (3, "Thinking")];
        check(json!([step, tool("output-available"), step, text]), &all);
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
