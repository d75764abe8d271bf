//! The section `models`: models that agents allow their users to choose.

use super::agents::{fallbacks, provider, sampling};
use super::value::{Id, Text};
use super::{Context, type_of};
use crate::agent::{AgentType, OpenAiApi};
use crate::model::Model;
use crate::shape::list_items;
use config_source::{Node, NodeKind, PathStep};
use contract::{Price, Sampling};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A model that agents may allow their users to choose.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ModelEntry {
    /// The id by which agents (`models`) and requests (`model`) name the model.
    id: Id,
    /// The name that users read. Default: the provider's name for the model.
    title: Option<Text>,
    /// The connection to the model's provider.
    connection_id: Id,
    /// The provider's name for the model.
    model: Text,
    /// Lets users switch the model's thinking on and off. `whenThinking` and `whenNotThinking` say how.
    #[serde(default)]
    thinking: bool,
    /// Whether the model reads images. With `false`, it gets a note instead of each image. Default: as its
    /// provider accepts them.
    vision: Option<bool>,
    /// Whether the model reads other files, such as PDF. With `false`, it gets a note instead of each
    /// file whose text the server does not read itself. Default: as its provider accepts them.
    files: Option<bool>,
    /// The size of the model's context window in tokens. Default: known for well-known models.
    #[schemars(range(min = 1))]
    context_tokens: Option<u64>,
    /// The price of this very model. Default: that of the section `prices`, or the list price.
    price: Option<Price>,
    /// Settings for this model. They take precedence over the properties of an agent.
    #[serde(default)]
    #[schemars(with = "ModelSettings")]
    properties: Map<String, Value>,
    /// Further settings while the model thinks. They are merged over the others.
    #[serde(default)]
    #[schemars(with = "ModelSettings")]
    when_thinking: Map<String, Value>,
    /// Further settings while the model does not think. They are merged over the others.
    #[serde(default)]
    #[schemars(with = "ModelSettings")]
    when_not_thinking: Map<String, Value>,
}

/// Those properties of an agent that are about its model. They are merged into the
/// properties of an agent, which are read then.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "the type only provides the schema")]
struct ModelSettings {
    #[serde(flatten)]
    sampling: Sampling,
    /// Puts `/no_think` before the instructions.
    no_think: Option<bool>,
    /// For a connection of the type `OpenAI`: the API to use. Default: `responses`.
    api: Option<OpenAiApi>,
    /// Options for the provider, by its name; see `providerOptions` of an agent.
    #[serde(default)]
    provider_options: HashMap<String, Map<String, Value>>,
    #[serde(flatten)]
    provider: provider::ProviderProperties,
}

/// The keys with settings.
const SETTINGS: [&str; 3] = ["properties", "whenThinking", "whenNotThinking"];

/// Reads the section.
pub(super) fn read(section: &Node, context: &mut Context<'_, '_>) -> IndexMap<String, Model> {
    let mut models: IndexMap<String, Model> = IndexMap::new();
    for node in list_items(section, context.report) {
        if let Some(model) = model(node, context) {
            check_price(&model, &models, node, context);
            models.insert(model.id.clone(), model);
        }
    }
    models
}

fn model(node: &Node, context: &mut Context<'_, '_>) -> Option<Model> {
    let connection = node.get("connectionId").and_then(|entry| Some((entry.value.text()?, entry.value.at)));
    if let Some((id, at)) = connection {
        fallbacks::check_model_connection(id, at, context);
    }
    let agent_type = connection.and_then(|(id, _)| agent_type_of(id, context)).unwrap_or(AgentType::Agent);
    check_settings(node, agent_type, context);
    check_thinking(node, agent_type, context);
    let entry: ModelEntry = context.decode(node)?;
    let Text(model) = entry.model;
    Some(Model {
        id: entry.id.0,
        title: entry.title.map_or_else(|| model.clone(), |Text(title)| title),
        connection_id: entry.connection_id.0,
        model,
        can_think: entry.thinking,
        vision: entry.vision,
        files: entry.files,
        context_tokens: entry.context_tokens,
        price: entry.price,
        agent_type,
        properties: entry.properties,
        when_thinking: entry.when_thinking,
        when_not_thinking: entry.when_not_thinking,
        at: context.report.location(node.at),
    })
}

/// Returns the type of agent that has the properties of this connection's provider.
pub(super) fn agent_type_of(connection_id: &str, context: &Context<'_, '_>) -> Option<AgentType> {
    Some(match type_of(context.connections.get(connection_id)?)? {
        "Anthropic" => AgentType::ClaudeAgent,
        "OpenAI" => AgentType::OpenAIAgent,
        "Google" => AgentType::GeminiAgent,
        "AIGateway" => AgentType::AIGatewayAgent,
        _ => AgentType::Agent,
    })
}

/// Reports settings of another provider, and operators: a model is the same in every turn.
fn check_settings(node: &Node, agent_type: AgentType, context: &mut Context<'_, '_>) {
    for settings in SETTINGS.iter().filter_map(|key| node.get(key)).map(|entry| &entry.value) {
        provider::check_model_settings(settings, agent_type, context);
        sampling::check(node, settings, agent_type, None, context);
        for entry in settings.entries() {
            if operators::is_dynamic(&entry.value.to_value()) {
                let help = "write it in the properties of the agent";
                let message = format!("`{}` of a model cannot hold operators", entry.key);
                context.report.error(entry.value.at, message, Some(help.to_owned()));
            }
        }
    }
}

/// Reports a model that is to think, but whose request would be the same with and without it, and the
/// other way round.
fn check_thinking(node: &Node, agent_type: AgentType, context: &mut Context<'_, '_>) {
    let thinks = node.get("thinking").is_some_and(|entry| matches!(entry.value.kind, NodeKind::Bool(true)));
    let written: Vec<_> = SETTINGS[1..].iter().filter_map(|key| node.get(key)).collect();
    match (thinks, written.first()) {
        (true, None) => {
            let at = node.span_at(&[PathStep::Key("thinking")]);
            let message = "the request to this model is the same whether it thinks or not";
            context.report.error(at, message, Some(format!("say what differs, for example `{}`", example(agent_type))));
        }
        (false, Some(entry)) => {
            let message = format!("`{}` has no effect: this model does not think", entry.key);
            context.report.error(entry.key_at, message, Some("write `thinking: true`, or leave it out".to_owned()));
        }
        _ => {}
    }
}

/// Returns settings that make a model think, for a provider.
fn example(agent_type: AgentType) -> &'static str {
    match agent_type {
        AgentType::ClaudeAgent => "whenThinking: { thinking: { type: enabled, budgetTokens: 8000 } }",
        AgentType::OpenAIAgent => "whenThinking: { reasoningEffort: high }",
        AgentType::GeminiAgent => "whenNotThinking: { thinkingConfig: { thinkingBudget: 0 } }",
        AgentType::AIGatewayAgent | AgentType::Agent | AgentType::AISDKAgent => {
            "whenThinking: { providerOptions: { openai: { reasoning_effort: high } } }"
        }
    }
}

/// Reports a price that contradicts that of another entry: usage is priced by the provider's name.
fn check_price(model: &Model, others: &IndexMap<String, Model>, node: &Node, context: &mut Context<'_, '_>) {
    let differs = |other: &&Model| other.model == model.model && other.price.is_some() && other.price != model.price;
    if let Some(other) = others.values().find(differs).filter(|_| model.price.is_some()) {
        let message = format!("the model `{}` has two prices", model.model);
        let help = format!("the other one is at {}", other.at);
        context.report.error(node.span_at(&[PathStep::Key("price")]), message, Some(help));
    }
}
