//! Running a routine: its steps in order.

use crate::endpoint::Endpoints;
use crate::step::{CallRequest, Request, Step, What};
use crate::text::TextQuestion;
use crate::{Connection, EndpointError, Facts, Gate, Secrets};
use contract::ModelUse;
use futures::FutureExt;
use futures::future::{BoxFuture, try_join_all};
use operators::{Evaluator, Language, Scope, evaluate_encoded, is_truthy};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many steps may run for one call, those of endpoints that it calls included; one that is reached again counts again.
const MAX_STEPS: u32 = 1_000;

/// How deep endpoints may call each other.
const MAX_DEPTH: u32 = 8;

/// What one call has done so far, over all routines that run for it.
#[derive(Default)]
pub(crate) struct Budget(AtomicU32);

impl Budget {
    fn spend(&self) -> Result<(), EndpointError> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            ..MAX_STEPS => Ok(()),
            _ => Err(EndpointError::TooManySteps(MAX_STEPS)),
        }
    }
}

/// What a routine runs with.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    /// For calls of other endpoints.
    pub(crate) endpoints: &'a Endpoints,
    /// What the caller may call.
    pub(crate) gate: &'a dyn Gate,
    /// By id.
    pub(crate) connections: &'a HashMap<String, Connection>,
    /// For the log.
    pub(crate) endpoint_id: &'a str,
    /// `_payload`
    pub(crate) payload: &'a Arc<Value>,
    /// `_user`
    pub(crate) user: &'a Arc<Value>,
    /// Counts the requests to models.
    pub(crate) models: &'a ModelUse,
    pub(crate) budget: &'a Budget,
    /// How many endpoints wait for this one.
    pub(crate) depth: u32,
}

/// Runs the steps; the result is what `:return` says, else `null`.
pub(crate) async fn run(steps: &[Step], around: Surroundings<'_>) -> Result<Value, EndpointError> {
    let mut routine = Routine { around, memory: Memory::default() };
    Ok(routine.steps(steps).await?.unwrap_or(Value::Null))
}

/// A routine, or a branch of one that runs beside others.
struct Routine<'a> {
    around: Surroundings<'a>,
    memory: Memory,
}

/// What operators read of the steps before.
#[derive(Clone)]
struct Memory {
    /// `_step`: results by step id.
    results: Arc<Value>,
    /// `_state`: what `:set_state` has set.
    state: Arc<Value>,
    /// `_item`: the items of the loops around, by the names that they have there.
    items: Arc<Value>,
    /// `_error`: why a `:try` failed, in its `:catch`.
    error: Option<Arc<Value>>,
}

impl Default for Memory {
    fn default() -> Self {
        let empty = || Arc::new(Value::Object(Map::new()));
        Self { results: empty(), state: empty(), items: empty(), error: None }
    }
}

/// The steps ended, with a result if one of them returned.
type Ended = Result<Option<Value>, EndpointError>;

impl<'a> Routine<'a> {
    /// Runs steps until one returns. Boxed, since steps hold steps.
    fn steps<'b>(&'b mut self, steps: &'b [Step]) -> BoxFuture<'b, Ended> {
        async move {
            for step in steps {
                self.around.budget.spend()?;
                // Steps that wait for nothing would otherwise run to their end, whatever became of the caller and the time.
                tokio::task::yield_now().await;
                if let Some(returned) = self.step(step).await? {
                    return Ok(Some(returned));
                }
            }
            Ok(None)
        }
        .boxed()
    }

    async fn step(&mut self, step: &Step) -> Ended {
        match step {
            Step::Request(request) => self.request(request).await?,
            Step::Call(request) => self.call(request).await?,
            Step::Return(value) => return Ok(Some(self.evaluate(":return", value).await?)),
            Step::Choose { control, cases, otherwise } => return self.choose(control, cases, otherwise).await,
            Step::For { item, list, body } => return self.each(item, list, body).await,
            Step::Parallel(branches) => return self.parallel(branches).await,
            Step::Try { body, catch, finally } => return self.attempt(body, catch.as_deref(), finally).await,
            Step::SetState(values) => self.set_state(values).await?,
            Step::Log(message) => {
                let message = text(self.evaluate(":log", message).await?);
                tracing::info!(target: "chatwright", endpoint = self.around.endpoint_id, message, "a routine logs");
            }
            Step::Reject(message) => {
                return Err(EndpointError::Rejected(text(self.evaluate(":reject", message).await?)));
            }
            Step::Throw(message) => {
                return Err(EndpointError::Thrown(text(self.evaluate(":throw", message).await?)));
            }
        }
        Ok(None)
    }

