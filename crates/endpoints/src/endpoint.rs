//! Looks up endpoints by id and calls them.

use crate::request_keys::RequestKeys;
use crate::routine::{self, RoutineContext, StepBudget};
use crate::step::{DialectLookup, RoutineStep};
use crate::{Connection, EndpointError, EndpointGate, EndpointTool, Secrets};
use contract::{ApprovalTerms, CallReports, ModelUse, ToolSpec};
use dialect::Dialect;
use futures::FutureExt;
use futures::future::BoxFuture;
use operators::Operators;
use schemas::{CheckError, Schema};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The maximum length in characters of the explanation why a payload is invalid; it quotes the
/// payload.
const MAX_EXPLANATION: usize = 300;

/// An endpoint of the config.
#[derive(Clone, Debug, Default)]
pub struct Endpoint {
    /// The id.
    pub id: String,
    /// The description for a model.
    pub description: Option<String>,
    /// The JSON Schema of the payload.
    pub payload_schema: Option<Value>,
    /// The steps, with operators not evaluated.
    pub routine: Vec<Value>,
    /// Where the endpoint stands in the config, for the log.
    pub at: String,
    /// Where its steps stand, by their ids.
    pub step_positions: HashMap<String, String>,
}

/// The caller of an endpoint.
#[derive(Clone)]
pub struct CallContext {
    /// The caller's id. The gate provides what `_user` reads for it.
    pub user_id: String,
    /// Checks which endpoints the caller may call.
    pub gate: Arc<dyn EndpointGate>,
    /// The agent that calls the endpoint, as a tool or a hook; `None` for other callers.
    pub agent: Option<CallingAgent>,
    /// Counts the model requests that the routine makes.
    pub models: ModelUse,
    /// A key that is the same whenever the same call is made again. Requests to web services that may
    /// change something carry a header `Idempotency-Key` that is made of it.
    pub idempotency_key: Option<String>,
    /// Cancels the call.
    pub cancel: CancellationToken,
    /// Shows the user what the routine says with `:status`. Nobody sees it unless an agent called
    /// the endpoint.
    pub reports: CallReports,
}

/// The agent that calls an endpoint, which `_agent` reads. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct CallingAgent(Arc<Value>);

impl CallingAgent {
    /// An agent and its conversation, which is empty outside of conversations.
    pub fn new(id: &str, conversation_id: &str) -> Self {
        let conversation_id = (!conversation_id.is_empty()).then_some(conversation_id);
        Self(Arc::new(json!({ "id": id, "conversationId": conversation_id })))
    }
}

/// All endpoints and their connections.
pub struct Endpoints {
    endpoints: HashMap<String, CompiledEndpoint>,
    connections: HashMap<String, Connection>,
    pub(crate) secrets: Secrets,
    pub(crate) operators: Option<Arc<Operators>>,
    timeout: Duration,
}

/// A parsed endpoint with its compiled schema.
struct CompiledEndpoint {
    endpoint: Endpoint,
    schema: Option<Schema>,
    steps: Vec<RoutineStep>,
}

impl CompiledEndpoint {
    fn new(endpoint: Endpoint, dialects: DialectLookup<'_>) -> Result<Self, String> {
        let schema = endpoint.payload_schema.as_ref().map(Schema::new).transpose();
        let schema = schema.map_err(|error| format!("the payload schema of `{}`: {error}", endpoint.id))?;
        let steps = RoutineStep::parse_all(&endpoint.routine, dialects)
            .map_err(|error| format!("the routine of `{}`: {error}", endpoint.id))?;
        Ok(Self { endpoint, schema, steps })
    }

    async fn check(&self, payload: &Value) -> Result<(), EndpointError> {
        let Some(schema) = &self.schema else { return Ok(()) };
        let (path, mut message) = match schema.check(payload, 1).await {
            Ok(()) => return Ok(()),
            Err(CheckError::Faults(faults)) => {
                faults.into_iter().next().map(|fault| (fault.path, fault.message)).unwrap_or_default()
            }
            Err(misfit @ (CheckError::TooCostly | CheckError::PatternTooCostly | CheckError::Busy)) => {
                (String::new(), misfit.to_string())
            }
        };
        if let Some((cut, _)) = message.char_indices().nth(MAX_EXPLANATION) {
            message.truncate(cut);
            message.push('…');
        }
        Err(EndpointError::Payload { path: if path.is_empty() { "/".to_owned() } else { path }, message })
    }
}

