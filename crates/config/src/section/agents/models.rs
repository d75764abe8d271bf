//! An agent's `models`: the models among which its users choose.

use crate::agent::AgentType;
use crate::model::{AllowedModels, Model};
use crate::section::{Context, models};
use config_source::{MapEntry, Node, NodeKind, PathStep, Span, suggest};
use indexmap::IndexMap;
use serde_json::{Value, json};
use std::borrow::Cow;

/// The models of an agent, with the agent as if its default model were its only one.
pub(crate) struct AgentModels<'n> {
    pub(crate) node: Cow<'n, Node>,
    pub(crate) allowed: Option<AllowedModels>,
}

/// Reads the key. The default is the model that `properties.model` names, or the first; it sets the
/// agent's connection and model.
pub(crate) fn read<'n>(node: &'n Node, agent_type: AgentType, context: &mut Context<'_, '_>) -> AgentModels<'n> {
    let list = node.get("models").map(|entry| &entry.value).filter(|list| !matches!(list.kind, NodeKind::Null));
    let Some(list) = list else { return AgentModels { node: Cow::Borrowed(node), allowed: None } };
    let mut known: Vec<(&str, &Node)> = Vec::new();
    for (id, at) in list.items().iter().filter_map(|item| Some((item.text()?, item.at))) {
        if known.iter().any(|(other, _)| *other == id) {
            context.report.error(at, format!("the model `{id}` is listed twice"), None);
        } else if let Some(model) = context.model(id, at) {
            check_type(id, at, agent_type, context);
            known.push((id, model));
        }
    }
    let written = node.node_at(&[PathStep::Key("properties"), PathStep::Key("model")]);
    let Some((id, model, at)) = default(&known, written, list, context) else {
        // What is wrong with the list is reported; that the connection is missing is no further error.
        return AgentModels { node: Cow::Owned(with_model(node, None, list.at)), allowed: None };
    };
    check_connection(node, (id, model), context);
    let allowed = AllowedModels { ids: known.iter().map(|(id, _)| (*id).to_owned()).collect(), default: id.to_owned() };
    AgentModels { node: Cow::Owned(with_model(node, Some(model), at)), allowed: Some(allowed) }
}

/// Returns the default with its position.
fn default<'n>(
    known: &[(&'n str, &'n Node)],
    written: Option<&Node>,
    list: &Node,
    context: &mut Context<'_, '_>,
) -> Option<(&'n str, &'n Node, Span)> {
    let first = || known.first().map(|(id, model)| (*id, *model, list.at));
    let Some(written) = written.filter(|written| !matches!(written.kind, NodeKind::Null)) else { return first() };
    let Some(name) = written.text() else {
        let help = "leave out one of the two: with `models`, the user chooses the model".to_owned();
        context.report.error(written.at, "an agent with `models` needs the name of one of them here", Some(help));
        return first();
    };
    let named = |(id, model): &&(&'n str, &'n Node)| *id == name || text(model, "model") == Some(name);
    match known.iter().find(named) {
        Some((id, model)) => Some((id, model, written.at)),
        None => {
            let help = suggest::help(name, known.iter().map(|(id, _)| *id));
            context.report.error(written.at, format!("`{name}` is none of the agent's `models`"), help);
            first()
        }
    }
}

/// Reports a model of another provider than that of the agent's type.
fn check_type(id: &str, at: Span, agent_type: AgentType, context: &mut Context<'_, '_>) {
    let connection = context.models.get(id).and_then(|model| text(model, "connectionId"));
    let Some(found) = connection.and_then(|connection| models::agent_type_of(connection, context)) else { return };
    let is_any = matches!(agent_type, AgentType::Agent | AgentType::AISDKAgent);
    if !is_any && found != agent_type {
        let message = format!("the model `{id}` is not of the provider of a {agent_type:?}");
        context.report.error(
            at,
            message,
            Some("an agent of the type `Agent` may have models of all providers".to_owned()),
        );
    }
}

/// Reports a connection that is not that of the default model.
fn check_connection(node: &Node, (id, model): (&str, &Node), context: &mut Context<'_, '_>) {
    let Some(written) = node.get("connectionId").map(|entry| &entry.value) else { return };
    let own = text(model, "connectionId");
    if let (Some(connection), Some(own)) = (written.text(), own)
        && connection != own
        && context.connection(connection, written.at).is_some()
    {
        let message = format!("the agent's default model `{id}` is on the connection `{own}`, not on `{connection}`");
        let help = "leave out `connectionId`: each of the `models` has its own".to_owned();
        context.report.error(written.at, message, Some(help));
    }
}

fn text<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    node.get(key)?.value.text()
}

