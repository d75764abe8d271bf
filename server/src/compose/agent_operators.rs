//! Operators in an agent's properties, evaluated for each turn.

use super::agent_settings::settings;
use super::agents::models_of;
use agent::{Agent, Circuits};
use config::Config;
use endpoints::{Facts, Secrets};
use operators::OperatorError;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use wire::{ErrorCode, UserError};

/// How long the evaluation of all properties of an agent may take, waiting for a thread included.
const TIME: Duration = Duration::from_secs(30);
/// The values in what one property comes to. Each unknown key is compared with all known ones, so that a mistake is
/// explained.
const MAX_SIZE: usize = 500;

/// What of an agent is known only when it is asked.
pub(super) struct AgentOperators {
    config: Arc<Config>,
    agent: config::Agent,
    instructions: Option<Value>,
    secrets: Secrets,
    circuits: Arc<Circuits>,
}

impl AgentOperators {
    /// None for an agent without any operator.
    pub(super) fn of(config: &Arc<Config>, agent: &config::Agent, circuits: &Arc<Circuits>) -> Option<Self> {
        let instructions = agent.instructions.clone().filter(|instructions| !instructions.is_string());
        if instructions.is_none() && agent.later.is_none() {
            return None;
        }
        let secrets = agent.secrets.iter().cloned().collect();
        let (config, circuits) = (config.clone(), circuits.clone());
        Some(Self { config, agent: agent.clone(), instructions, secrets, circuits })
    }

    /// Gives the agent what they come to in this turn. `user` is what `_user` reads, `context` what `_payload` does.
    ///
    /// # Errors
    /// In words for the user; the cause is in the log.
    pub(super) async fn apply(
        &self,
        agent: &mut Agent,
        user: Value,
        context: Map<String, Value>,
    ) -> Result<(), UserError> {
        let evaluation = tokio::time::timeout(TIME, self.evaluate(agent, user, context));
        evaluation.await.unwrap_or_else(|_| Err("they took too long".to_owned())).map_err(|cause| {
            tracing::error!(agent = self.agent.id, cause, "the agent's properties cannot be evaluated");
            UserError::new(ErrorCode::Internal, "This agent cannot be asked just now. Its owner can see why.")
        })
    }

    async fn evaluate(&self, agent: &mut Agent, user: Value, context: Map<String, Value>) -> Result<(), String> {
        let payload = Some(Arc::new(Value::Object(context)));
        let facts = Facts { payload, user: Some(Arc::new(user)), ..Facts::default() };
        let told = |error: OperatorError| error.to_string();
        if let Some(instructions) = &self.instructions {
            agent.instructions = match facts.evaluate(instructions).await.map_err(told)? {
                Value::String(text) => Some(text),
                Value::Null => None,
                other => Some(other.to_string()),
            };
        }
        let Some(later) = &self.agent.later else { return Ok(()) };
        let mut values = Vec::new();
        for property in &later.properties {
            // Only here: the rest is part of what a model may repeat, or a user be told.
            let secrets = property.may_hold_secrets.then(|| self.secrets.clone());
            let value = Facts { secrets, ..facts.clone() }.evaluate(&property.value).await.map_err(told)?;
            if size(&value) > MAX_SIZE {
                return Err(format!("{}: `{}` came to more than {MAX_SIZE} values", property.at, property.name));
            }
            values.push(value);
        }
        let settled = self.agent.settled(values)?;
        let (model, fallbacks) =
            models_of(&self.config, &settled, &self.circuits)?.ok_or("its connection has no models")?;
        (agent.model, agent.fallbacks, agent.settings) = (model, fallbacks, settings(&self.config, &settled));
        Ok(())
    }
}

/// The number of values in a value, itself included.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(size).sum::<usize>(),
        _ => 1,
    }
}
