//! A tool that answers from the recording.

use super::ToolMode;
use super::tape::Tape;
use crate::format::Outcome;
use contract::{Message, Part, Request, RunScope, Tool, ToolContext, ToolError, ToolSpec, UserPart, mask_secrets};
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

/// The most recorded results that a model reads before it makes one up.
const MAX_EXAMPLES: usize = 3;
/// The longest result that a model makes up, in bytes.
const MAX_SIMULATED: usize = 64 * 1024;

/// Answers from the recording, or runs the tool.
pub(super) struct ReplayTool {
    pub(super) tape: Arc<Tape>,
    pub(super) agent: String,
    pub(super) spec: ToolSpec,
    /// The tool itself; `None` if only its declaration was recorded.
    pub(super) inner: Option<Arc<dyn Tool>>,
}

impl Tool for ReplayTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn needs_approval_for<'a>(&'a self, input: &'a Value, scope: &'a RunScope) -> BoxFuture<'a, bool> {
        let recorded = self.tape.approval(&self.agent, &self.spec.name, &mask_secrets(input));
        match (recorded, &self.inner) {
            (Some(needed), inner) if self.tape.options.same_config || inner.is_none() => {
                Box::pin(std::future::ready(needed))
            }
            (_, Some(tool)) => tool.needs_approval_for(input, scope),
            // It is unknown, so approval is required.
            (_, None) => Box::pin(std::future::ready(true)),
        }
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        if let Some(tool) = self.inner.as_ref().filter(|_| self.tape.may_run(&self.spec)) {
            return tool.call(input, context);
        }
        let input = mask_secrets(&input);
        match self.tape.outcome(&self.agent, &self.spec.name, &context.call_id, &input) {
            Some(Outcome::Output(output)) => Box::pin(std::future::ready(Ok(output))),
            Some(Outcome::Error(message)) => Box::pin(std::future::ready(Err(ToolError::new(message)))),
            // The recorded run was stopped here, and so is its replay.
            None if self.tape.was_cut_off(&self.agent, &self.spec.name) => {
                self.tape.stop.cancel();
                Box::pin(std::future::pending())
            }
            None => self.answer_missing(input, context),
        }
    }
}

impl ReplayTool {
    /// Answers a call that the recording does not have.
    fn answer_missing(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        let name = &self.spec.name;
        match self.tape.options.tools {
            ToolMode::Simulate => return Box::pin(self.simulate(input, context)),
            ToolMode::Stop => {
                self.tape.miss(&self.agent, format!("the call {name} {input}"));
                self.tape.stop.cancel();
            }
            ToolMode::Recorded => self.tape.miss(&self.agent, format!("the call {name} {input}")),
            ToolMode::Live => {
                let why = "the tool does not run unless --allow-effects names it";
                let why = if self.inner.is_some() { why } else { "the tool is not available here" };
                self.tape.miss(&self.agent, format!("the call {name} {input}: {why}"));
            }
        }
        let text = "This call is not in the recording that is replayed, so it has no result.";
        Box::pin(std::future::ready(Err(ToolError::new(text))))
    }

    /// Lets the agent's model make up a result.
    async fn simulate(&self, input: Value, context: ToolContext) -> Result<Value, ToolError> {
        self.tape.record_simulated();
        let examples = self.tape.examples(&self.spec.name, MAX_EXAMPLES);
        let examples = serde_json::to_string(&examples).unwrap_or_default();
        let text = format!(
            "Tool: {}\nDescription: {}\nEarlier results: {examples}\nArguments: {input}",
            self.spec.name, self.spec.description
        );
        let request = Request {
            system: Some("Write the result that this tool would return, as JSON and nothing else.".to_owned()),
            messages: vec![Arc::new(Message::User(vec![UserPart::Text { text }]))],
            ..Request::default()
        };
        let failed = |_| ToolError::new("The result could not be simulated.");
        let mut parts = self.tape.model.stream(request, context.cancel.clone()).await.map_err(failed)?;
        let mut written = String::new();
        while let Some(part) = parts.next().await {
            if let Part::TextDelta { delta, .. } = part.map_err(failed)? {
                written.push_str(&delta);
            }
            if written.len() > MAX_SIMULATED {
                return Err(ToolError::new("The simulated result is too long."));
            }
        }
        Ok(serde_json::from_str(&written).unwrap_or(Value::String(written)))
    }
}
