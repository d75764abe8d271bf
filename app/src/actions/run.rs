//! Runs a list of actions.

use super::{Actions, Status, link};
use crate::prelude::*;
use crate::texts::{Text, fill};
use serde_json::{Map, Value};
use std::time::Duration;
use wire::page::{Action, ActionType, ClientTool};

/// Why a list ends.
enum Failure {
    /// For the person at the page.
    Told(String),
    /// It is shown at the inputs already; these words are for who does not see them.
    Shown(String),
    /// There is nobody left to tell.
    Gone,
}

/// What came of a list of actions.
struct Done {
    /// The results of those with an id.
    results: Value,
    /// That of the last one.
    last: Value,
}

impl Actions {
    /// Runs actions one after the other; what goes wrong is shown. `false`: one has failed, and those after it have not run.
    pub(super) async fn run(self, actions: &[Action], event: &Value) -> bool {
        let done = self.perform(actions, event).await;
        if let Err(Failure::Told(text)) = &done {
            self.notify(text.clone(), Status::Error, None);
        }
        done.is_ok()
    }

    /// Runs a tool of the page: its actions, given what the model called it with.
    ///
    /// # Errors
    /// One has failed, and those after it have not run; in words for the model.
    pub(super) async fn call(self, tool: &ClientTool, input: &Value) -> Result<Value, String> {
        let words = |failure| match failure {
            Failure::Told(text) | Failure::Shown(text) => text,
            Failure::Gone => "The user has left the page before this was done.".to_owned(),
        };
        let Done { results, last } = self.perform(&tool.actions, input).await.map_err(words)?;
        if !tool.result.is_null() {
            return self.evaluate(&tool.result, input, &results).map_err(words);
        }
        // Something must be said, or a model takes it for a failure.
        let done = || Value::Object([("ok".to_owned(), Value::Bool(true))].into_iter().collect());
        Ok(if last.is_null() { done() } else { last })
    }

    async fn perform(self, actions: &[Action], event: &Value) -> Result<Done, Failure> {
        let (mut results, mut last) = (Value::Object(Map::new()), Value::Null);
        for action in actions {
            last = self.step(action, event, &results).await?;
            if let (Some(id), Some(results)) = (&action.id, results.as_object_mut()) {
                results.insert(id.clone(), last.clone());
            }
        }
        Ok(Done { results, last })
    }

    fn evaluate(self, value: &Value, event: &Value, results: &Value) -> Result<Value, Failure> {
        if self.state.is_gone() {
            return Err(Failure::Gone);
        }
        let value = untrack(|| self.scope.evaluate_with(value, Some(event), Some(results)));
        value.map_err(|error| Failure::Told(fill(Text::ActionWrong, &[&error.to_string()])))
    }

    async fn step(self, action: &Action, event: &Value, results: &Value) -> Result<Value, Failure> {
        let evaluate = |value: &Value| self.evaluate(value, event, results);
        if operators::is_truthy(&evaluate(&action.skip)?) {
            return Ok(Value::Null);
        }
        let mut params = Map::new();
        for (key, value) in &action.params {
            params.insert(key.clone(), evaluate(value)?);
        }
        let text = |key: &str| params.get(key).and_then(wire::page::properties::as_text);
        match action.kind {
            ActionType::SetState => {
                params.into_iter().for_each(|(key, value)| self.state.set(&key, value));
            }
            ActionType::Reset => self.state.reset(ids(&params).as_deref()),
            ActionType::Validate => {
                let wanted = ids(&params);
                if !self.state.demand_valid(wanted.as_deref()) {
                    return Err(Failure::Shown(untrack(|| self.state.problems(wanted.as_deref()))));
                }
            }
            ActionType::CallEndpoint => {
                let endpoint = text("endpointId").unwrap_or_default();
                let payload = params.remove("payload").unwrap_or_else(|| Value::Object(Map::new()));
                return self.call_endpoint(&endpoint, &payload).await.map_err(Failure::Told);
            }
            ActionType::CallMethod => {
                let args = params.get("args").and_then(Value::as_array).cloned().unwrap_or_default();
                let (block, method) = (text("blockId").unwrap_or_default(), text("method").unwrap_or_default());
                self.call_method(&block, &method, &args).map_err(Failure::Told)?;
            }
            ActionType::Link => link::follow(&params, self.scope.address()).map_err(Failure::Told)?,
            ActionType::Message => {
                let duration = params.get("duration").and_then(Value::as_f64);
                let duration = duration.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                self.notify(text("content").unwrap_or_default(), Status::read(text("status").as_deref()), duration);
            }
        }
        Ok(Value::Null)
    }
}

/// The inputs that an action is about; `None`: all.
fn ids(params: &Map<String, Value>) -> Option<Vec<String>> {
    let ids = params.get("ids")?.as_array()?;
    Some(ids.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}
