//! Operators in an agent's properties, evaluated for each turn.

use super::settings::replace_model;
use crate::capabilities::all_operators;
use crate::compose::models::ModelBuilder;
use agent::Agent;
use config::{Config, Model};
use endpoints::{OwnedScope, Secrets};
use operators::OperatorError;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use wire::{ErrorCode, UserError};

/// Timeout for evaluating all properties of an agent, waiting for a thread included.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The limit on the number of values in an evaluated property. Each unknown key is compared with
/// all known ones to suggest a correction.
const MAX_VALUES: usize = 500;

/// The properties of an agent that are evaluated for each turn.
pub(super) struct AgentOperators {
    config: Arc<Config>,
    agent: config::Agent,
    instructions: Option<Value>,
    secrets: Secrets,
    models: ModelBuilder,
}

impl AgentOperators {
    /// Returns `None` for an agent without operators.
    pub(super) fn for_agent(config: &Arc<Config>, agent: &config::Agent, models: &ModelBuilder) -> Option<Self> {
        let instructions = agent.instructions.clone().filter(|instructions| !instructions.is_string());
        if instructions.is_none() && agent.dynamic_properties.is_none() {
            return None;
        }
        let secrets = agent.secrets.iter().cloned().collect();
        let (config, models) = (config.clone(), models.clone());
        Some(Self { config, agent: agent.clone(), instructions, secrets, models })
    }

    /// Evaluates the properties for this turn and applies them to the agent. `user` is the value of
    /// `_user`, `context` that of `_payload`, `choice` the model that answers and whether it thinks.
    ///
    /// # Errors
    /// A message for the user; the cause is logged.
    pub(super) async fn apply(
        &self,
        agent: &mut Agent,
        user: Value,
        context: Map<String, Value>,
        choice: Option<(&Model, bool)>,
    ) -> Result<(), UserError> {
        let evaluation = tokio::time::timeout(TIMEOUT, self.evaluate(agent, user, context, choice));
        evaluation.await.unwrap_or_else(|_| Err("the evaluation took too long".to_owned())).map_err(|cause| {
            tracing::error!(agent = self.agent.id, cause, "the agent's properties cannot be evaluated");
            UserError::new(
                ErrorCode::Internal,
                "This agent is not available right now. The reason is in the server log.",
            )
        })
    }

    async fn evaluate(
        &self,
        agent: &mut Agent,
        user: Value,
        context: Map<String, Value>,
        choice: Option<(&Model, bool)>,
    ) -> Result<(), String> {
        let payload = Some(Arc::new(Value::Object(context)));
        let (user, operators) = (Some(Arc::new(user)), Some(all_operators()));
        let facts = OwnedScope { payload, user, operators, ..OwnedScope::default() };
        let to_text = |error: OperatorError| error.to_string();
        if let Some(instructions) = &self.instructions {
            agent.instructions = match facts.evaluate(instructions).await.map_err(to_text)? {
                Value::String(text) => Some(text),
                Value::Null => None,
                other => Some(other.to_string()),
            };
        }
        if self.agent.dynamic_properties.is_none() && choice.is_none() {
            return Ok(());
        }
        let mut values = Vec::new();
        for property in self.agent.dynamic_properties.iter().flat_map(|later| &later.properties) {
            // Other properties get no secrets, since a model may repeat them and users may see
            // them.
            let secrets = property.may_hold_secrets.then(|| self.secrets.clone());
            let value = OwnedScope { secrets, ..facts.clone() }.evaluate(&property.value).await.map_err(to_text)?;
            if count_values(&value) > MAX_VALUES {
                return Err(format!("{}: `{}` evaluated to more than {MAX_VALUES} values", property.at, property.name));
            }
            values.push(value);
        }
        replace_model(agent, &self.config, &self.agent, &self.models, (values, choice))
    }
}

/// Returns the number of values in a value, itself included.
fn count_values(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count_values).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(count_values).sum::<usize>(),
        _ => 1,
    }
}
