//! Converts an agent's settings and prices from the config's types to those of the agent loop.

use agent::{Prune, PruneReasoning, PruneToolCalls, RunSettings, StepRule, StepSelector, Timeouts, TurnLimits};
use config::Config;
use contract::{Price, Sampling, ToolChoice};
use std::collections::HashMap;
use std::time::Duration;

/// Converts the settings of an agent.
pub(super) fn settings(config: &Config, agent: &config::Agent) -> RunSettings {
    let (limits, own, sampling) = (&config.limits, &agent.timeouts, &agent.sampling);
    RunSettings {
        max_steps: agent.max_steps,
        no_think: agent.no_think.unwrap_or_else(|| agent.has_preset && providers::supports_no_think(&agent.model)),
        tool_choice: tool_choice(&agent.tool_choice),
        active_tools: agent.active_tools.clone(),
        prepare_step: agent.prepare_step.iter().map(step_rule).collect(),
        prune: prune(&agent.prune),
        repair_tool_call: agent.repair_tool_call,
        stop_on_tool_call: agent.stop_on_tool_call.clone(),
        sampling: Sampling {
            max_output_tokens: sampling.max_output_tokens,
            temperature: sampling.temperature,
            top_p: sampling.top_p,
            top_k: sampling.top_k,
            frequency_penalty: sampling.frequency_penalty,
            presence_penalty: sampling.presence_penalty,
            seed: sampling.seed,
            stop_sequences: sampling.stop_sequences.clone(),
        },
        response_format: None,
        provider_options: agent.provider_options.clone(),
        max_retries: agent.max_retries,
        context_tokens: agent.context_tokens.or_else(|| providers::context_tokens(&agent.model)),
        limits: TurnLimits {
            requests: agent.limits.requests,
            total_tokens: agent.limits.total_tokens,
            tool_calls: agent.limits.tool_calls,
            cost_usd: agent.limits.cost_usd,
            time: agent.limits.time,
        },
        prices: prices(config, agent),
        timeouts: Timeouts {
            total: own.total.unwrap_or(limits.turn).min(agent.limits.time.unwrap_or(Duration::MAX)),
            step: own.step,
            first_byte: own.first_byte.unwrap_or(limits.first_byte),
            chunk: own.chunk.unwrap_or(limits.idle),
        },
        max_parallel_tools: limits.parallel_tools,
        max_parallel_agents: limits.parallel_agents,
    }
}

fn tool_choice(choice: &config::ToolChoice) -> ToolChoice {
    match choice {
        config::ToolChoice::Auto => ToolChoice::Auto,
        config::ToolChoice::Required => ToolChoice::Required,
        config::ToolChoice::None => ToolChoice::None,
        config::ToolChoice::Tool(name) => ToolChoice::Tool(name.clone()),
    }
}

fn step_rule(rule: &config::StepRule) -> StepRule {
    StepRule {
        steps: match &rule.steps {
            config::StepSelector::Numbers(numbers) => StepSelector::Numbers(numbers.clone()),
            config::StepSelector::Range(from, to) => StepSelector::Range(*from, *to),
        },
        active_tools: rule.active_tools.clone(),
        tool_choice: rule.tool_choice.as_ref().map(tool_choice),
        max_output_tokens: rule.max_output_tokens,
        temperature: rule.temperature,
    }
}

fn prune(prune: &config::Prune) -> Prune {
    let rule = |rule: &config::PruneToolCalls| PruneToolCalls { keep_last: rule.keep_last, tools: rule.tools.clone() };
    Prune {
        reasoning: match prune.reasoning {
            config::PruneReasoning::None => PruneReasoning::None,
            config::PruneReasoning::BeforeLastMessage => PruneReasoning::BeforeLastMessage,
            config::PruneReasoning::All => PruneReasoning::All,
        },
        tool_calls: prune.tool_calls.iter().map(rule).collect(),
        remove_empty: prune.remove_empty,
    }
}

/// Returns the prices of an agent's models.
fn prices(config: &Config, agent: &config::Agent) -> HashMap<String, Price> {
    let names = agent.fallback_models.iter().map(|fallback| &fallback.model).chain([&agent.model]);
    names.filter_map(|name| Some((name.clone(), price(config, name)?))).collect()
}

/// Returns the price of a model, if it is known.
pub(super) fn price(config: &Config, model: &str) -> Option<Price> {
    let config::Price { input, cache_read, cache_write, output } = config.price_of(model)?;
    Some(Price { input, cache_read, cache_write, output })
}
