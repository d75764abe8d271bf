//! The providers that the scripts are for.

use crate::{settings, sse};
use contract::Model;
use providers::Settings;
use providers::ai_gateway::AiGateway;
use providers::anthropic::Anthropic;
use providers::google::Google;
use providers::openai_chat::OpenAiChat;
use providers::openai_responses::OpenAiResponses;

/// A provider, and what its streams look like.
pub(crate) struct Provider {
    pub(crate) model: fn(Settings) -> Box<dyn Model>,
    /// Of a request.
    pub(crate) path: &'static str,
    /// The header that holds the key.
    pub(crate) key: &'static str,
    pub(crate) fixture: &'static str,
    /// Before the last place of this in the fixture, the reply is not complete.
    pub(crate) end: &'static str,
    /// At most as many calls are complete as events with this have come.
    pub(crate) call: &'static str,
    /// Trouble, told in the stream.
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
    /// Its model, behind this address.
    pub(crate) fn at(&self, base_url: &str) -> Box<dyn Model> {
        (self.model)(settings(format!("{base_url}/v1/")))
    }

    /// The first events of the fixture.
    pub(crate) fn beginning(&self, events: usize) -> String {
        sse(&self.fixture.lines().take(events).collect::<Vec<_>>().join("\n"))
    }
}