/// Returns the agent with the connection and the name of a model, or with broken ones.
fn with_model(node: &Node, model: Option<&Node>, at: Span) -> Node {
    let copy =
        |key: &str| model.and_then(|model| model.get(key)).map_or(NodeKind::Broken, |entry| entry.value.kind.clone());
    let mut node = node.clone();
    set(&mut node, "connectionId", Node { at, kind: copy("connectionId") });
    if node.get("properties").is_none_or(|entry| matches!(entry.value.kind, NodeKind::Null)) {
        set(&mut node, "properties", Node { at, kind: NodeKind::Map(Vec::new()) });
    }
    if let NodeKind::Map(entries) = &mut node.kind
        && let Some(properties) = entries.iter_mut().find(|entry| entry.key == "properties")
    {
        set(&mut properties.value, "model", Node { at, kind: copy("model") });
    }
    node
}

fn set(node: &mut Node, key: &str, value: Node) {
    let NodeKind::Map(entries) = &mut node.kind else { return };
    entries.retain(|entry| entry.key != key);
    entries.push(MapEntry { key: key.to_owned(), key_at: value.at, value });
}

/// Turns an agent's entry into that of the agent while it answers with this model.
pub(crate) fn apply(entry: &mut Value, model: &Model, thinks: bool) {
    let own = entry["connectionId"].take();
    keep_fallbacks(entry, &own, model);
    keep_summary_model(entry, &own);
    entry["connectionId"] = model.connection_id.clone().into();
    // The properties of a provider are those of agents of its type.
    if ["Agent", "AISDKAgent"].map(Value::from).contains(&entry["type"]) {
        entry["type"] = format!("{:?}", model.agent_type).into();
    }
    let thinking = match (model.can_think, thinks) {
        (false, _) => None,
        (true, true) => Some(&model.when_thinking),
        (true, false) => Some(&model.when_not_thinking),
    };
    let properties = &mut entry["properties"];
    for settings in std::iter::once(&model.properties).chain(thinking) {
        super::provider::merge(properties, Value::Object(settings.clone()));
    }
    properties["model"] = model.model.clone().into();
    if let Some(size) = model.context_tokens {
        properties["contextTokens"] = size.into();
    }
}

/// Fallback models without a connection stay on the agent's own.
fn keep_fallbacks(entry: &mut Value, own: &Value, model: &Model) {
    if *own == model.connection_id {
        return;
    }
    let fallbacks = entry["properties"].get_mut("fallbackModels").and_then(Value::as_array_mut);
    for fallback in fallbacks.into_iter().flatten().filter(|fallback| fallback.is_string()) {
        *fallback = json!({ "connectionId": own, "model": fallback.take() });
    }
}

/// A `summaryModel` without a connection stays on the agent's own.
fn keep_summary_model(entry: &mut Value, own: &Value) {
    let summary_model = entry["properties"].get_mut("summaryModel").and_then(Value::as_object_mut);
    let Some(connection) = summary_model.map(|other| other.entry("connectionId").or_insert(Value::Null)) else {
        return;
    };
    if connection.is_null() {
        *connection = own.clone();
    }
}

/// Returns the default model of an agent, if the section could be read.
pub(crate) fn default_of<'m>(
    allowed: Option<&AllowedModels>,
    models: &'m IndexMap<String, Model>,
) -> Option<&'m Model> {
    models.get(&allowed?.default)
}

#[cfg(test)]
mod tests {
    use crate::agent::ModelRef;
    use crate::language::Language;

    const CONFIG: &str = "
connections: [{ id: one, type: Demo }, { id: two, type: Demo }]
models: [{ id: quick, connectionId: one, model: a }, { id: slow, connectionId: two, model: b }]
agents:
  - { id: plain, type: Agent, connectionId: one, properties: { model: a, summaryModel: { model: small } } }
  - { id: other, type: Agent, connectionId: one, properties: { model: a, summaryModel: { model: small, connectionId: two } } }
  - { id: choice, type: Agent, models: [quick, slow], properties: { summaryModel: { model: small } } }
  - { id: none, type: Agent, connectionId: one, properties: { model: a } }
pages: [{ id: p }]
";

    #[test]
    fn the_model_for_summaries_stays_on_the_connection_of_the_agent() {
        let (config, _) = Language::new(&[], &[]).read_text(CONFIG).unwrap();
        for (agent, expected) in
            [("plain", Some("one")), ("other", Some("two")), ("choice", Some("one")), ("none", None)]
        {
            let agent = &config.agents[agent];
            let turn = agent.for_turn(Vec::new(), Some((&config.models["slow"], false))).unwrap();
            let expected = expected.map(|id| ModelRef { connection_id: id.to_owned(), model: "small".to_owned() });
            assert_eq!((turn.connection_id.as_str(), &turn.summary_model), ("two", &expected), "{}", agent.id);
            let made = agent.with_model(&config.models["slow"]).unwrap();
            assert_eq!(made.summary_model, expected, "{}", agent.id);
        }
    }
}
