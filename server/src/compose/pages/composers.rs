//! The properties that the server adds to the composers of chats, by the chat's agent: those of capabilities, the
//! models and the switch for tasks, and the command that summarises the conversation.

use crate::compose::models::choice as model_choice;
use agent::ContextTriggers;
use capability::Capabilities;
use config::{Agent, Config, ConnectionKind};
use serde_json::{Map, Value, json};
use wire::locale::{Locale, Text};
use wire::page::{AgentChatProperties, Block, BlockType};

/// The name of the command that summarises the conversation.
const COMPACT: &str = "compact";

/// Adds the properties to the composers of all chats.
pub(super) fn complete(blocks: &mut [Block], config: &Config, capabilities: &Capabilities) {
    for block in blocks {
        complete(&mut block.blocks, config, capabilities);
        let agent_id = block.properties.get("agentId").and_then(Value::as_str).unwrap_or_default();
        let agent = config.agents.get(agent_id).filter(|_| block.kind == BlockType::AgentChat);
        let mut added = agent.map(|agent| capabilities.composer(config, agent)).unwrap_or_default();
        let models = agent.and_then(|agent| model_choice::composer(config, agent));
        added.extend(models.map(|models| ("models".to_owned(), models)));
        let delegates = agent.and_then(|agent| agent.delegation).filter(|delegation| delegation.is_optional);
        added.extend(delegates.map(|_| ("delegate".to_owned(), true.into())));
        let compact = agent.filter(|agent| offers_compact(agent, config)).map(|_| compact_command(block, config));
        if added.is_empty() && compact.is_none() {
            continue;
        }
        let sender = block.properties.entry("sender").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(sender) = sender {
            add(sender, added);
            compact.into_iter().for_each(|command| add_command(sender, command));
        }
    }
}

/// Adds properties. The items of a list follow those that are there.
fn add(sender: &mut Map<String, Value>, added: Vec<(String, Value)>) {
    for (key, value) in added {
        match (sender.get_mut(&key), value) {
            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
            (_, value) => drop(sender.insert(key, value)),
        }
    }
}

/// Adds a command, unless there is one of its name.
fn add_command(sender: &mut Map<String, Value>, command: Value) {
    let commands = sender.entry("commands").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(commands) = commands
        && commands.iter().all(|known| known["name"] != command["name"])
    {
        commands.push(command);
    }
}

/// Returns whether the chats of an agent list the command: where older messages are summarised, so that a
/// long conversation loses details. The context of the demo model has no end unless the config says so.
fn offers_compact(agent: &Agent, config: &Config) -> bool {
    let settings = &agent.settings;
    let kind = config.connections.get(&agent.connection_id).map(|connection| &connection.kind);
    let is_bounded = settings.context_tokens.is_some() || settings.context.triggers != ContextTriggers::default();
    settings.context.summarizes_on_demand() && (is_bounded || !matches!(kind, Some(ConnectionKind::Demo(_))))
}

/// Returns the command in the language of the chat.
fn compact_command(block: &Block, config: &Config) -> Value {
    let own = AgentChatProperties::read(&block.properties).locale;
    let text = |locale: &Option<Locale>| {
        let (_, text) = locale.as_ref()?.texts().find(|(number, _)| *number == Text::CompactCommand.number())?;
        Some(text.to_owned())
    };
    let description =
        text(&own).or_else(|| text(&config.locale)).unwrap_or_else(|| Text::CompactCommand.english().to_owned());
    json!({ "name": COMPACT, "description": description, "text": format!("/{COMPACT} ") })
}
