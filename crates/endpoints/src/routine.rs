//! Runs the steps of a routine in order.

mod path;

use crate::endpoint::Endpoints;
use crate::request_keys::RequestKeys;
use crate::step::{CallStep, RequestKind, RequestStep, RoutineStep};
use crate::text_models::GenerateRequest;
use crate::user_tokens::{NoUserToken, RequestFailure};
use crate::{Connection, EndpointError, EndpointGate, OwnedScope, Secrets};
use contract::{CallReports, ModelUse, RunScope};
use futures::FutureExt;
use futures::future::{BoxFuture, try_join_all};
use operators::{Evaluator, is_truthy};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The maximum number of steps of one call, including the endpoints that it calls. A step that runs
/// again counts again.
const MAX_STEPS: u32 = 1_000;

/// The maximum depth of endpoints that call each other.
const MAX_DEPTH: u32 = 8;

/// The maximum number of `:status` steps of one call that have an effect; later ones are ignored.
const MAX_STATUSES: u32 = 100;

/// The maximum length of a status in characters; a longer one is cut.
const MAX_STATUS: usize = 300;

/// The number of steps that one call has run so far, over all its routines.
#[derive(Default)]
pub(crate) struct StepBudget {
    steps: AtomicU32,
    statuses: AtomicU32,
}

impl StepBudget {
    fn count_step(&self) -> Result<(), EndpointError> {
        match self.steps.fetch_add(1, Ordering::Relaxed) {
            ..MAX_STEPS => Ok(()),
            _ => Err(EndpointError::TooManySteps(MAX_STEPS)),
        }
    }

    fn allows_status(&self) -> bool {
        self.statuses.fetch_add(1, Ordering::Relaxed) < MAX_STATUSES
    }
}

/// The context of a routine.
#[derive(Clone, Copy)]
pub(crate) struct RoutineContext<'a> {
    /// For calls of other endpoints.
    pub(crate) endpoints: &'a Endpoints,
    /// Checks which endpoints the caller may call.
    pub(crate) gate: &'a dyn EndpointGate,
    /// The connections by id.
    pub(crate) connections: &'a HashMap<String, Connection>,
    /// For the log.
    pub(crate) endpoint_id: &'a str,
    /// `_payload`
    pub(crate) payload: &'a Arc<Value>,
    /// `_user`
    pub(crate) user: &'a Arc<Value>,
    /// `_agent`
    pub(crate) agent: Option<&'a Arc<Value>>,
    /// The user on whose behalf web services are called.
    pub(crate) scope: &'a RunScope,
    /// Counts the model requests.
    pub(crate) models: &'a ModelUse,
    /// Shows `:status` to the user.
    pub(crate) reports: &'a CallReports,
    /// The keys of requests, if the call has one.
    pub(crate) keys: Option<&'a RequestKeys>,
    pub(crate) budget: &'a StepBudget,
    /// The number of endpoints that wait for this one.
    pub(crate) depth: u32,
}

/// Runs the steps and returns the value of `:return`, otherwise `null`.
pub(crate) async fn run(steps: &[RoutineStep], context: RoutineContext<'_>) -> Result<Value, EndpointError> {
    let mut routine = Routine { context, variables: RoutineVariables::default() };
    Ok(routine.run_steps(steps).await?.unwrap_or(Value::Null))
}

/// A routine, or one of its parallel branches.
struct Routine<'a> {
    context: RoutineContext<'a>,
    variables: RoutineVariables,
}

/// The values of earlier steps, which operators read.
#[derive(Clone)]
struct RoutineVariables {
    /// `_step`: results by step id.
    results: Arc<Value>,
    /// `_state`: the values that `:set_state` has set.
    state: Arc<Value>,
    /// `_item`: the items of the enclosing loops, by name.
    items: Arc<Value>,
    /// `_error`: the error of the `:try`, within its `:catch`.
    error: Option<Arc<Value>>,
}

impl Default for RoutineVariables {
    fn default() -> Self {
        let empty = || Arc::new(Value::Object(Map::new()));
        Self { results: empty(), state: empty(), items: empty(), error: None }
    }
}

/// The result of steps: the value of `:return`, if one of them returned.
type StepsResult = Result<Option<Value>, EndpointError>;

impl<'a> Routine<'a> {
    /// Runs steps until one returns. Boxed because steps contain steps.
    fn run_steps<'b>(&'b mut self, steps: &'b [RoutineStep]) -> BoxFuture<'b, StepsResult> {
        async move {
            for step in steps {
                self.context.budget.count_step()?;
                // Without it, steps that never wait could not be cancelled and would ignore the
                // time limit.
                tokio::task::yield_now().await;
                let ran = self.run_step(step).await;
                if let Some(returned) = ran.map_err(|error| error.located(|| self.position(step)))? {
                    return Ok(Some(returned));
                }
            }
            Ok(None)
        }
        .boxed()
    }

    /// Returns the position of a step in the config; that of the endpoint for a control.
    fn position(&self, step: &RoutineStep) -> Option<String> {
        let id = match step {
            RoutineStep::Request(request) => Some(&request.id),
            RoutineStep::Call(call) => Some(&call.id),
            _ => None,
        };
        self.context.endpoints.position(self.context.endpoint_id, id.map(String::as_str))
    }

