//! Runs a list of actions.

use super::{Actions, MessageStatus, link};
use crate::prelude::*;
use crate::texts::{Text, fill};
use serde_json::{Map, Value};
use std::time::Duration;
use wire::page::{
    Action, ActionType, CallEndpointParams, CallMethodParams, ClientTool, InputsParams, LinkParams, MessageParams,
    ThrowParams,
};

/// Why a list of actions ended early.
enum ActionError {
    /// A message for the user.
    Message(String),
    /// Validation errors, which the inputs already show; the text is for the model.
    ShownAtInputs(String),
    /// The page is gone, so there is nothing to show.
    PageGone,
}

/// The results of a list of actions.
struct ActionResults {
    /// The results of the actions with an id, by id.
    results: Value,
    /// The result of the last action.
    last: Value,
}

impl Actions {
    /// Runs actions in order and shows an error to the user. Returns `false` if one failed, in
    /// which case the later ones did not run.
    pub(super) async fn run(self, actions: &[Action], event: &Value) -> bool {
        let done = self.run_all(actions, event).await;
        if let Err(ActionError::Message(text)) = &done {
            self.notify(text.clone(), MessageStatus::Error, None);
        }
        done.is_ok()
    }

    /// Calls a client tool: runs its actions with the model's input as the event.
    ///
    /// # Errors
    /// An action failed, and the later ones did not run. The error is for the model.
    pub(super) async fn call(self, tool: &ClientTool, input: &Value) -> Result<Value, String> {
        let words = |failure| match failure {
            ActionError::Message(text) | ActionError::ShownAtInputs(text) => text,
            ActionError::PageGone => "The user left the page before this was done.".to_owned(),
        };
        let ActionResults { results, last } = self.run_all(&tool.actions, input).await.map_err(words)?;
        if !tool.result.is_null() {
            return self.evaluate(&tool.result, input, &results).map_err(words);
        }
        // An empty result could be taken for a failure by the model.
        let done = || Value::Object([("ok".to_owned(), Value::Bool(true))].into_iter().collect());
        Ok(if last.is_null() { done() } else { last })
    }

    async fn run_all(self, actions: &[Action], event: &Value) -> Result<ActionResults, ActionError> {
        let (mut results, mut last) = (Value::Object(Map::new()), Value::Null);
        for action in actions {
            last = self.run_action(action, event, &results).await?;
            if let (Some(id), Some(results)) = (&action.id, results.as_object_mut()) {
                results.insert(id.clone(), last.clone());
            }
        }
        Ok(ActionResults { results, last })
    }

    fn evaluate(self, value: &Value, event: &Value, results: &Value) -> Result<Value, ActionError> {
        if self.state.is_disposed() {
            return Err(ActionError::PageGone);
        }
        let value = untrack(|| self.scope.evaluate_in_action(value, Some(event), Some(results)));
        value.map_err(|error| ActionError::Message(fill(Text::ActionWrong, &[&error.to_string()])))
    }

    async fn run_action(self, action: &Action, event: &Value, results: &Value) -> Result<Value, ActionError> {
        let evaluate = |value: &Value| self.evaluate(value, event, results);
        if operators::is_truthy(&evaluate(&action.skip)?) {
            return Ok(Value::Null);
        }
        let mut params = Map::new();
        for (key, value) in &action.params {
            params.insert(key.clone(), evaluate(value)?);
        }
        match action.kind {
            ActionType::SetState => {
                for (key, value) in self.state.resolve_writes(params) {
                    self.state.set(&key, value);
                }
            }
            ActionType::Reset => self.state.reset(InputsParams::read(&params).ids.as_deref()),
            ActionType::Validate => {
                let wanted = InputsParams::read(&params).ids;
                if !self.state.require_valid(wanted.as_deref()) {
                    return Err(ActionError::ShownAtInputs(untrack(|| {
                        self.state.validation_summary(wanted.as_deref())
                    })));
                }
            }
            ActionType::CallEndpoint => {
                let CallEndpointParams { endpoint_id, payload } = CallEndpointParams::read(&params);
                let payload = payload.unwrap_or_else(|| Value::Object(Map::new()));
                return self.call_endpoint(&endpoint_id, &payload).await.map_err(ActionError::Message);
            }
            ActionType::CallMethod => {
                let CallMethodParams { block_id, method, args } = CallMethodParams::read(&params);
                self.call_method(&block_id, &method, &args).map_err(ActionError::Message)?;
            }
            ActionType::Link => {
                let params = LinkParams::read(&params);
                link::follow(&params, self.scope.address()).map_err(ActionError::Message)?;
            }
            ActionType::Throw => {
                let ThrowParams { message, throw } = ThrowParams::read(&params);
                if throw {
                    return Err(ActionError::Message(message));
                }
            }
            ActionType::Message => {
                let MessageParams { content, status, duration } = MessageParams::read(&params);
                let duration = duration.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                self.notify(content, status, duration);
            }
        }
        Ok(Value::Null)
    }
}
