//! What a page adds to an agent for one turn: where the user is, and the fields that it shares.

use agent::Agent;
use chat::AgentRequest;
use contract::Tool;
use serde_json::{Map, Value};
use std::sync::Arc;
use tools::{Field, FieldKind, PageStateTool};
use wire::page::{FieldType, SharedField};

/// Fields that a page may share; more are left out.
const MAX_FIELDS: usize = 200;

/// The agent, told where the user is.
pub(super) fn with_page_context(agent: &Arc<Agent>, request: &AgentRequest<'_>) -> Arc<Agent> {
    let AgentRequest { caller, page_id, conversation_id, url_query, switches, .. } = request;
    Arc::new(told(agent, tools::context::page(page_id, &caller.user_id, conversation_id, url_query, switches)))
}

/// The agent with a block of facts in front of its instructions.
fn told(agent: &Agent, block: String) -> Agent {
    let mut agent = agent.clone();
    agent.instructions = Some(match agent.instructions {
        Some(instructions) => format!("{block}\n\n{instructions}"),
        None => block,
    });
    agent
}

/// The agent with what the page does for it.
pub(super) fn with_page_tools(agent: Arc<Agent>, tools: &[Arc<dyn Tool>]) -> Arc<Agent> {
    if tools.is_empty() {
        return agent;
    }
    let mut agent = Arc::unwrap_or_clone(agent);
    agent.tools.extend_from_slice(tools);
    Arc::new(agent)
}

/// The agent with the page's fields: what they hold in its instructions, and the tool that writes them.
pub(super) fn with_shared_state(agent: &Arc<Agent>, mut fields: Vec<Field>, values: &Map<String, Value>) -> Arc<Agent> {
    fields.truncate(MAX_FIELDS);
    let Some(block) = tools::context::shared_state(&fields, values) else { return agent.clone() };
    let mut agent = told(agent, block);
    agent.tools.extend(PageStateTool::new(&fields).map(|tool| Arc::new(tool) as Arc<dyn Tool>));
    Arc::new(agent)
}

/// A field that the page declares.
pub(super) fn field(field: &SharedField) -> Field {
    let kind = match &field.field_type {
        FieldType::Text => FieldKind::Text,
        FieldType::Number => FieldKind::Number,
        FieldType::Boolean => FieldKind::Boolean,
        FieldType::Choice { options } => FieldKind::Choice(options.clone()),
        FieldType::Choices { options } => FieldKind::Choices(options.clone()),
        FieldType::Date => FieldKind::Date,
        FieldType::Any => FieldKind::Any,
    };
    Field { key: field.key.clone(), kind, writable: field.target.is_some() }
}

/// The type of what a field holds now (L-66).
pub(super) fn undeclared((key, value): (&String, &Value)) -> Field {
    let kind = match value {
        Value::String(_) => FieldKind::Text,
        Value::Number(_) => FieldKind::Number,
        Value::Bool(_) => FieldKind::Boolean,
        Value::Null | Value::Array(_) | Value::Object(_) => FieldKind::Any,
    };
    Field { key: key.clone(), kind, writable: true }
}
