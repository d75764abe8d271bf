//! The settings of an agent's runs: those of the config, completed by what the config says for all
//! agents and by what is known of the model.

use crate::compose::models::{ModelBuilder, models_for};
use agent::{Agent, RunSettings, Timeouts};
use config::{Config, Model};
use serde_json::Value;
use std::time::Duration;

/// The values on which an agent's config depends in a turn: those of its operators, and the model that answers with
/// whether it thinks.
pub(super) type TurnValues<'a> = (Vec<Value>, Option<(&'a Model, bool)>);

/// Replaces the parts of an agent that depend on the turn: its models and its settings.
///
/// # Errors
/// The config does not allow it, or there is no such model; the cause is for the operator.
pub(super) fn replace_model(
    agent: &mut Agent,
    config: &Config,
    written: &config::Agent,
    models: &ModelBuilder,
    (values, choice): TurnValues<'_>,
) -> Result<(), String> {
    let settled = written.for_turn(values, choice)?;
    let (model, fallbacks) = models_for(config, &settled, models)?.ok_or("its connection has no models")?;
    (agent.model, agent.fallbacks, agent.settings) = (model, fallbacks, settings(config, &settled));
    Ok(())
}

/// Returns the settings of an agent's runs.
pub(super) fn settings(config: &Config, agent: &config::Agent) -> RunSettings {
    let (limits, own) = (&config.limits, agent.settings.clone());
    let no_think = || agent.extracts_records && providers::supports_no_think(&agent.model);
    let others = agent.fallback_models.iter().chain(&agent.summary_model);
    let models = others.map(|other| &other.model).chain([&agent.model]);
    let known = providers::model_context(&agent.model);
    RunSettings {
        no_think: Some(own.no_think.unwrap_or_else(no_think)),
        provider_has_search: agent.has_provider_search(&config.connections),
        context_tokens: own.context_tokens.or(known.map(|known| known.tokens)),
        output_is_beside: own.context_tokens.is_none() && known.is_some_and(|known| known.output_is_beside),
        prices: models.filter_map(|name| Some((name.clone(), config.price_of(name)?))).collect(),
        timeouts: Timeouts {
            total: Some(own.timeouts.total.unwrap_or(limits.turn).min(own.limits.time.unwrap_or(Duration::MAX))),
            step: own.timeouts.step,
            first_byte: own.timeouts.first_byte.or(Some(limits.first_byte)),
            chunk: own.timeouts.chunk.or(Some(limits.idle)),
        },
        max_parallel_tools: limits.parallel_tools,
        max_parallel_agents: limits.parallel_agents,
        ..own
    }
}
