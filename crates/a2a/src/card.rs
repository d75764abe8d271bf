//! The cards of agents, by which clients find them.

use crate::section::{A2a, OfferedAgent, Skill};
use a2a_types::{
    AgentCapabilities, AgentCard, AgentInterface, AgentProvider, AgentSkill, ApiKeySecurityScheme,
    HttpAuthSecurityScheme, SecurityScheme, TRANSPORT_PROTOCOL_HTTP_JSON, TRANSPORT_PROTOCOL_JSONRPC,
};
use config::{AccessRule, Agent, AuthMode, Config};
use std::collections::HashMap;

/// The media types of messages that agents read: files as far as the limits and the model allow.
const INPUT_MODES: [&str; 5] = ["text/plain", "application/json", "application/pdf", "image/png", "image/jpeg"];
const OUTPUT_MODES: [&str; 1] = ["text/plain"];

/// Returns whether everybody may see the card of an agent: it is listed, or everybody may use the agent.
pub(crate) fn is_public(section: &A2a, agent: &Agent) -> bool {
    section.entry(&agent.id).is_some() || agent.auth == AccessRule::Public
}

/// Returns the path of an agent's interface.
pub(crate) fn path(agent_id: &str) -> String {
    format!("/a2a/{agent_id}")
}

/// Returns the card of an agent. `origin` is that of this server.
pub(crate) fn card(config: &Config, section: &A2a, agent: &Agent, origin: &str) -> AgentCard {
    let name = agent.title.clone().unwrap_or_else(|| agent.id.clone());
    let description = agent.description.clone().unwrap_or_else(|| format!("The agent `{}`.", agent.id));
    let url = format!("{origin}{}", path(&agent.id));
    let skills = section.entry(&agent.id).map(|OfferedAgent { skills, .. }| skills.iter().map(skill).collect());
    let skills = skills.filter(|skills: &Vec<_>| !skills.is_empty()).unwrap_or_else(|| {
        vec![AgentSkill { name: name.clone(), description: description.clone(), ..plain_skill(&agent.id) }]
    });
    let schemes = schemes(config);
    let mut names: Vec<_> = schemes.keys().cloned().collect();
    names.sort_unstable();
    let requirements = names.into_iter().map(|name| HashMap::from([(name, Vec::new())])).collect();
    // In the mode `local`, programs on this machine send none.
    let is_open = agent.auth == AccessRule::Public || matches!(config.auth.mode, AuthMode::Local);
    let icon = agent.picture.as_ref().filter(|picture| picture.starts_with("https://"));
    AgentCard {
        name,
        description,
        version: section.version.clone(),
        // The first one is preferred.
        supported_interfaces: [TRANSPORT_PROTOCOL_JSONRPC, TRANSPORT_PROTOCOL_HTTP_JSON]
            .map(|binding| AgentInterface::new(url.clone(), binding))
            .into(),
        capabilities: AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(section.push_notifications.is_some()),
            extensions: None,
            extended_agent_card: Some(false),
        },
        default_input_modes: INPUT_MODES.map(str::to_owned).into(),
        default_output_modes: OUTPUT_MODES.map(str::to_owned).into(),
        skills,
        provider: section.provider.as_ref().map(|provider| AgentProvider {
            organization: provider.organization.0.clone(),
            url: provider.url.0.clone(),
        }),
        documentation_url: None,
        icon_url: icon.cloned(),
        // Each of them is enough.
        security_requirements: (!is_open && !schemes.is_empty()).then_some(requirements),
        security_schemes: (!schemes.is_empty()).then_some(schemes),
        signatures: None,
    }
}

fn plain_skill(id: &str) -> AgentSkill {
    AgentSkill {
        id: id.to_owned(),
        name: id.to_owned(),
        description: String::new(),
        tags: vec![id.to_owned()],
        examples: None,
        input_modes: None,
        output_modes: None,
        security_requirements: None,
    }
}

fn skill(skill: &Skill) -> AgentSkill {
    let Skill { id, name, description, tags, examples } = skill;
    let texts = |texts: &[settings::Text]| texts.iter().map(|text| text.0.clone()).collect::<Vec<_>>();
    let plain = plain_skill(&id.0);
    AgentSkill {
        name: name.as_ref().map_or_else(|| id.0.clone(), |name| name.0.clone()),
        description: description.0.clone(),
        tags: if tags.is_empty() { plain.tags.clone() } else { texts(tags) },
        examples: (!examples.is_empty()).then(|| texts(examples)),
        ..plain
    }
}

/// Returns the credentials that programs can send, by the auth mode.
fn schemes(config: &Config) -> HashMap<String, SecurityScheme> {
    let bearer = |description: &str, format: Option<&str>| {
        SecurityScheme::HttpAuth(HttpAuthSecurityScheme {
            scheme: "Bearer".to_owned(),
            description: Some(description.to_owned()),
            bearer_format: format.map(str::to_owned),
        })
    };
    let mut schemes = HashMap::new();
    if matches!(config.auth.mode, AuthMode::Anonymous) {
        return schemes;
    }
    let key = "An API key of a user of this server, with the scope `agents`.";
    schemes.insert("apiKey".to_owned(), bearer(key, None));
    schemes.insert(
        "apiKeyHeader".to_owned(),
        SecurityScheme::ApiKey(ApiKeySecurityScheme {
            location: "header".to_owned(),
            name: "x-api-key".to_owned(),
            description: Some(key.to_owned()),
        }),
    );
    if let AuthMode::Jwt(jwt) = &config.auth.mode {
        let description = match &jwt.issuer {
            Some(issuer) => format!("A token of {issuer} for a user."),
            None => "A token of the application that this server belongs to.".to_owned(),
        };
        schemes.insert("token".to_owned(), bearer(&description, Some("JWT")));
    }
    schemes
}