    /// The steps of the first case that holds.
    async fn choose(&mut self, control: &str, cases: &[(Value, Vec<Step>)], otherwise: &[Step]) -> Ended {
        for (test, steps) in cases {
            if is_truthy(&self.evaluate(control, test).await?) {
                return self.steps(steps).await;
            }
        }
        self.steps(otherwise).await
    }

    /// The steps for each item, one item after the other.
    async fn each(&mut self, name: &str, list: &Value, body: &[Step]) -> Ended {
        let Value::Array(items) = self.evaluate(":in", list).await? else {
            return Err(EndpointError::Step { step: ":for".to_owned(), message: "`:in` gives no list".to_owned() });
        };
        let outer = self.memory.items.get(name).cloned();
        for item in items {
            // A loop without steps must end, too.
            self.around.budget.spend()?;
            insert(&mut self.memory.items, [(name.to_owned(), item)]);
            if let Some(returned) = self.steps(body).await? {
                return Ok(Some(returned));
            }
        }
        insert(&mut self.memory.items, [(name.to_owned(), outer.unwrap_or_default())]);
        Ok(None)
    }

    /// All branches at once, each with what is known so far; afterwards what they have found out is known together. The first
    /// that fails ends the others.
    async fn parallel(&mut self, branches: &[Vec<Step>]) -> Ended {
        let (around, memory) = (self.around, &self.memory);
        let runs = branches.iter().map(|steps| async move {
            let mut branch = Routine { around, memory: memory.clone() };
            let returned = branch.steps(steps).await?;
            Ok::<_, EndpointError>((branch.memory, returned))
        });
        let ended = try_join_all(runs).await?;
        let before = self.memory.clone();
        for (after, _) in &ended {
            insert(&mut self.memory.results, news(&before.results, &after.results));
            insert(&mut self.memory.state, news(&before.state, &after.state));
        }
        Ok(ended.into_iter().find_map(|(_, returned)| returned))
    }

    /// `:finally` has the last word, whatever happened before it. What the caller did wrong, and limits, are not caught.
    async fn attempt(&mut self, body: &[Step], catch: Option<&[Step]>, finally: &[Step]) -> Ended {
        let mut ended = self.steps(body).await;
        if let (Err(EndpointError::Step { .. } | EndpointError::Thrown(_)), Some(catch)) = (&ended, catch) {
            let outer = self.memory.error.take();
            self.memory.error = ended.as_ref().err().map(description).map(Arc::new);
            ended = self.steps(catch).await;
            self.memory.error = outer;
        }
        match self.steps(finally).await? {
            Some(returned) => Ok(Some(returned)),
            None => ended,
        }
    }

    /// All values are evaluated before any is set, so that two can change places.
    async fn set_state(&mut self, values: &Map<String, Value>) -> Result<(), EndpointError> {
        let mut evaluated = Vec::new();
        for (key, value) in values {
            evaluated.push((key.clone(), self.evaluate(":set_state", value).await?));
        }
        insert(&mut self.memory.state, evaluated);
        Ok(())
    }

    async fn request(&mut self, request: &Request) -> Result<(), EndpointError> {
        let Request { id, connection_id, what, properties } = request;
        let failed = |message| EndpointError::Step { step: id.clone(), message };
        let connection = self.around.connections.get(connection_id);
        let connection = connection.ok_or_else(|| failed("its connection is not there".to_owned()))?;
        let secrets = &self.around.endpoints.secrets;
        // A model could be talked into telling what it was told.
        let known = (!matches!(what, What::Text)).then(|| secrets.clone());
        let evaluated = match (what, properties) {
            (What::Http(_), Value::Object(properties)) => self.evaluate_http(id, properties, known).await?,
            _ => self.evaluate_with(id, properties, known, None).await?,
        };
        let result = ask(connection, what, evaluated, self.around.models)
            .await
            .map_err(|error| failed(secrets.hide_in(error)))?;
        insert(&mut self.memory.results, [(id.clone(), secrets.hide(result))]);
        Ok(())
    }

