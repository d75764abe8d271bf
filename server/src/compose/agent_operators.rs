//! Operators in an agent's properties, evaluated for each turn (L-20).

use agent::Agent;
use operators::{OperatorError, Scope, evaluate, evaluate_text};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use wire::{ErrorCode, UserError};

/// What of an agent is known only when it is asked.
pub(super) struct AgentOperators {
    instructions: Option<Value>,
    provider_options: Option<Map<String, Value>>,
    secrets: Arc<HashMap<String, SecretString>>,
}

impl AgentOperators {
    /// None for an agent without any operator.
    pub(super) fn of(agent: &config::Agent) -> Option<Self> {
        let instructions = agent.instructions.clone().filter(|instructions| !instructions.is_string());
        let options = Some(&agent.provider_options).filter(|options| options.values().any(operators::is_dynamic));
        if instructions.is_none() && options.is_none() {
            return None;
        }
        let secrets = Arc::new(agent.secrets.iter().cloned().collect());
        Some(Self { instructions, provider_options: options.cloned(), secrets })
    }

    /// Gives the agent what they come to in this turn. `user` is what `_user` reads, `context` what `_payload` does.
    ///
    /// # Errors
    /// In words for the user; the cause is in the log.
    pub(super) fn apply(&self, agent: &mut Agent, user: Value, context: Map<String, Value>) -> Result<(), UserError> {
        let payload = Value::Object(context);
        let secrets = self.secrets.clone();
        let secret = move |name: &str| Some(secrets.get(name)?.expose_secret().to_owned());
        let scope =
            Scope { payload: Some(&payload), user: Some(&user), expressions: Some(evaluate_text), ..Scope::default() };
        let told = |error: OperatorError| {
            tracing::error!(agent = agent.id, %error, "the agent's properties cannot be evaluated");
            UserError::new(ErrorCode::Internal, "This agent cannot be asked just now. Its owner can see why.")
        };
        if let Some(instructions) = &self.instructions {
            agent.instructions = match evaluate(instructions, &scope).map_err(told)? {
                Value::String(text) => Some(text),
                Value::Null => None,
                other => Some(other.to_string()),
            };
        }
        if let Some(options) = &self.provider_options {
            // Only here: instructions are part of what a model may repeat.
            let scope = Scope { secret: Some(&secret), ..scope };
            let evaluated = options.iter().map(|(name, value)| Ok((name.clone(), evaluate(value, &scope)?)));
            agent.settings.provider_options = evaluated.collect::<Result<_, _>>().map_err(told)?;
        }
        Ok(())
    }
}
