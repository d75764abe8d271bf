//! The parts that a page adds to an agent for one turn: its context, its tools and its shared
//! state.

use crate::compose::pages::{ChatOrigin, PageChat};
use agent::Agent;
use chat::AgentRequest;
use contract::Tool;
use serde_json::{Map, Value};
use std::sync::Arc;
use tools::{PageStateTool, StateField, StateFieldKind};
use wire::UserError;
use wire::page::{FieldType, SharedField};

/// The limit on shared fields of a page; more are left out.
const MAX_FIELDS: usize = 200;

/// Adds the user's page context to the contents that the agent reads with the user's message.
pub(super) fn with_page_context(agent: &Arc<Agent>, request: &AgentRequest<'_>) -> Arc<Agent> {
    let AgentRequest { caller, page_id, conversation_id, url_query, switches, .. } = request;
    let block = tools::context::page_context(page_id, &caller.user_id, conversation_id, url_query, switches);
    Arc::new(with_facts(agent, block))
}

/// Adds a block to the contents that the agent reads with the user's message. It is not a part of the instructions,
/// because it changes, and the provider's cache ends where a request differs from the one before.
fn with_facts(agent: &Agent, block: String) -> Agent {
    let mut agent = agent.clone();
    agent.page_context = Some(match agent.page_context {
        Some(before) => format!("{before}\n\n{block}"),
        None => block,
    });
    agent
}

/// Adds the tools of the page to the agent.
pub(super) fn with_page_tools(agent: Arc<Agent>, tools: &[Arc<dyn Tool>]) -> Arc<Agent> {
    if tools.is_empty() {
        return agent;
    }
    let mut agent = Arc::unwrap_or_clone(agent);
    agent.tools.extend_from_slice(tools);
    Arc::new(agent)
}

/// Adds the shared fields of the page to the agent: their values, and the tool that writes them.
pub(super) fn with_shared_state(
    agent: &Arc<Agent>,
    mut fields: Vec<StateField>,
    values: &Map<String, Value>,
) -> Arc<Agent> {
    fields.truncate(MAX_FIELDS);
    let Some(block) = tools::context::shared_state(&fields, values) else { return agent.clone() };
    let mut agent = with_facts(agent, block);
    agent.tools.extend(PageStateTool::new(&fields).map(|tool| Arc::new(tool) as Arc<dyn Tool>));
    Arc::new(agent)
}

/// Converts a field that the page declares. A field without a declared type has that of its current
/// value.
pub(super) fn field(field: &SharedField, value: &Value) -> StateField {
    let kind = match &field.field_type {
        FieldType::Text => StateFieldKind::Text,
        FieldType::Number => StateFieldKind::Number,
        FieldType::Boolean => StateFieldKind::Boolean,
        FieldType::Choice { options } => StateFieldKind::Choice(options.clone()),
        FieldType::Choices { options } => StateFieldKind::Choices(options.clone()),
        FieldType::Date => StateFieldKind::Date,
        FieldType::Any => kind_of(value),
    };
    StateField { key: field.key.clone(), kind, writable: field.target.is_some() }
}

/// Returns an undeclared field, with the type of its current value.
pub(super) fn undeclared_field((key, value): (&String, &Value)) -> StateField {
    StateField { key: key.clone(), kind: kind_of(value), writable: true }
}

fn kind_of(value: &Value) -> StateFieldKind {
    match value {
        Value::String(_) => StateFieldKind::Text,
        Value::Number(_) => StateFieldKind::Number,
        Value::Bool(_) => StateFieldKind::Boolean,
        Value::Array(_) => StateFieldKind::List,
        Value::Object(_) => StateFieldKind::Object,
        Value::Null => StateFieldKind::Any,
    }
}

/// Returns the fields that a request shares with the agent. A chat of the config shares the fields
/// that the config declares. Where the page declares no chat with the agent, the client shares
/// whatever it sends.
///
/// # Errors
/// 422 if something is shared and it is ambiguous which of several chats shares it.
pub(super) fn fields(asked_from: &ChatOrigin<'_>, state: &Map<String, Value>) -> Result<Vec<StateField>, UserError> {
    match asked_from {
        ChatOrigin::Undeclared => Ok(state.iter().map(undeclared_field).collect()),
        ChatOrigin::Chat(chat) => {
            let fields = chat.fields(state);
            Ok(fields.iter().filter_map(|own| Some(field(own, state.get(&own.key)?))).collect())
        }
        ChatOrigin::Ambiguous(_) if state.is_empty() => Ok(Vec::new()),
        ChatOrigin::Ambiguous(chats) => Err(ambiguous_chat_error(chats)),
    }
}

fn ambiguous_chat_error(chats: &[&PageChat]) -> UserError {
    let ids: Vec<_> = chats.iter().map(|chat| format!("`{}`", chat.block_id)).collect();
    let message =
        format!("This page has several chats with this agent. Send the id of one of them: {}.", ids.join(", "));
    UserError::invalid("/blockId", message)
}