impl Endpoints {
    /// Parses endpoints that use these connections, by id. `time` is the time limit of a routine.
    ///
    /// # Errors
    /// An invalid payload schema or step, with the endpoint's id.
    pub fn new(
        endpoints: Vec<Endpoint>,
        connections: HashMap<String, Connection>,
        time: Duration,
    ) -> Result<Self, String> {
        // A missing connection, or one of another type, is reported when the step runs.
        let dialects = |id: &str| match connections.get(id) {
            Some(Connection::Sql(database)) => database.dialect(),
            _ => Dialect::default(),
        };
        let compile = |endpoint: Endpoint| Ok((endpoint.id.clone(), CompiledEndpoint::new(endpoint, &dialects)?));
        let endpoints = endpoints.into_iter().map(compile).collect::<Result<_, String>>()?;
        Ok(Self { endpoints, connections, secrets: Secrets::default(), operators: None, timeout: time })
    }

    /// Sets the operators that routines may use; [`Operators::standard`] by default.
    #[must_use]
    pub fn with_operators(self, operators: Arc<Operators>) -> Self {
        Self { operators: Some(operators), ..self }
    }

    /// Sets the secrets that `_secret` reads in requests to databases and web services.
    #[must_use]
    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// Runs an endpoint. Dropping the future cancels the routine: the active statement is
    /// interrupted and rolled back; earlier statements stay committed.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub async fn call(&self, id: &str, payload: Value, context: &CallContext) -> Result<Value, EndpointError> {
        let ready = context.cancel.run_until_cancelled(self.resolve(id, &payload, &*context.gate)).await;
        let compiled = ready.ok_or(EndpointError::Cancelled)??;
        let keys = context.idempotency_key.as_deref().map(RequestKeys::new);
        let routine_context = RoutineContext {
            endpoints: self,
            gate: &*context.gate,
            connections: &self.connections,
            endpoint_id: id,
            payload: &Arc::new(payload),
            user: &Arc::new(context.gate.user(&context.user_id)),
            agent: context.agent.as_ref().map(|agent| &agent.0),
            scope: &context.gate.scope(&context.user_id),
            models: &context.models,
            reports: &context.reports,
            keys: keys.as_ref(),
            budget: &StepBudget::default(),
            depth: 0,
        };
        let routine = tokio::time::timeout(self.timeout, routine::run(&compiled.steps, routine_context));
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(EndpointError::Cancelled),
            ended = routine => ended.unwrap_or(Err(EndpointError::TooSlow(self.timeout))),
        }
    }

    /// Runs an endpoint for a step of another one: with the same user and rights, the same time
    /// limit, and the remaining steps.
    pub(crate) fn call_nested<'a>(
        &'a self,
        id: &'a str,
        payload: &'a Arc<Value>,
        caller: RoutineContext<'a>,
    ) -> BoxFuture<'a, Result<Value, EndpointError>> {
        let routine_context = RoutineContext { endpoint_id: id, payload, depth: caller.depth + 1, ..caller };
        async move { routine::run(&self.resolve(id, payload, caller.gate).await?.steps, routine_context).await }.boxed()
    }

    /// Returns where a step of an endpoint stands in the config; the endpoint itself without one.
    pub(crate) fn position(&self, id: &str, step: Option<&str>) -> Option<String> {
        let endpoint = &self.endpoints.get(id)?.endpoint;
        let step = step.and_then(|step| endpoint.step_positions.get(step));
        Some(step.unwrap_or(&endpoint.at).clone()).filter(|at| !at.is_empty())
    }

    /// Returns the endpoint, if the caller may call it and the payload is valid.
    async fn resolve(
        &self,
        id: &str,
        payload: &Value,
        gate: &dyn EndpointGate,
    ) -> Result<&CompiledEndpoint, EndpointError> {
        let compiled = self.endpoints.get(id).ok_or(EndpointError::NotFound)?;
        gate.check(id)?;
        compiled.check(payload).await?;
        Ok(compiled)
    }

    /// Returns the endpoint as a tool with this name; `None` unless it has both a description and a
    /// payload schema, since a model needs them to call it. With `confirm`, the user is asked
    /// before each call; `approval` holds the terms of every approval request for it, whatever
    /// requires it.
    pub fn tool(
        self: &Arc<Self>,
        id: &str,
        name: &str,
        confirm: bool,
        approval: ApprovalTerms,
    ) -> Option<EndpointTool> {
        let endpoint = &self.endpoints.get(id)?.endpoint;
        let (description, schema) = (endpoint.description.clone()?, endpoint.payload_schema.clone()?);
        let spec = ToolSpec {
            needs_approval: confirm,
            approval,
            // Longer than the routine's own limit, whose error message is more specific.
            timeout: self.timeout + Duration::from_secs(5),
            ..ToolSpec::new(name, description, schema)
        };
        Some(EndpointTool::new(self.clone(), id, spec))
    }
}
