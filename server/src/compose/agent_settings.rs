//! The settings of an agent's runs: those of the config, completed by what the config says for all
//! agents and by what is known of the model.

use agent::{RunSettings, Timeouts};
use config::Config;
use std::time::Duration;

/// Returns the settings of an agent's runs.
pub(super) fn settings(config: &Config, agent: &config::Agent) -> RunSettings {
    let (limits, own) = (&config.limits, agent.settings.clone());
    let no_think = || agent.extracts_records && providers::supports_no_think(&agent.model);
    let others = agent.fallback_models.iter().chain(&agent.summary_model);
    let models = others.map(|other| &other.model).chain([&agent.model]);
    RunSettings {
        no_think: Some(own.no_think.unwrap_or_else(no_think)),
        context_tokens: own.context_tokens.or_else(|| providers::context_tokens(&agent.model)),
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
