//! Builds models from connections.

use crate::telemetry::measured;
use agent::Circuits;
use capability::Capabilities;
use config::{Connection, ConnectionKind, ModelConnection, OpenAiApi};
use contract::Model;
use providers::ModelSettings;
use providers::ai_gateway::AiGateway;
use providers::anthropic::Anthropic;
use providers::demo::Demo;
use providers::google::Google;
use providers::openai_chat::OpenAiChat;
use providers::openai_responses::OpenAiResponses;
use std::sync::Arc;

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
        model: name.to_owned(),
    }
}
