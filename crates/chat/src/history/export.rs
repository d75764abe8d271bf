//! Exports a conversation as a file for its owner: Markdown for reading, JSON for import.

use crate::errors::Result;
use crate::history::private::strip_private;
use crate::{Caller, Chat, Inner};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::to_markdown::to_markdown;
use wire::api::{ConversationSummary, MessageMetadata};
use wire::{Approval, HANDED_OVER, ToolPart, UiMessage, UiPart, UserError, WORKFLOW_RESULT};

/// The format identifier in the JSON.
pub const FORMAT: &str = "chatwright.conversation.1";

/// An exported conversation with all its branches, without the parts that must stay on the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportedConversation {
    /// The format: `chatwright.conversation.1`.
    pub format: String,
    /// The title.
    pub title: String,
    /// The page on which the conversation started.
    pub page_id: String,
    /// The agent that answered.
    pub agent_id: String,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// The newest message of the active branch.
    pub head: String,
    /// All messages, parents first.
    pub messages: Vec<ExportedMessage>,
}

/// A message with its parent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportedMessage {
    /// The id of the parent message; absent for a first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// The message.
    pub message: UiMessage,
}

impl Chat {
    /// Exports a conversation with all its branches as stored, without anything of an answer that
    /// is still being generated.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn export(&self, caller: &Caller, id: &str) -> Result<ExportedConversation, UserError> {
        Ok(self.inner.export(caller, id).await?)
    }

    /// Exports what a reader sees of a conversation as Markdown.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn markdown(&self, caller: &Caller, id: &str) -> Result<(ConversationSummary, String), UserError> {
        Ok(self.inner.markdown(caller, id).await?)
    }
}

impl Inner {
    /// See [`Chat::export`].
    async fn export(&self, caller: &Caller, id: &str) -> Result<ExportedConversation> {
        let store = &self.store;
        let conversation = store.conversation(&caller.user_id, id).await?;
        let conversation = conversation.ok_or_else(UserError::not_found)?;
        let stored = store.messages(&caller.user_id, id).await?;
        let message = |stored: store::StoredMessage| {
            let mut message = stored.message;
            strip_private(&mut message);
            ExportedMessage { parent_id: stored.parent_id, created_at: stored.created_at, message }
        };
        let ConversationSummary { title, page_id, agent_id, created_at, .. } = conversation.summary;
        Ok(ExportedConversation {
            format: FORMAT.to_owned(),
            title,
            page_id,
            agent_id,
            created_at,
            head: conversation.head.unwrap_or_default(),
            messages: stored.into_iter().map(message).collect(),
        })
    }

    /// See [`Chat::markdown`].
    async fn markdown(&self, caller: &Caller, id: &str) -> Result<(ConversationSummary, String)> {
        let view = self.conversation(caller, id).await?;
        let text = to_markdown(&view.summary.title, &view.messages);
        Ok((view.summary, text))
    }
}

/// Removes from a message what readers of a share link must not see; without `tool_results` also
/// the inputs and outputs of tools and the reasoning.
pub(crate) fn strip_for_readers(message: &mut UiMessage, tool_results: bool) {
    strip_private(message);
    message.parts.retain(|part| !matches!(part, UiPart::Data(data) if wire::is_context(&data.kind)));
    // Readers may know that an answer is incomplete, but not why, nor its usage or model.
    let metadata = MessageMetadata {
        outcome: MessageMetadata::from_message(message).incomplete_outcome(),
        ..MessageMetadata::default()
    };
    message.metadata = metadata.outcome.and_then(|_| serde_json::to_value(metadata).ok());
    if tool_results {
        return;
    }
    message.parts.retain(|part| match part {
        UiPart::Text(_) | UiPart::File(_) | UiPart::Tool(_) => true,
        UiPart::Data(data) => [WORKFLOW_RESULT, HANDED_OVER].contains(&data.kind.as_str()),
        _ => false,
    });
    for part in &mut message.parts {
        if let UiPart::Data(data) = part
            && let Some(fields) = data.data.as_object_mut()
        {
            // Which workflow has ended, and how; the line about a change of the agent.
            fields.retain(|name, _| ["workflow", "state", "text"].contains(&name.as_str()));
        }
        if let UiPart::Tool(tool) = part {
            let approval = tool.is_passed_over().then(|| Approval { passed_over: Some(true), ..Approval::new("") });
            let bare = ToolPart::new(tool.tool_call_id.clone(), tool.tool_name.clone());
            **tool = ToolPart { state: tool.state, approval, ..bare };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn readers_do_not_see_why_an_answer_is_incomplete() {
        let answer = |outcome: &str, part: Value| {
            let metadata = json!({ "outcome": outcome, "limit": "stopOnToolCall", "model": "m" });
            serde_json::from_value(json!({ "id": "a", "role": "assistant", "metadata": metadata, "parts": [part] }))
                .unwrap()
        };
        let text = json!({ "type": "text", "text": "One," });
        let passed = json!({ "type": "tool-pay", "toolCallId": "b", "state": "output-denied", "input": {},
            "approval": { "id": "q", "approved": false, "passedOver": true } });
        let mut messages: [UiMessage; 5] = [
            answer("stopped", text.clone()),
            answer("failed", text.clone()),
            answer("interrupted", passed),
            answer("limit", text.clone()),
            answer("done", text),
        ];
        messages.iter_mut().for_each(|message| strip_for_readers(message, false));
        let kept: Vec<_> = messages.iter().map(|message| json!(message.metadata)).collect();
        assert_eq!(
            json!(kept),
            json!([{ "outcome": "stopped" }, { "outcome": "failed" }, { "outcome": "interrupted" }, null, null])
        );
        assert!(messages[2].tools().all(ToolPart::is_passed_over));
    }
}
