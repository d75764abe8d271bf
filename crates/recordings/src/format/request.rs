//! A request to a model in the product's own form, independent of the provider.

use super::{BlobId, blob_id};
use contract::{ModelId, ResponseFormat, Sampling, ToolChoice};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use contract::Message;

/// A request to a model. Its large parts are blobs, so that equal values are stored once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NeutralRequest {
    /// The model.
    pub model: ModelId,
    /// The system prompt: a blob with a text.
    pub system: Option<BlobId>,
    /// The history, oldest first: blobs of [`Message`].
    pub messages: Vec<BlobId>,
    /// The tools: a blob with a list of [`super::RecordedTool`].
    pub tools: BlobId,
    /// The tool choice.
    pub tool_choice: ToolChoice,
    /// The sampling settings.
    pub sampling: Sampling,
    /// The form of a JSON answer.
    pub response_format: Option<ResponseFormat>,
    /// The hash of the options for the provider, which may contain secrets.
    pub provider_options: BlobId,
}

impl NeutralRequest {
    /// Returns the hash of the whole request of this agent.
    pub(crate) fn hash(&self, agent: &str) -> String {
        let request = serde_json::to_value(self).unwrap_or_default();
        blob_id(&Value::from(vec![Value::from(agent), request]))
    }

    /// Returns the hash of the agent and the conversation, without the system prompt, the tools and
    /// the settings.
    pub(crate) fn conversation_hash(&self, agent: &str) -> String {
        let messages = Value::from(self.messages.clone());
        blob_id(&Value::from(vec![Value::from(agent), messages]))
    }
}