    async fn run_step(&mut self, step: &RoutineStep) -> StepsResult {
        match step {
            RoutineStep::Request(request) => self.run_request(request).await?,
            RoutineStep::Call(request) => self.run_call(request).await?,
            RoutineStep::Return(value) => return Ok(Some(self.evaluate(":return", value).await?)),
            RoutineStep::Choose { control, cases, otherwise } => {
                return self.run_choice(control, cases, otherwise).await;
            }
            RoutineStep::For { item, list, body } => return self.run_for(item, list, body).await,
            RoutineStep::Parallel(branches) => return self.run_parallel(branches).await,
            RoutineStep::Try { body, catch, finally } => return self.run_try(body, catch.as_deref(), finally).await,
            RoutineStep::SetState(values) => self.set_state(values).await?,
            RoutineStep::Log(message) => {
                let message = into_text(self.evaluate(":log", message).await?);
                tracing::info!(target: "chatwright", endpoint = self.context.endpoint_id, message, "a routine logged a message");
            }
            RoutineStep::Status(text) => {
                let text = into_text(self.evaluate(":status", text).await?);
                if self.context.budget.allows_status() {
                    let text: String = text.chars().take(MAX_STATUS).collect();
                    self.context.reports.status(&text).await;
                }
            }
            RoutineStep::Reject(message) => {
                return Err(EndpointError::Rejected(into_text(self.evaluate(":reject", message).await?)));
            }
            RoutineStep::Throw(message) => {
                return Err(EndpointError::Thrown(into_text(self.evaluate(":throw", message).await?)));
            }
        }
        Ok(None)
    }

    /// Runs the steps of the first case whose test is true.
    async fn run_choice(
        &mut self,
        control: &str,
        cases: &[(Value, Vec<RoutineStep>)],
        otherwise: &[RoutineStep],
    ) -> StepsResult {
        for (test, steps) in cases {
            if is_truthy(&self.evaluate(control, test).await?) {
                return self.run_steps(steps).await;
            }
        }
        self.run_steps(otherwise).await
    }

    /// Runs the steps for each item, one after the other.
    async fn run_for(&mut self, name: &str, list: &Value, body: &[RoutineStep]) -> StepsResult {
        let Value::Array(items) = self.evaluate(":in", list).await? else {
            return Err(EndpointError::step(":for", "`:in` is not a list"));
        };
        let outer = self.variables.items.get(name).cloned();
        for item in items {
            // Also counted if the body is empty, so that an empty loop ends.
            self.context.budget.count_step()?;
            insert(&mut self.variables.items, [(name.to_owned(), item)]);
            if let Some(returned) = self.run_steps(body).await? {
                return Ok(Some(returned));
            }
        }
        insert(&mut self.variables.items, [(name.to_owned(), outer.unwrap_or_default())]);
        Ok(None)
    }

    /// Runs all branches concurrently, each with a copy of the values so far, and merges their new
    /// values. The first error cancels the other branches.
    async fn run_parallel(&mut self, branches: &[Vec<RoutineStep>]) -> StepsResult {
        let (context, variables) = (self.context, &self.variables);
        let runs = branches.iter().map(|steps| async move {
            let mut branch = Routine { context, variables: variables.clone() };
            let returned = branch.run_steps(steps).await?;
            Ok::<_, EndpointError>((branch.variables, returned))
        });
        let ended = try_join_all(runs).await?;
        let before = self.variables.clone();
        for (after, _) in &ended {
            insert(&mut self.variables.results, changed_fields(&before.results, &after.results));
            insert(&mut self.variables.state, changed_fields(&before.state, &after.state));
        }
        Ok(ended.into_iter().find_map(|(_, returned)| returned))
    }

    /// Runs `:try`. The steps of `:finally` run in any case, and a value that they return is the
    /// result. Errors of the caller and exceeded limits are not caught.
    async fn run_try(
        &mut self,
        body: &[RoutineStep],
        catch: Option<&[RoutineStep]>,
        finally: &[RoutineStep],
    ) -> StepsResult {
        let mut ended = self.run_steps(body).await;
        if let (Err(EndpointError::Step { .. } | EndpointError::Thrown(_)), Some(catch)) = (&ended, catch) {
            let outer = self.variables.error.take();
            self.variables.error = ended.as_ref().err().map(error_value).map(Arc::new);
            ended = self.run_steps(catch).await;
            self.variables.error = outer;
        }
        match self.run_steps(finally).await? {
            Some(returned) => Ok(Some(returned)),
            None => ended,
        }
    }

    /// Sets state values. All are evaluated before any is set, so that two keys can be swapped.
    async fn set_state(&mut self, values: &Map<String, Value>) -> Result<(), EndpointError> {
        let mut evaluated = Vec::new();
        for (key, value) in values {
            evaluated.push((key.clone(), self.evaluate(":set_state", value).await?));
        }
        insert(&mut self.variables.state, evaluated);
        Ok(())
    }

