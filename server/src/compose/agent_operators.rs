//! Operators in an agent's properties, evaluated for each turn.

use super::agent_settings::settings;
use super::agents::models_of;
use agent::{Agent, Circuits};
use config::Config;
use operators::{OperatorError, Scope, evaluate, evaluate_text};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use wire::{ErrorCode, UserError};

/// What of an agent is known only when it is asked.
pub(super) struct AgentOperators {
    config: Arc<Config>,
    agent: config::Agent,
    instructions: Option<Value>,
    secrets: Arc<HashMap<String, SecretString>>,
    circuits: Arc<Circuits>,
}

impl AgentOperators {
    /// None for an agent without any operator.
    pub(super) fn of(config: &Arc<Config>, agent: &config::Agent, circuits: &Arc<Circuits>) -> Option<Self> {
        let instructions = agent.instructions.clone().filter(|instructions| !instructions.is_string());
        if instructions.is_none() && agent.later.is_none() {
            return None;
        }
        let secrets = Arc::new(agent.secrets.iter().cloned().collect());
        let (config, circuits) = (config.clone(), circuits.clone());
        Some(Self { config, agent: agent.clone(), instructions, secrets, circuits })
    }

    /// Gives the agent what they come to in this turn. `user` is what `_user` reads, `context` what `_payload` does.
    ///
    /// # Errors
    /// In words for the user; the cause is in the log.
    pub(super) fn apply(&self, agent: &mut Agent, user: Value, context: Map<String, Value>) -> Result<(), UserError> {
        self.evaluate(agent, user, context).map_err(|cause| {
            tracing::error!(agent = agent.id, cause, "the agent's properties cannot be evaluated");
            UserError::new(ErrorCode::Internal, "This agent cannot be asked just now. Its owner can see why.")
        })
    }

    fn evaluate(&self, agent: &mut Agent, user: Value, context: Map<String, Value>) -> Result<(), String> {
        let payload = Value::Object(context);
        let scope =
            Scope { payload: Some(&payload), user: Some(&user), expressions: Some(evaluate_text), ..Scope::default() };
        let told = |error: OperatorError| error.to_string();
        if let Some(instructions) = &self.instructions {
            agent.instructions = match evaluate(instructions, &scope).map_err(told)? {
                Value::String(text) => Some(text),
                Value::Null => None,
                other => Some(other.to_string()),
            };
        }
        let Some(later) = &self.agent.later else { return Ok(()) };
        let secrets = self.secrets.clone();
        let secret = move |name: &str| Some(secrets.get(name)?.expose_secret().to_owned());
        let values = later.properties.iter().map(|property| {
            // Only here: the rest is part of what a model may repeat, or a user be told.
            let secret = property.may_hold_secrets.then_some(&secret as &operators::Secrets);
            evaluate(&property.value, &Scope { secret, ..scope })
        });
        let values = values.collect::<Result<_, _>>().map_err(told)?;
        let settled = self.agent.settled(values)?;
        let (model, fallbacks) =
            models_of(&self.config, &settled, &self.circuits)?.ok_or("its connection has no models")?;
        (agent.model, agent.fallbacks, agent.settings) = (model, fallbacks, settings(&self.config, &settled));
        Ok(())
    }
}
