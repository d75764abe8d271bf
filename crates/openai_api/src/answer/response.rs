//! The object of a response, and its events.

use super::items::OutputItems;
use super::turn::{Answer, Ended, Finish, Output};
use crate::error::ApiError;
use crate::request::responses::ResponseCall;
use bytes::Bytes;
use serde_json::{Value, json};
use wire::api::TokenUsage;

/// Writes a response, as events and as one object.
pub(crate) struct ResponseWriter {
    /// The object without what changes.
    base: Value,
    items: OutputItems,
    sequence: u64,
}

impl ResponseWriter {
    /// Begins the response of a run. `created_at` is Unix time in seconds.
    pub(crate) fn new(run_id: &str, created_at: i64, call: &ResponseCall) -> Self {
        let (parameters, sampling) = (&call.parameters, &call.parameters.sampling);
        let base = json!({
            "id": format!("resp_{run_id}"),
            "object": "response",
            "created_at": created_at,
            "status": "in_progress",
            "background": false,
            "completed_at": null,
            "error": null,
            "incomplete_details": null,
            "instructions": call.instructions,
            "max_output_tokens": sampling.max_output_tokens,
            "model": parameters.model,
            "output": [],
            "parallel_tool_calls": parameters.parallel_tool_calls,
            "previous_response_id": call.previous_response_id,
            "reasoning": { "effort": null, "summary": call.shows_reasoning.then_some("auto") },
            "service_tier": "default",
            "store": call.store,
            "temperature": sampling.temperature,
            "text": call.text,
            "tool_choice": call.tool_choice,
            "tools": call.tools,
            "top_p": sampling.top_p,
            "truncation": "disabled",
            "usage": null,
            "metadata": parameters.metadata,
        });
        Self { base, items: OutputItems::new(run_id, call.shows_reasoning), sequence: 0 }
    }

    /// Returns the response so far.
    pub(crate) fn object(&self) -> &Value {
        &self.base
    }

    /// Returns the first events.
    pub(crate) fn begin(&mut self) -> Vec<Bytes> {
        let response = self.base.clone();
        ["response.created", "response.in_progress"]
            .map(|kind| self.event(json!({ "type": kind, "response": response })))
            .into()
    }

    /// Returns the events of what the run writes.
    pub(crate) fn write(&mut self, output: Output) -> Vec<Bytes> {
        match output {
            Output::Text(delta) => self.items.write(&delta, false),
            Output::Reasoning(delta) => self.items.write(&delta, true),
            Output::Step => self.items.close("completed"),
        }
        self.item_events()
    }

    /// Returns the events of the items at the end of a run, and the response with `status`, which is not
    /// sent yet. `at` is Unix time in seconds.
    pub(crate) fn end(&mut self, ended: &Ended, is_cancelled: bool, at: i64) -> (Vec<Bytes>, Value) {
        let mut response = self.base.clone();
        let status = match &ended.result {
            Ok(Answer { finish, calls, text }) => {
                if let Some(text) = text {
                    self.items.write(text, false);
                }
                let status = match finish {
                    Finish::Length => Some("max_output_tokens"),
                    Finish::ContentFilter => Some("content_filter"),
                    Finish::Stop | Finish::ToolCalls => None,
                };
                self.items.close(if status.is_some() { "incomplete" } else { "completed" });
                calls.iter().for_each(|call| self.items.call(call));
                if let Some(reason) = status {
                    response["incomplete_details"] = json!({ "reason": reason });
                }
                if status.is_some() { "incomplete" } else { "completed" }
            }
            Err(_) if is_cancelled => {
                self.items.close("incomplete");
                "cancelled"
            }
            Err(error) => {
                self.items.close("incomplete");
                response["error"] = failure(error);
                "failed"
            }
        };
        if status == "completed" {
            response["completed_at"] = at.into();
        }
        response["status"] = status.into();
        response["output"] = self.items.done().into();
        response["usage"] = usage(ended.usage);
        (self.item_events(), response)
    }

    /// Returns the last event.
    pub(crate) fn last(&mut self, response: &Value) -> Vec<Bytes> {
        let kind = match response["status"].as_str() {
            Some("completed") => "response.completed",
            Some("incomplete") => "response.incomplete",
            // There is no event of a cancelled response.
            _ => "response.failed",
        };
        vec![self.event(json!({ "type": kind, "response": response }))]
    }

    /// Returns the event of an error that is not the run's.
    pub(crate) fn error(&mut self, error: &ApiError) -> Vec<Bytes> {
        let body = &error.body;
        let event = json!({ "type": "error", "code": body.code, "message": body.message, "param": body.param });
        vec![self.event(event)]
    }

    fn item_events(&mut self) -> Vec<Bytes> {
        let events = self.items.take_events();
        events.into_iter().map(|event| self.event(event)).collect()
    }

    fn event(&mut self, mut event: Value) -> Bytes {
        event["sequence_number"] = self.sequence.into();
        self.sequence += 1;
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        format!("event: {kind}\ndata: {event}\n\n").into()
    }
}

/// Returns the error of a response.
pub(crate) fn failure(error: &ApiError) -> Value {
    let code = if error.status.as_u16() == 429 { "rate_limit_exceeded" } else { "server_error" };
    json!({ "code": code, "message": error.body.message })
}

fn usage(usage: TokenUsage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "input_tokens_details": { "cached_tokens": usage.cache_read_tokens, "cache_write_tokens": usage.cache_write_tokens },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": { "reasoning_tokens": usage.reasoning_tokens },
        "total_tokens": usage.input_tokens.saturating_add(usage.output_tokens),
    })
}
