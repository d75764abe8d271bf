//! The events that the chunks of a run become, and the response that is made from them.

use crate::request::RoutingDecision;
use bytes::Bytes;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use sse::{SseDecoder, SseLimits};
use std::collections::HashMap;
use wire::chunk::DONE;
use wire::{Chunk, DataChunk, ErrorCode, UserError};

/// The size limits of an event; the server's own are lower.
const LIMITS: SseLimits = SseLimits { line: 8 << 20, event: 8 << 20 };
const CUT_OFF: &str = "The answer was cut off. It goes on in the conversation.";

/// The part with which an agent shows how it has decided to answer.
const ROUTING: &str = "data-routing";

/// An event of the stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    name: &'static str,
    data: Value,
}

impl Event {
    pub(crate) fn new(name: &'static str, data: Value) -> Self {
        Self { name, data }
    }

    pub(crate) fn routing(decision: &RoutingDecision) -> Self {
        Self::new("routing_decision", json!(decision))
    }

    pub(crate) fn frame(&self) -> Bytes {
        format!("event: {}\ndata: {}\n\n", self.name, self.data).into()
    }
}

/// The answer to a message.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct MessageResponse {
    /// The id of the answer.
    message_id: String,
    /// The id of the conversation.
    conversation_id: String,
    /// The text of the answer.
    content: String,
    /// The model that answered.
    model: Option<String>,
    /// Which agent answered, and with what.
    routing_decision: RoutingDecision,
    /// The calls of tools: `{tool, tool_call_id, success}`.
    tool_calls: Vec<Value>,
    /// The passages and pages that the answer cites.
    citations: Vec<Value>,
    /// The calls that wait for the user's approval, which the conversation takes: `{type, tool, tool_call_id,
    /// approval_id}`.
    prompts: Vec<Value>,
    /// The id of the run.
    run_id: String,
}

/// Reads the frames of a run.
pub(crate) struct Translator {
    decoder: SseDecoder,
    conversation_id: String,
    decision: RoutingDecision,
    run_id: String,
    message_id: String,
    model: Option<String>,
    content: String,
    tools: HashMap<String, String>,
    tool_calls: Vec<Value>,
    citations: Vec<Value>,
    prompts: Vec<Value>,
    failure: Option<String>,
    is_over: bool,
}

impl Translator {
    pub(crate) fn new(conversation_id: String, decision: RoutingDecision, run_id: String, message_id: String) -> Self {
        Self {
            decoder: SseDecoder::new(LIMITS),
            conversation_id,
            decision,
            run_id,
            message_id,
            model: None,
            content: String::new(),
            tools: HashMap::new(),
            tool_calls: Vec::new(),
            citations: Vec::new(),
            prompts: Vec::new(),
            failure: None,
            is_over: false,
        }
    }

    /// Reads a frame.
    pub(crate) fn push(&mut self, frame: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        if self.decoder.push(frame).is_err() {
            return events;
        }
        while let Some(event) = self.decoder.next() {
            if event.data == DONE {
                self.is_over = true;
            } else if let Ok(chunk) = serde_json::from_str(&event.data) {
                events.extend(self.event(chunk));
            }
        }
        events
    }

