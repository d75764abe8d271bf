//! The providers under test.

use crate::{settings, sse};
use contract::Model;
use providers::ModelSettings;
use providers::ai_gateway::AiGateway;
use providers::anthropic::Anthropic;
use providers::google::Google;
use providers::openai_chat::OpenAiChat;
use providers::openai_responses::OpenAiResponses;

/// A provider, and the shape of its streams.
pub(crate) struct Provider {
    pub(crate) model: fn(ModelSettings) -> Box<dyn Model>,
    /// The path of a request.
    pub(crate) path: &'static str,
    /// The header that contains the key.
    pub(crate) key: &'static str,
    pub(crate) fixture: &'static str,
    /// The reply is incomplete before the last occurrence of this text in the fixture.
    pub(crate) end: &'static str,
    /// A text that occurs in the event which completes a call: there are at most as many calls as
    /// occurrences.
    pub(crate) call: &'static str,
    /// An error event.
    pub(crate) error: &'static str,
}

pub(crate) const PROVIDERS: [Provider; 5] = [
    Provider {
        model: |settings| Box::new(Anthropic::new(settings)),
        path: "/v1/messages",
        key: "x-api-key: ",
        fixture: include_str!("../../fixtures/anthropic/thinking_and_tools.jsonl"),
        end: "data: ",
        call: "content_block_stop",
        error: r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
    },
    Provider {
        model: |settings| Box::new(OpenAiChat::new(settings)),
        path: "/v1/chat/completions",
        key: "authorization: Bearer ",
        fixture: include_str!("../../fixtures/openai_chat/thinking_and_tools.jsonl"),
        end: r#""tool_calls"}"#,
        call: r#""finish_reason":"tool_calls""#,
        error: r#"{"error":{"code":503,"message":"Overloaded"}}"#,
    },
    Provider {
        model: |settings| Box::new(AiGateway::new(settings)),
        path: "/v1/chat/completions",
        key: "authorization: Bearer ",
        fixture: include_str!("../../fixtures/openai_chat/thinking_and_tools.jsonl"),
        end: r#""tool_calls"}"#,
        call: r#""finish_reason":"tool_calls""#,
        error: r#"{"error":{"message":"Overloaded","type":"internal_server_error"}}"#,
    },
    Provider {
        model: |settings| Box::new(OpenAiResponses::new(settings)),
        path: "/v1/responses",
        key: "authorization: Bearer ",
        fixture: include_str!("../../fixtures/openai_responses/thinking_and_tool.jsonl"),
        end: "data: ",
        call: "response.output_item.done",
        error: r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"Overloaded"}}}"#,
    },
    Provider {
        model: |settings| Box::new(Google::new(settings)),
        path: "/v1/models/m:streamGenerateContent?alt=sse",
        key: "x-goog-api-key: ",
        fixture: include_str!("../../fixtures/google/thinking_and_tools.jsonl"),
        end: "data: ",
        call: "functionCall",
        error: r#"{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}"#,
    },
];

impl Provider {
    /// Creates a model with this base URL.
    pub(crate) fn model_at(&self, base_url: &str) -> Box<dyn Model> {
        (self.model)(settings(format!("{base_url}/v1/")))
    }

    /// Returns the first events of the fixture.
    pub(crate) fn first_events(&self, events: usize) -> String {
        sse(&self.fixture.lines().take(events).collect::<Vec<_>>().join("\n"))
    }
}
