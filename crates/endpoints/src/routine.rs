//! Running a routine: steps in order, requests to connections and controls.

use crate::{EndpointError, Sql};
use futures::FutureExt;
use futures::future::BoxFuture;
use operators::{Scope, evaluate, is_truthy};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Steps of one routine, each time round counted.
const MAX_STEPS: u32 = 1_000;

/// Runs the steps; the result is what `:return` says, else `null`.
pub(crate) async fn run(
    steps: &[Value],
    payload: &Value,
    user: &Value,
    connections: &HashMap<String, Sql>,
) -> Result<Value, EndpointError> {
    let mut routine =
        Routine { payload, user, connections, results: Value::Object(Map::new()), state: Map::new(), steps: 0 };
    Ok(routine.steps(steps).await?.unwrap_or(Value::Null))
}

struct Routine<'a> {
    payload: &'a Value,
    user: &'a Value,
    connections: &'a HashMap<String, Sql>,
    /// `_step`: results by step id.
    results: Value,
    /// `_state`: what `:set_state` has set.
    state: Map<String, Value>,
    steps: u32,
}

impl Routine<'_> {
    /// Runs steps until one returns.
    fn steps<'b>(&'b mut self, steps: &'b [Value]) -> BoxFuture<'b, Result<Option<Value>, EndpointError>> {
        async move {
            for step in steps {
                self.steps += 1;
                if self.steps > MAX_STEPS {
                    return Err(EndpointError::Limit(format!("{MAX_STEPS} steps")));
                }
                if let Some(returned) = self.step(step).await? {
                    return Ok(Some(returned));
                }
            }
            Ok(None)
        }
        .boxed()
    }

    async fn step(&mut self, step: &Value) -> Result<Option<Value>, EndpointError> {
        if let Some(value) = step.get(":return") {
            return Ok(Some(self.evaluate(":return", value)?));
        }
        if let Some(test) = step.get(":if") {
            let branch = if is_truthy(&self.evaluate(":if", test)?) { ":then" } else { ":else" };
            return match step.get(branch) {
                Some(Value::Array(steps)) => self.steps(steps).await,
                Some(single) => self.steps(std::slice::from_ref(single)).await,
                None => Ok(None),
            };
        }
        for control in [":throw", ":reject"] {
            if let Some(message) = step.get(control) {
                let message = self.evaluate(control, message)?;
                return Err(EndpointError::Rejected(
                    message.as_str().map_or_else(|| message.to_string(), str::to_owned),
                ));
            }
        }
        if let Some(values) = step.get(":set_state") {
            if let Value::Object(values) = self.evaluate(":set_state", values)? {
                self.state.extend(values);
            }
            return Ok(None);
        }
        if let Some(message) = step.get(":log") {
            tracing::info!(target: "chatwright", message = %self.evaluate(":log", message)?, "a routine logs");
            return Ok(None);
        }
        self.request(step).await.map(|()| None)
    }

    async fn request(&mut self, step: &Value) -> Result<(), EndpointError> {
        let text = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = text("id");
        let failed = |message: String| EndpointError::Step { step: id.clone(), message };
        let connection = self
            .connections
            .get(&text("connectionId"))
            .ok_or_else(|| failed("its connection is not there".to_owned()))?;
        let properties = self.evaluate(&id, step.get("properties").unwrap_or(&Value::Null))?;
        let query =
            properties.get("query").and_then(Value::as_str).ok_or_else(|| failed("it has no query".to_owned()))?;
        let parameters = properties.get("parameters").and_then(Value::as_object).cloned().unwrap_or_default();
        let result = match text("type").as_str() {
            "SqlQuery" => connection.query(query, &parameters).await,
            "SqlExecute" => connection.execute(query, &parameters).await,
            unknown => return Err(failed(format!("there is no request type `{unknown}`"))),
        };
        let result = result.map_err(failed)?;
        if let Value::Object(results) = &mut self.results {
            results.insert(id, result);
        }
        Ok(())
    }

    fn evaluate(&self, step: &str, value: &Value) -> Result<Value, EndpointError> {
        let state = Value::Object(self.state.clone());
        let scope = Scope {
            state: Some(&state),
            user: Some(self.user),
            payload: Some(self.payload),
            step: Some(&self.results),
            ..Scope::default()
        };
        evaluate(value, &scope)
            .map_err(|error| EndpointError::Step { step: step.to_owned(), message: error.to_string() })
    }
}
