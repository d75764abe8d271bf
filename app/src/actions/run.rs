//! Runs a list of actions.

use super::{Actions, Status, link};
use leptos::prelude::*;
use serde_json::{Map, Value};
use std::time::Duration;
use wire::page::{Action, ActionType};

/// Why a list ends.
enum Failure {
    /// For the person at the page.
    Told(String),
    /// It is shown already, or there is nobody left to tell.
    Known,
}

impl Actions {
    /// Runs actions one after the other; what goes wrong is shown. `false`: one has failed, and those after it have not run.
    pub(super) async fn run(self, actions: &[Action], event: &Value) -> bool {
        let mut results = Value::Object(Map::new());
        for action in actions {
            let failure = match self.step(action, event, &results).await {
                Ok(result) => {
                    if let (Some(id), Some(results)) = (&action.id, results.as_object_mut()) {
                        results.insert(id.clone(), result);
                    }
                    continue;
                }
                Err(failure) => failure,
            };
            if let Failure::Told(text) = failure {
                self.notify(text, Status::Error, None);
            }
            return false;
        }
        true
    }

    async fn step(self, action: &Action, event: &Value, results: &Value) -> Result<Value, Failure> {
        if self.state.is_gone() {
            return Err(Failure::Known);
        }
        let evaluate = |value: &Value| {
            let value = untrack(|| self.scope.evaluate_with(value, Some(event), Some(results)));
            value.map_err(|error| Failure::Told(format!("An action of this page cannot be evaluated: {error}.")))
        };
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
                if !self.state.demand_valid(ids(&params).as_deref()) {
                    return Err(Failure::Known);
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
