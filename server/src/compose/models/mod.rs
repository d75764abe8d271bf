//! Builds models from connections.

pub(super) mod background;
pub(super) mod choice;
pub(super) mod list;
pub(super) mod text;

use crate::telemetry::measured;
use agent::Circuits;
use capability::Capabilities;
use config::{Config, Connection, ConnectionKind, ModelConnection, ModelRef, OpenAiApi, UnreadFiles};
use contract::Model;
use providers::ai_gateway::AiGateway;
use providers::anthropic::Anthropic;
use providers::demo::Demo;
use providers::google::Google;
use providers::openai_chat::OpenAiChat;
use providers::openai_responses::OpenAiResponses;
use providers::{ModelSettings, WithoutFiles};
use std::sync::Arc;

/// A model and its fallbacks, in order.
type ModelChain = (Arc<dyn Model>, Vec<Arc<dyn Model>>);

/// Builds models: those of this crate and those of capabilities.
#[derive(Clone)]
pub(super) struct ModelBuilder {
    /// The circuit breakers of all models, kept over changes of the config.
    pub(super) circuits: Arc<Circuits>,
    pub(super) capabilities: Capabilities,
}

impl ModelBuilder {
    /// Returns the model with this name; `None` if the connection has no models. `api` selects one
    /// of OpenAI's APIs.
    pub(super) fn build(&self, connection: &Connection, name: &str, api: OpenAiApi) -> Option<Arc<dyn Model>> {
        let model = match &connection.kind {
            ConnectionKind::Added(_) => self.capabilities.model(connection, name),
            kind => build_unguarded(kind, name, api),
        };
        Some(self.circuits.guard(&connection.id, measured(model?)))
    }
}

/// Returns a model that is only tried: its failures say nothing about the agents' ones, so it has no circuit breaker.
pub(crate) fn model_to_try(connection: &ConnectionKind, name: &str) -> Option<Arc<dyn Model>> {
    build_unguarded(connection, name, OpenAiApi::default()).map(measured)
}

fn build_unguarded(connection: &ConnectionKind, name: &str, api: OpenAiApi) -> Option<Arc<dyn Model>> {
    let settings = |model| settings(model, name);
    Some(match connection {
        ConnectionKind::Anthropic(model) => Arc::new(Anthropic::new(settings(model))),
        ConnectionKind::OpenAiCompatible(model) => Arc::new(OpenAiChat::new(settings(model))),
        ConnectionKind::OpenAi(model) if api == OpenAiApi::Chat => Arc::new(OpenAiChat::new(settings(model))),
        ConnectionKind::OpenAi(model) => Arc::new(OpenAiResponses::new(settings(model))),
        ConnectionKind::Demo(demo) => Arc::new(Demo::new(name, demo.delay)),
        ConnectionKind::Google(model) => Arc::new(Google::new(settings(model))),
        ConnectionKind::AiGateway(model) => Arc::new(AiGateway::new(settings(model))),
        ConnectionKind::Sql(_)
        | ConnectionKind::Http(_)
        | ConnectionKind::Mcp(_)
        | ConnectionKind::RemoteAgent(_)
        | ConnectionKind::Added(_) => return None,
    })
}

fn settings(connection: &ModelConnection, name: &str) -> ModelSettings {
    ModelSettings {
        api_key: connection.api_key.clone(),
        base_url: connection.base_url.clone(),
        headers: connection.headers.clone(),
        public_only: connection.public_only,
        model: name.to_owned(),
    }
}

/// Returns the agent's model and its fallbacks; `None` if its connection has no models.
///
/// # Errors
/// A connection does not exist, which is possible only if an operator of the config names it.
pub(super) fn models_for(
    config: &Config,
    agent: &config::Agent,
    models: &ModelBuilder,
) -> Result<Option<ModelChain>, String> {
    let model = |named: &ModelRef| {
        let model = model_named(config, named, agent.openai_api, models)?;
        Ok::<_, String>(model.map(|model| models.capabilities.wrap_model(agent, model)))
    };
    let fallbacks = agent.fallback_models.iter().map(model);
    let fallbacks = fallbacks.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    let first = ModelRef { connection_id: agent.connection_id.clone(), model: agent.model.clone() };
    let UnreadFiles { images, others } = agent.unread_files;
    let readable = |model: Arc<dyn Model>| {
        if images || others { Arc::new(WithoutFiles::new(model, images, others)) } else { model }
    };
    Ok(model(&first)?.map(|model| (readable(model), fallbacks)))
}

/// Returns a model of a connection; `None` if the connection has no models.
///
/// # Errors
/// There is no such connection.
pub(super) fn model_named(
    config: &Config,
    named: &ModelRef,
    api: OpenAiApi,
    models: &ModelBuilder,
) -> Result<Option<Arc<dyn Model>>, String> {
    match config.connections.get(&named.connection_id) {
        Some(connection) => Ok(models.build(connection, &named.model, api)),
        None => Err(format!("there is no connection `{}`", named.connection_id)),
    }
}