    fn event(&mut self, chunk: Chunk) -> Option<Event> {
        match chunk {
            Chunk::Start { message_metadata, .. } | Chunk::Finish { message_metadata, .. } => {
                self.read_metadata(&message_metadata.unwrap_or_default());
            }
            Chunk::MessageMetadata { message_metadata } => self.read_metadata(&message_metadata),
            Chunk::TextDelta { delta, .. } => {
                self.content.push_str(&delta);
                return Some(Event::new("content_chunk", json!({ "chunk": delta })));
            }
            Chunk::TextEnd { citations, .. } => self.citations.extend(citations),
            Chunk::ReasoningDelta { delta, .. } if !delta.is_empty() => {
                return Some(Event::new("thought", json!({ "message": delta })));
            }
            Chunk::ToolInputAvailable { tool_call_id, tool_name, input, .. } => {
                let data = json!({ "tool": tool_name, "tool_call_id": tool_call_id, "input": input });
                self.tools.insert(tool_call_id, tool_name);
                return Some(Event::new("tool_start", data));
            }
            Chunk::ToolOutputAvailable { tool_call_id, output, preliminary, .. } if preliminary != Some(true) => {
                return Some(self.tool_result(tool_call_id, true, ("output", output)));
            }
            Chunk::ToolOutputError { tool_call_id, error_text, .. } => {
                return Some(self.tool_result(tool_call_id, false, ("error", error_text.into())));
            }
            Chunk::ToolOutputDenied { tool_call_id } => {
                return Some(self.tool_result(tool_call_id, false, ("error", "The user denied this call.".into())));
            }
            Chunk::ToolApprovalRequest { approval_id, tool_call_id, approved: None, .. } => {
                let tool = self.tools.get(&tool_call_id);
                let prompt = json!({ "type": "confirm", "tool": tool, "tool_call_id": tool_call_id, "approval_id": approval_id });
                self.prompts.push(prompt.clone());
                return Some(Event::new("prompt", prompt));
            }
            Chunk::Data(DataChunk { kind, data, .. }) if kind == ROUTING => {
                self.decision = self.decision.with_route(&data)?;
                return Some(Event::routing(&self.decision));
            }
            Chunk::Error { error_text } => {
                self.failure = Some(error_text.clone());
                return Some(Event::new("error", json!({ "error": error_text })));
            }
            _ => {}
        }
        None
    }

    fn read_metadata(&mut self, metadata: &Value) {
        if let Some(model) = metadata["model"].as_str() {
            self.model = Some(model.to_owned());
        }
    }

    fn tool_result(&mut self, tool_call_id: String, success: bool, (key, value): (&str, Value)) -> Event {
        let mut data =
            json!({ "tool": self.tools.get(&tool_call_id), "tool_call_id": tool_call_id, "success": success });
        self.tool_calls.push(data.clone());
        data[key] = value;
        Event::new("tool_result", data)
    }

    /// Returns the last event of the stream, if there is one after an error.
    pub(crate) fn last_event(&self) -> Option<Event> {
        if !self.is_over {
            return Some(Event::new("error", json!({ "error": CUT_OFF })));
        }
        let data = json!({
            "message_id": self.message_id,
            "conversation_id": self.conversation_id,
            "model": self.model,
            "citations": self.citations,
        });
        self.failure.is_none().then(|| Event::new("message_complete", data))
    }

