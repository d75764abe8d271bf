//! Endpoints by id, and calling one.

use crate::routine::{self, Budget, Surroundings};
use crate::step::{Dialects, Step};
use crate::{Connection, EndpointError, EndpointTool, Gate, Secrets};
use contract::{ApprovalTerms, ModelUse, ToolSpec};
use dialect::Dialect;
use futures::FutureExt;
use futures::future::BoxFuture;
use schemas::{Misfit, Schema};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long an explanation of a payload that does not fit may be; it quotes the payload.
const MAX_EXPLANATION: usize = 300;

/// An endpoint as the config declares it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its id.
    pub id: String,
    /// What it does, for a model.
    pub description: Option<String>,
    /// JSON Schema of its payload.
    pub payload_schema: Option<Value>,
    /// Its steps, operators not evaluated.
    pub routine: Vec<Value>,
}

/// Who calls.
#[derive(Clone)]
pub struct CallContext {
    /// The caller; what `_user` reads of him is the gate's to say.
    pub user_id: String,
    /// What the caller may call.
    pub gate: Arc<dyn Gate>,
    /// Counts the requests to models that the routine makes.
    pub models: ModelUse,
    /// Ends the call.
    pub cancel: CancellationToken,
}

/// All endpoints with their connections.
pub struct Endpoints {
    endpoints: HashMap<String, Compiled>,
    connections: HashMap<String, Connection>,
    pub(crate) secrets: Secrets,
    time: Duration,
}

/// An endpoint, ready to be called.
struct Compiled {
    endpoint: Endpoint,
    schema: Option<Schema>,
    steps: Vec<Step>,
}

impl Compiled {
    fn new(endpoint: Endpoint, dialects: Dialects<'_>) -> Result<Self, String> {
        let schema = endpoint.payload_schema.as_ref().map(Schema::new).transpose();
        let schema = schema.map_err(|error| format!("the payload schema of `{}`: {error}", endpoint.id))?;
        let steps = Step::read_all(&endpoint.routine, dialects)
            .map_err(|error| format!("the routine of `{}`: {error}", endpoint.id))?;
        Ok(Self { endpoint, schema, steps })
    }

    async fn check(&self, payload: &Value) -> Result<(), EndpointError> {
        let Some(schema) = &self.schema else { return Ok(()) };
        let (path, mut message) = match schema.check(payload, 1).await {
            Ok(()) => return Ok(()),
            Err(Misfit::Faults(faults)) => {
                faults.into_iter().next().map(|fault| (fault.path, fault.message)).unwrap_or_default()
            }
            Err(misfit @ (Misfit::TooCostly | Misfit::Busy)) => (String::new(), misfit.to_string()),
        };
        if let Some((cut, _)) = message.char_indices().nth(MAX_EXPLANATION) {
            message.truncate(cut);
            message.push('…');
        }
        Err(EndpointError::Payload { path: if path.is_empty() { "/".to_owned() } else { path }, message })
    }
}

impl Endpoints {
    /// Endpoints over these connections, by id. A routine must be done within `time`.
    ///
    /// # Errors
    /// A payload schema that is no JSON Schema or a step that is none, with the endpoint's id.
    pub fn new(
        endpoints: Vec<Endpoint>,
        connections: HashMap<String, Connection>,
        time: Duration,
    ) -> Result<Self, String> {
        // A connection that is not there, or of another type, is told when the step is reached.
        let dialects = |id: &str| match connections.get(id) {
            Some(Connection::Sql(database)) => database.dialect(),
            _ => Dialect::default(),
        };
        let compile = |endpoint: Endpoint| Ok((endpoint.id.clone(), Compiled::new(endpoint, &dialects)?));
        let endpoints = endpoints.into_iter().map(compile).collect::<Result<_, String>>()?;
        Ok(Self { endpoints, connections, secrets: Secrets::default(), time })
    }

    /// The same with secrets, which `_secret` reads in what is asked of databases and web services.
    #[must_use]
    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// Runs an endpoint. Dropping the future ends the routine as cancelling does: the statement that runs is interrupted, and
    /// what it had written is undone; statements before it stay.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub async fn call(&self, id: &str, payload: Value, context: &CallContext) -> Result<Value, EndpointError> {
        let ready = context.cancel.run_until_cancelled(self.ready(id, &payload, &*context.gate)).await;
        let compiled = ready.ok_or(EndpointError::Cancelled)??;
        let around = Surroundings {
            endpoints: self,
            gate: &*context.gate,
            connections: &self.connections,
            endpoint_id: id,
            payload: &Arc::new(payload),
            user: &Arc::new(context.gate.user(&context.user_id)),
            models: &context.models,
            budget: &Budget::default(),
            depth: 0,
        };
        let routine = tokio::time::timeout(self.time, routine::run(&compiled.steps, around));
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(EndpointError::Cancelled),
            ended = routine => ended.unwrap_or(Err(EndpointError::TooSlow(self.time))),
        }
    }

    /// Runs an endpoint for a step of another one: with its user and what he may, its time and what is left of its steps.
    pub(crate) fn call_inside<'a>(
        &'a self,
        id: &'a str,
        payload: &'a Arc<Value>,
        caller: Surroundings<'a>,
    ) -> BoxFuture<'a, Result<Value, EndpointError>> {
        let around = Surroundings { endpoint_id: id, payload, depth: caller.depth + 1, ..caller };
        async move { routine::run(&self.ready(id, payload, caller.gate).await?.steps, around).await }.boxed()
    }

    /// The endpoint, if the caller may call it and the payload fits it.
    async fn ready(&self, id: &str, payload: &Value, gate: &dyn Gate) -> Result<&Compiled, EndpointError> {
        let compiled = self.endpoints.get(id).ok_or(EndpointError::NotFound)?;
        gate.admit(id)?;
        compiled.check(payload).await?;
        Ok(compiled)
    }

    /// The endpoint as a tool under this name; none unless it has a description and a payload schema (L-8). `confirm` has the user asked
    /// before each call, `approval` says how, whoever has him asked.
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
            // The routine's own limit comes first, since it knows what to say.
            timeout: self.time + Duration::from_secs(5),
            ..ToolSpec::new(name, description, schema)
        };
        Some(EndpointTool::new(self.clone(), id, spec))
    }
}
