//! A connection and a model's name → a model.

use config::{Agent, Connection, ConnectionKind, ModelConnection};
use contract::Model;
use providers::Settings;
use providers::ai_gateway::AiGateway;
use providers::anthropic::Anthropic;
use providers::demo::Demo;
use providers::google::Google;
use providers::openai_chat::OpenAiChat;
use providers::openai_responses::OpenAiResponses;
use std::sync::Arc;

/// The agent's model; none where the connection has no models.
pub(super) fn build(connection: &Connection, agent: &Agent) -> Option<Arc<dyn Model>> {
    Some(match &connection.kind {
        ConnectionKind::Anthropic(model) => Arc::new(Anthropic::new(settings(model, agent))),
        ConnectionKind::OpenAiCompatible(model) => Arc::new(OpenAiChat::new(settings(model, agent))),
        ConnectionKind::OpenAi(model) if agent.openai_api == config::OpenAiApi::Chat => {
            Arc::new(OpenAiChat::new(settings(model, agent)))
        }
        ConnectionKind::OpenAi(model) => Arc::new(OpenAiResponses::new(settings(model, agent))),
        ConnectionKind::Demo(demo) => Arc::new(Demo::new(&agent.model, demo.delay)),
        ConnectionKind::Google(model) => Arc::new(Google::new(settings(model, agent))),
        ConnectionKind::AiGateway(model) => Arc::new(AiGateway::new(settings(model, agent))),
        ConnectionKind::Sql(_) => return None,
    })
}

fn settings(connection: &ModelConnection, agent: &Agent) -> Settings {
    Settings {
        api_key: connection.api_key.clone(),
        base_url: connection.base_url.clone(),
        headers: connection.headers.clone(),
        model: agent.model.clone(),
    }
}
