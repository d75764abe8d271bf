//! Running a routine: its steps in order.

use crate::step::{SqlRequest, Step};
use crate::{EndpointError, Sql};
use futures::FutureExt;
use futures::future::BoxFuture;
use operators::{Scope, evaluate, is_truthy};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// How many steps of a routine may run; one that is reached again counts again.
const MAX_STEPS: u32 = 1_000;

/// What a routine runs with.
pub(crate) struct Surroundings<'a> {
    /// For the log.
    pub(crate) endpoint_id: &'a str,
    /// `_payload`
    pub(crate) payload: &'a Value,
    /// `_user`
    pub(crate) user: &'a Value,
    /// By id.
    pub(crate) connections: &'a HashMap<String, Sql>,
}

/// Runs the steps; the result is what `:return` says, else `null`.
pub(crate) async fn run(steps: &[Step], around: Surroundings<'_>) -> Result<Value, EndpointError> {
    let empty = || Value::Object(Map::new());
    let mut routine = Routine { around, results: empty(), state: empty(), done: 0 };
    Ok(routine.steps(steps).await?.unwrap_or(Value::Null))
}

struct Routine<'a> {
    around: Surroundings<'a>,
    /// `_step`: results by step id.
    results: Value,
    /// `_state`: what `:set_state` has set.
    state: Value,
    /// Steps that have run.
    done: u32,
}

impl Routine<'_> {
    /// Runs steps until one returns. Boxed, since steps hold steps.
    fn steps<'b>(&'b mut self, steps: &'b [Step]) -> BoxFuture<'b, Result<Option<Value>, EndpointError>> {
        async move {
            for step in steps {
                if self.done == MAX_STEPS {
                    return Err(EndpointError::TooManySteps(MAX_STEPS));
                }
                self.done += 1;
                if let Some(returned) = self.step(step).await? {
                    return Ok(Some(returned));
                }
            }
            Ok(None)
        }
        .boxed()
    }

    async fn step(&mut self, step: &Step) -> Result<Option<Value>, EndpointError> {
        match step {
            Step::Sql(request) => self.request(request).await?,
            Step::Return(value) => return Ok(Some(self.evaluate(":return", value)?)),
            Step::If { test, then, otherwise } => {
                let is_so = is_truthy(&self.evaluate(":if", test)?);
                return self.steps(if is_so { then } else { otherwise }).await;
            }
            Step::SetState(values) => self.set_state(values)?,
            Step::Log(message) => {
                let message = text(self.evaluate(":log", message)?);
                tracing::info!(target: "chatwright", endpoint = self.around.endpoint_id, message, "a routine logs");
            }
            Step::Reject(message) => return Err(EndpointError::Rejected(text(self.evaluate(":reject", message)?))),
            Step::Throw(message) => return Err(EndpointError::Thrown(text(self.evaluate(":throw", message)?))),
        }
        Ok(None)
    }

    /// All values are evaluated before any is set, so that two can change places.
    fn set_state(&mut self, values: &Map<String, Value>) -> Result<(), EndpointError> {
        let values = values.iter().map(|(key, value)| Ok((key.clone(), self.evaluate(":set_state", value)?)));
        let values = values.collect::<Result<Vec<_>, EndpointError>>()?;
        insert(&mut self.state, values);
        Ok(())
    }

    async fn request(&mut self, request: &SqlRequest) -> Result<(), EndpointError> {
        let SqlRequest { id, connection_id, access, statement, parameters } = request;
        let failed = |message| EndpointError::Step { step: id.clone(), message };
        let connection = self.around.connections.get(connection_id);
        let connection = connection.ok_or_else(|| failed("its connection is not there".to_owned()))?;
        let Value::Object(parameters) = self.evaluate(id, parameters)? else {
            return Err(failed("its parameters are no mapping".to_owned()));
        };
        let result = connection.run(statement, *access, &parameters).await.map_err(failed)?;
        insert(&mut self.results, [(id.clone(), result)]);
        Ok(())
    }

    fn evaluate(&self, step: &str, value: &Value) -> Result<Value, EndpointError> {
        let scope = Scope {
            state: Some(&self.state),
            user: Some(self.around.user),
            payload: Some(self.around.payload),
            step: Some(&self.results),
            ..Scope::default()
        };
        evaluate(value, &scope)
            .map_err(|error| EndpointError::Step { step: step.to_owned(), message: error.to_string() })
    }
}

/// A text as it is, anything else as JSON.
fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn insert(into: &mut Value, values: impl IntoIterator<Item = (String, Value)>) {
    if let Value::Object(into) = into {
        into.extend(values);
    }
}