    async fn call(&mut self, request: &CallRequest) -> Result<(), EndpointError> {
        let CallRequest { id, endpoint_id, payload } = request;
        let failed = |message| EndpointError::Step { step: id.clone(), message };
        if self.around.depth == MAX_DEPTH {
            return Err(failed(format!("endpoints call each other more than {MAX_DEPTH} deep")));
        }
        let payload = Arc::new(self.evaluate(id, payload).await?);
        let result = self.around.endpoints.call_inside(endpoint_id, &payload, self.around).await;
        let result = result.map_err(|error| match error {
            // This routine did something wrong, not its caller.
            EndpointError::Payload { .. } | EndpointError::NotFound => failed(error.to_string()),
            error => error,
        })?;
        insert(&mut self.memory.results, [(id.clone(), result)]);
        Ok(())
    }

    async fn evaluate(&self, step: &str, value: &Value) -> Result<Value, EndpointError> {
        self.evaluate_with(step, value, None, None).await
    }

    /// What a request to a web service says. A value in a template of its path is one step of the path, whatever it holds.
    async fn evaluate_http(
        &self,
        step: &str,
        properties: &Map<String, Value>,
        secrets: Option<Secrets>,
    ) -> Result<Value, EndpointError> {
        let mut evaluated = Map::new();
        for (key, value) in properties {
            let evaluator: Option<Evaluator> = if key == "path" { Some(evaluate_path) } else { None };
            let value = self.evaluate_with(step, value, secrets.clone(), evaluator).await?;
            evaluated.insert(key.clone(), value);
        }
        Ok(Value::Object(evaluated))
    }

    async fn evaluate_with(
        &self,
        step: &str,
        value: &Value,
        secrets: Option<Secrets>,
        evaluator: Option<Evaluator>,
    ) -> Result<Value, EndpointError> {
        let facts = Facts {
            secrets,
            evaluator,
            state: Some(self.memory.state.clone()),
            user: Some(self.around.user.clone()),
            payload: Some(self.around.payload.clone()),
            step: Some(self.memory.results.clone()),
            item: Some(self.memory.items.clone()),
            error: self.memory.error.clone(),
        };
        let evaluated = facts.evaluate(value).await;
        evaluated.map_err(|error| EndpointError::Step { step: step.to_owned(), message: error.to_string() })
    }
}

/// Evaluates the text of a path.
fn evaluate_path(language: Language, source: &str, scope: &Scope<'_>) -> Result<Value, String> {
    evaluate_encoded(language, source, scope, |value| egress::segment(value).map_err(|error| error.to_string()))
}

/// What a connection answers.
async fn ask(connection: &Connection, what: &What, properties: Value, counted: &ModelUse) -> Result<Value, String> {
    match (connection, what) {
        (Connection::Sql(database), What::Sql(access, statement)) => match properties {
            Value::Object(parameters) => database.run(statement, *access, &parameters).await,
            _ => Err("its parameters are no mapping".to_owned()),
        },
        (Connection::Http(service), What::Http(method)) => service.run(method, properties).await,
        (Connection::Models(models), What::Text) => {
            models.generate(TextQuestion::read(properties)?, counted.clone()).await
        }
        _ => Err("its connection is of another type".to_owned()),
    }
}

/// An error as `:catch` sees it.
fn description(error: &EndpointError) -> Value {
    match error {
        EndpointError::Step { step, message } => json!({ "message": message, "step": step }),
        other => json!({ "message": other.to_string() }),
    }
}

/// A text as it is, anything else as JSON.
fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn insert(into: &mut Arc<Value>, values: impl IntoIterator<Item = (String, Value)>) {
    // Copied only if an evaluation that was left still reads it.
    if let Value::Object(into) = Arc::make_mut(into) {
        into.extend(values);
    }
}

/// The fields that are new or other ones.
fn news<'v>(before: &'v Value, after: &'v Value) -> impl Iterator<Item = (String, Value)> + 'v {
    let fields = after.as_object().into_iter().flatten();
    fields
        .filter(|(key, value)| before.get(key.as_str()) != Some(value))
        .map(|(key, value)| (key.clone(), value.clone()))
}