    async fn run_request(&mut self, request: &RequestStep) -> Result<(), EndpointError> {
        let RequestStep { id, connection_id, kind, properties } = request;
        let failed = |message: String| EndpointError::step(id, message);
        let connection = self.context.connections.get(connection_id);
        let connection = connection.ok_or_else(|| failed("its connection does not exist".to_owned()))?;
        let secrets = &self.context.endpoints.secrets;
        // A prompt injection could make a model reveal a secret.
        let known = (!matches!(kind, RequestKind::Text)).then(|| secrets.clone());
        let evaluated = match (kind, properties) {
            (RequestKind::Http(_), Value::Object(properties)) => self.evaluate_http(id, properties, known).await?,
            _ => self.evaluate_with(id, properties, known, None).await?,
        };
        let evaluated = match (kind, self.context.keys) {
            (RequestKind::Http(method), Some(keys)) if !method.is_safe() => {
                keys.add(evaluated, &format!("{}/{id}", self.context.endpoint_id))
            }
            _ => evaluated,
        };
        let result =
            send_request(connection, kind, evaluated, self.context).await.map_err(|failure| match failure {
                RequestFailure::NoToken(NoUserToken { message, for_user: Some(for_user) }) => {
                    EndpointError::NoUserToken { message, for_user }
                }
                RequestFailure::NoToken(NoUserToken { message, for_user: None }) | RequestFailure::Failed(message) => {
                    failed(secrets.redact_text(message))
                }
            })?;
        insert(&mut self.variables.results, [(id.clone(), secrets.redact(result))]);
        Ok(())
    }

    async fn run_call(&mut self, request: &CallStep) -> Result<(), EndpointError> {
        let CallStep { id, endpoint_id, payload } = request;
        let failed = |message: String| EndpointError::step(id, message);
        if self.context.depth == MAX_DEPTH {
            return Err(failed(format!("endpoints call each other more than {MAX_DEPTH} levels deep")));
        }
        let payload = Arc::new(self.evaluate(id, payload).await?);
        let result = self.context.endpoints.call_nested(endpoint_id, &payload, self.context).await;
        let result = result.map_err(|error| match error {
            // An error of this routine, not of its caller.
            EndpointError::Payload { .. } | EndpointError::NotFound => failed(error.to_string()),
            error => error,
        })?;
        insert(&mut self.variables.results, [(id.clone(), result)]);
        Ok(())
    }

    async fn evaluate(&self, step: &str, value: &Value) -> Result<Value, EndpointError> {
        self.evaluate_with(step, value, None, None).await
    }

    async fn evaluate_with(
        &self,
        step: &str,
        value: &Value,
        secrets: Option<Secrets>,
        evaluator: Option<Evaluator>,
    ) -> Result<Value, EndpointError> {
        let facts = OwnedScope {
            secrets,
            evaluator,
            state: Some(self.variables.state.clone()),
            user: Some(self.context.user.clone()),
            payload: Some(self.context.payload.clone()),
            step: Some(self.variables.results.clone()),
            item: Some(self.variables.items.clone()),
            error: self.variables.error.clone(),
            agent: self.context.agent.cloned(),
            operators: self.context.endpoints.operators.clone(),
            ambient: None,
        };
        let evaluated = facts.evaluate(value).await;
        evaluated.map_err(|error| EndpointError::step(step, error.to_string()))
    }
}

/// Sends a request to a connection and returns its response.
async fn send_request(
    connection: &Connection,
    kind: &RequestKind,
    properties: Value,
    context: RoutineContext<'_>,
) -> Result<Value, RequestFailure> {
    match (connection, kind) {
        (Connection::Sql(database), RequestKind::Sql(access, statement)) => match properties {
            Value::Object(parameters) => Ok(database.run(statement, *access, &parameters).await?),
            _ => Err("its parameters are not a mapping".to_owned().into()),
        },
        (Connection::Http(service), RequestKind::Http(method)) => service.send(method, properties, context.scope).await,
        (Connection::Models(models), RequestKind::Text) => {
            Ok(models.generate(GenerateRequest::from_properties(properties)?, context.models.clone()).await?)
        }
        _ => Err("its connection has another type".to_owned().into()),
    }
}

/// Returns the value of `_error` for an error.
fn error_value(error: &EndpointError) -> Value {
    match error {
        EndpointError::Step { step, message, .. } => json!({ "message": message, "step": step }),
        other => json!({ "message": other.to_string() }),
    }
}

/// Returns a string as it is, other values as JSON.
fn into_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn insert(into: &mut Arc<Value>, values: impl IntoIterator<Item = (String, Value)>) {
    // Copied only if an abandoned evaluation still reads the values.
    if let Value::Object(into) = Arc::make_mut(into) {
        into.extend(values);
    }
}

/// Returns the fields that are new or changed.
fn changed_fields<'v>(before: &'v Value, after: &'v Value) -> impl Iterator<Item = (String, Value)> + 'v {
    let fields = after.as_object().into_iter().flatten();
    fields
        .filter(|(key, value)| before.get(key.as_str()) != Some(value))
        .map(|(key, value)| (key.clone(), value.clone()))
}
