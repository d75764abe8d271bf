//! Endpoints by id, and calling one.

use crate::{EndpointError, EndpointTool, Sql, routine};
use contract::ToolSpec;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

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
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The caller; `_user` reads `{id}`.
    pub user_id: String,
    /// Ends the call.
    pub cancel: CancellationToken,
}

/// All endpoints with their connections.
pub struct Endpoints {
    endpoints: HashMap<String, (Endpoint, Option<Validator>)>,
    connections: HashMap<String, Sql>,
    time: Duration,
}

impl Endpoints {
    /// Endpoints over these connections, both by id. A routine must be done within `time`.
    ///
    /// # Errors
    /// A payload schema that is no JSON Schema, with the endpoint's id.
    pub fn new(endpoints: Vec<Endpoint>, connections: HashMap<String, Sql>, time: Duration) -> Result<Self, String> {
        let compile = |endpoint: Endpoint| {
            let schema = endpoint.payload_schema.as_ref().map(jsonschema::validator_for).transpose();
            let schema = schema.map_err(|error| format!("the payload schema of `{}`: {error}", endpoint.id))?;
            Ok((endpoint.id.clone(), (endpoint, schema)))
        };
        Ok(Self { endpoints: endpoints.into_iter().map(compile).collect::<Result<_, String>>()?, connections, time })
    }

    /// Runs an endpoint.
    ///
    /// # Errors
    /// See [`EndpointError`].
    pub async fn call(&self, id: &str, payload: Value, context: &CallContext) -> Result<Value, EndpointError> {
        let (endpoint, schema) = self.endpoints.get(id).ok_or(EndpointError::NotFound)?;
        if let Some(error) = schema.as_ref().and_then(|schema| schema.iter_errors(&payload).next()) {
            let path = error.instance_path().to_string();
            return Err(EndpointError::Payload {
                path: if path.is_empty() { "/".to_owned() } else { path },
                message: error.to_string(),
            });
        }
        let user = json!({ "id": context.user_id });
        let routine = routine::run(&endpoint.routine, &payload, &user, &self.connections);
        tokio::select! {
            () = context.cancel.cancelled() => Err(EndpointError::Cancelled),
            ended = tokio::time::timeout(self.time, routine) => {
                ended.unwrap_or_else(|_| Err(EndpointError::Limit(format!("{} s", self.time.as_secs_f32()))))
            }
        }
    }

    /// The endpoint as a tool under this name; none unless it has a description and a payload schema (L-8).
    pub fn tool(self: &Arc<Self>, id: &str, name: &str, confirm: bool) -> Option<EndpointTool> {
        let (endpoint, _) = self.endpoints.get(id)?;
        let (description, schema) = (endpoint.description.clone()?, endpoint.payload_schema.clone()?);
        let spec = ToolSpec { needs_approval: confirm, timeout: self.time, ..ToolSpec::new(name, description, schema) };
        Some(EndpointTool::new(self.clone(), id, spec))
    }
}
