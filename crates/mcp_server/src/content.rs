//! The structured content of the result of a call.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;
use wire::api::Outcome;
use wire::{ToolPart, ToolState};

/// The answer of an agent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnswerContent {
    /// The text of the answer.
    pub(crate) answer: String,
    /// The conversation, to continue it.
    pub(crate) conversation_id: String,
    /// Where the user finds the conversation.
    pub(crate) url: String,
    /// How the answer has ended.
    pub(crate) outcome: AnswerOutcome,
    /// Why the answer ended, more precisely than `outcome`: `maxSteps`, `totalTokens`, `costUsd`,
    /// `stoppedByAdmin`, and so on.
    pub(crate) reason: Option<String>,
    /// The calls that wait for the user.
    pub(crate) waits_for: Vec<WaitingCall>,
}

/// How an answer has ended.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum AnswerOutcome {
    /// It is complete.
    Done,
    /// The user must do something in the conversation first.
    Waiting,
    /// The agent has reached one of its limits.
    Limit,
    /// Somebody has stopped it.
    Stopped,
    /// The agent has no answer.
    Failed,
    /// The server was stopped, or the connection to the model was lost.
    Interrupted,
    /// The call has ended before the answer.
    CutOff,
}

impl From<Option<Outcome>> for AnswerOutcome {
    fn from(outcome: Option<Outcome>) -> Self {
        match outcome {
            Some(Outcome::Done) => Self::Done,
            Some(Outcome::Waiting) => Self::Waiting,
            Some(Outcome::Limit) => Self::Limit,
            Some(Outcome::Stopped) => Self::Stopped,
            Some(Outcome::Failed) => Self::Failed,
            Some(Outcome::Interrupted) => Self::Interrupted,
            None => Self::CutOff,
        }
    }
}

/// A call of a tool that waits.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WaitingCall {
    /// The name of the tool.
    pub(crate) tool: String,
    /// The thing that the call waits for.
    pub(crate) kind: WaitingFor,
}

/// The thing that a call waits for.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum WaitingFor {
    /// The approval of the user.
    Approval,
    /// The user's answer, or their browser.
    User,
}

impl From<&ToolPart> for WaitingCall {
    fn from(tool: &ToolPart) -> Self {
        let kind = match tool.state {
            ToolState::ApprovalRequested => WaitingFor::Approval,
            _ => WaitingFor::User,
        };
        Self { tool: tool.tool_name.clone(), kind }
    }
}

/// Returns the JSON Schema of the content.
pub(crate) fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        // Some clients do not resolve references.
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<AnswerContent>().to_value();
    schema.as_object_mut().and_then(|keywords| keywords.remove("title"));
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemas::Schema;
    use serde_json::json;

    #[test]
    fn the_content_fits_its_schema() {
        let schema = schema();
        let properties: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(properties, ["answer", "conversationId", "url", "outcome", "reason", "waitsFor"]);
        assert_eq!(schema["type"], "object");
        let compiled = Schema::new(&schema).unwrap();
        for (outcome, name) in [(Some(Outcome::Waiting), "waiting"), (None, "cutOff")] {
            let content = AnswerContent {
                answer: String::new(),
                conversation_id: "c".to_owned(),
                url: "/p".to_owned(),
                outcome: outcome.into(),
                reason: None,
                waits_for: vec![WaitingCall { tool: "send".to_owned(), kind: WaitingFor::Approval }],
            };
            let content = serde_json::to_value(content).unwrap();
            assert_eq!(content["outcome"], name);
            assert_eq!(content["waitsFor"], json!([{ "tool": "send", "kind": "approval" }]));
            assert!(compiled.check_blocking(&content, 1).is_ok(), "{content}");
        }
        let mut wrong = json!({
            "answer": "", "conversationId": "c", "url": "/p", "outcome": "over", "reason": null, "waitsFor": [],
        });
        assert!(compiled.check_blocking(&wrong, 1).is_err());
        wrong["outcome"] = "done".into();
        assert!(compiled.check_blocking(&wrong, 1).is_ok());
    }
}
