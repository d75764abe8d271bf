//! The objects of Chat Completions.

use super::turn::{Answer, Ended, Finish, Output};
use crate::error::ApiError;
use bytes::Bytes;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use wire::api::TokenUsage;

/// A chat completion.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ChatCompletionObject {
    /// `chatcmpl-` and the id of the run.
    id: String,
    object: &'static str,
    /// Unix time in seconds.
    created: i64,
    /// The agent.
    model: String,
    /// One.
    choices: Vec<Choice>,
    usage: ChatUsage,
}

/// The answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Choice {
    index: u32,
    message: AnswerMessage,
    /// Always absent.
    logprobs: Option<Value>,
    /// `stop`, `length`, `tool_calls` or `content_filter`.
    finish_reason: &'static str,
}

/// The message of the answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct AnswerMessage {
    role: &'static str,
    content: Option<String>,
    refusal: Option<String>,
    /// The calls of the caller's tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Value>,
}

/// The tokens of all requests to models, with those of the agent's own steps and sub-agents.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
struct ChatUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: PromptDetails,
    completion_tokens_details: CompletionDetails,
}

/// The tokens of the input.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
struct PromptDetails {
    cached_tokens: u64,
    audio_tokens: u64,
}

/// The tokens of the output.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
struct CompletionDetails {
    reasoning_tokens: u64,
    audio_tokens: u64,
    accepted_prediction_tokens: u64,
    rejected_prediction_tokens: u64,
}

impl From<TokenUsage> for ChatUsage {
    fn from(usage: TokenUsage) -> Self {
        Self {
            prompt_tokens: usage.input_tokens,
            completion_tokens: usage.output_tokens,
            total_tokens: usage.input_tokens.saturating_add(usage.output_tokens),
            prompt_tokens_details: PromptDetails { cached_tokens: usage.cache_read_tokens, audio_tokens: 0 },
            completion_tokens_details: CompletionDetails {
                reasoning_tokens: usage.reasoning_tokens,
                audio_tokens: 0,
                accepted_prediction_tokens: 0,
                rejected_prediction_tokens: 0,
            },
        }
    }
}

/// Writes a completion, as chunks and as one object.
pub(crate) struct ChatWriter {
    id: String,
    created: i64,
    model: String,
    include_usage: bool,
    text: String,
    /// Whether a request to the model began since the text.
    is_new_step: bool,
}

impl ChatWriter {
    pub(crate) fn new(run_id: &str, created: i64, model: String, include_usage: bool) -> Self {
        let id = format!("chatcmpl-{run_id}");
        Self { id, created, model, include_usage, text: String::new(), is_new_step: false }
    }

    /// Returns the first chunk.
    pub(crate) fn begin(&self) -> Vec<Bytes> {
        vec![self.chunk(json!({ "role": "assistant", "content": "" }), None)]
    }

    /// Returns the chunks of what the run writes.
    pub(crate) fn write(&mut self, output: Output) -> Vec<Bytes> {
        match output {
            Output::Step => {
                self.is_new_step = true;
                Vec::new()
            }
            Output::Reasoning(_) => Vec::new(),
            Output::Text(delta) => {
                // The texts of an agent's steps are paragraphs of one answer.
                let is_next = std::mem::take(&mut self.is_new_step) && !self.text.is_empty();
                let delta = if is_next { format!("\n\n{delta}") } else { delta };
                self.text.push_str(&delta);
                vec![self.chunk(json!({ "content": delta }), None)]
            }
        }
    }

    /// Returns the last chunks, and the object.
    pub(crate) fn end(mut self, ended: Ended) -> (Vec<Bytes>, Result<ChatCompletionObject, ApiError>) {
        let Answer { finish, calls, text } = match ended.result {
            Ok(answer) => answer,
            Err(error) => return (vec![frame(&error.value())], Err(error)),
        };
        let mut chunks = Vec::new();
        if let Some(text) = text {
            chunks.extend(self.write(Output::Text(text)));
        }
        let calls: Vec<_> = calls
            .into_iter()
            .map(|call| {
                let function = json!({ "name": call.name, "arguments": call.arguments });
                json!({ "id": call.id, "type": "function", "function": function })
            })
            .collect();
        for (at, call) in calls.iter().enumerate() {
            let mut call = call.clone();
            call["index"] = at.into();
            chunks.push(self.chunk(json!({ "tool_calls": [call] }), None));
        }
        let reason = match finish {
            Finish::Stop => "stop",
            Finish::Length => "length",
            Finish::ContentFilter => "content_filter",
            Finish::ToolCalls => "tool_calls",
        };
        chunks.push(self.chunk(json!({}), Some(reason)));
        let usage = ChatUsage::from(ended.usage);
        if self.include_usage {
            let mut last = self.object(json!([]));
            last["usage"] = json!(usage);
            chunks.push(frame(&last));
        }
        chunks.push(Bytes::from_static(b"data: [DONE]\n\n"));
        let content = Some(self.text).filter(|text| !text.is_empty() || calls.is_empty());
        let message = AnswerMessage { role: "assistant", content, refusal: None, tool_calls: calls };
        let object = ChatCompletionObject {
            id: self.id,
            object: "chat.completion",
            created: self.created,
            model: self.model,
            choices: vec![Choice { index: 0, message, logprobs: None, finish_reason: reason }],
            usage,
        };
        (chunks, Ok(object))
    }

    fn chunk(&self, delta: Value, finish_reason: Option<&str>) -> Bytes {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason });
        frame(&self.object(json!([choice])))
    }

    fn object(&self, choices: Value) -> Value {
        let mut object = json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        });
        if self.include_usage {
            object["usage"] = Value::Null;
        }
        object
    }
}

fn frame(data: &Value) -> Bytes {
    format!("data: {data}\n\n").into()
}