    /// Returns the response.
    ///
    /// # Errors
    /// The run failed or was cut off.
    pub(crate) fn response(self) -> Result<MessageResponse, UserError> {
        if !self.is_over {
            return Err(UserError::new(ErrorCode::Unavailable, CUT_OFF));
        }
        if let Some(failure) = self.failure {
            return Err(UserError::new(ErrorCode::Internal, failure));
        }
        Ok(MessageResponse {
            message_id: self.message_id,
            conversation_id: self.conversation_id,
            content: self.content,
            model: self.model,
            routing_decision: self.decision,
            tool_calls: self.tool_calls,
            citations: self.citations,
            prompts: self.prompts,
            run_id: self.run_id,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::MessageRequest;

    /// Returns the events and the response for the chunks, however the frames are cut.
    fn check(chunks: &[&str]) -> String {
        let frames: String = chunks.iter().map(|chunk| format!("id: 1.1\ndata: {chunk}\n\n")).collect();
        let section = serde_json::from_value(json!({ "agentId": "helper" })).unwrap();
        let request: MessageRequest = serde_json::from_value(json!({ "message": "Hi" })).unwrap();
        let seen = [1, 7, frames.len()].map(|size| {
            let mut translator =
                Translator::new("c".to_owned(), request.decision(&section), "r".to_owned(), "m".to_owned());
            let mut events = Vec::new();
            for frame in frames.as_bytes().chunks(size) {
                events.extend(translator.push(frame));
            }
            events.extend(translator.last_event());
            let lines = events.iter().map(|event| format!("{} {}", event.name, event.data));
            let mut lines = lines.collect::<Vec<_>>().join("\n");
            match translator.response() {
                Ok(response) => lines += &format!("\n{:?} {:?}", response.content, response.tool_calls.len()),
                Err(error) => lines += &format!("\n{}", error.message),
            }
            lines
        });
        assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
        seen[0].clone()
    }

    #[test]
    fn chunks_become_events() {
        let answer = check(&[
            r#"{"type":"start","messageId":"m","messageMetadata":{"model":"small"}}"#,
            r#"{"type":"tool-input-available","toolCallId":"t","toolName":"web_search","input":{"query":"q"}}"#,
            r#"{"type":"tool-output-available","toolCallId":"t","output":[1],"preliminary":true}"#,
            r#"{"type":"tool-output-available","toolCallId":"t","output":[1,2]}"#,
            r#"{"type":"text-start","id":"a"}"#,
            r#"{"type":"text-delta","id":"a","delta":"Hel"}"#,
            r#"{"type":"text-delta","id":"a","delta":"lo"}"#,
            r#"{"type":"text-end","id":"a","citations":[{"source":{"id":"d"}}]}"#,
            r#"{"type":"finish"}"#,
            "[DONE]",
        ]);
        insta::assert_snapshot!(answer, @r#"
        tool_start {"tool":"web_search","tool_call_id":"t","input":{"query":"q"}}
        tool_result {"tool":"web_search","tool_call_id":"t","success":true,"output":[1,2]}
        content_chunk {"chunk":"Hel"}
        content_chunk {"chunk":"lo"}
        message_complete {"message_id":"m","conversation_id":"c","model":"small","citations":[{"source":{"id":"d"}}]}
        "Hello" 1
        "#);
        insta::assert_snapshot!(check(&[r#"{"type":"error","errorText":"No model."}"#, "[DONE]"]), @r#"
        error {"error":"No model."}
        No model.
        "#);
        insta::assert_snapshot!(check(&[r#"{"type":"text-delta","id":"a","delta":"Hel"}"#]), @r#"
        content_chunk {"chunk":"Hel"}
        error {"error":"The answer was cut off. It goes on in the conversation."}
        The answer was cut off. It goes on in the conversation.
        "#);
        let routed = [
            r#"{"type":"data-routing","id":"routing","data":{"route":"web-search","reason":"It is new.","decidedBy":"model","alternatives":["chat"]}}"#,
            r#"{"type":"data-routing","data":{"route":1}}"#,
            "[DONE]",
        ];
        insta::assert_snapshot!(check(&routed), @r#"
        routing_decision {"selected_tools":[],"selected_agents":["web-search"],"confidence":1.0,"reasoning":"It is new.","alternatives":["chat"],"requires_disambiguation":false}
        message_complete {"message_id":"m","conversation_id":"c","model":null,"citations":[]}
        "" 0
        "#);
        let asks = [
            r#"{"type":"tool-input-available","toolCallId":"t","toolName":"delete_it","input":{}}"#,
            r#"{"type":"tool-approval-request","approvalId":"p","toolCallId":"t"}"#,
            "[DONE]",
        ];
        insta::assert_snapshot!(check(&asks), @r#"
        tool_start {"tool":"delete_it","tool_call_id":"t","input":{}}
        prompt {"type":"confirm","tool":"delete_it","tool_call_id":"t","approval_id":"p"}
        message_complete {"message_id":"m","conversation_id":"c","model":null,"citations":[]}
        "" 0
        "#);
        let decided = r#"{"type":"tool-approval-request","approvalId":"p","toolCallId":"t","approved":true}"#;
        insta::assert_snapshot!(check(&[asks[0], decided, "[DONE]"]), @r#"
        tool_start {"tool":"delete_it","tool_call_id":"t","input":{}}
        message_complete {"message_id":"m","conversation_id":"c","model":null,"citations":[]}
        "" 0
        "#);
    }
}
