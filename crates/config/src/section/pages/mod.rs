//! The section `pages`.

pub(super) mod client_tools;
pub(super) mod conversations;
pub(super) mod events;
mod icons;
mod inputs;
pub(super) mod sender;
pub(super) mod shared_state;

use crate::config;
use crate::section::dynamic::{self, ReadableNames, ValueContext};
use crate::section::rule_entry::{self, RuleEntry};
use crate::section::value::{Id, Text};
use crate::section::{Context, locale, refuse_prototype_key, type_of};
use crate::shape::{check_value, list_items};
use config_source::{Node, PathStep, Report, Span, suggest};
use indexmap::IndexMap;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashMap;
use wire::page::{Action, AddedBlock, Block, BlockType, Page};

/// A page.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["requests", "type"]))]
pub(crate) struct PageEntry {
    /// Its address: `/ID`.
    id: Id,
    /// The title of the browser window.
    title: Option<Text>,
    /// Who may open the page. Default: all signed-in users.
    auth: Option<RuleEntry>,
    /// The actions of `onInit`, which run when the page has become interactive.
    #[serde(rename = "events", default)]
    #[schemars(with = "IndexMap<String, Vec<Action>>", extend("x-checked-apart" = true))]
    _events: Value,
    /// The blocks in the order of the page.
    #[serde(rename = "blocks", default)]
    #[schemars(with = "Vec<Block>", extend("x-checked-apart" = true))]
    _blocks: Value,
}

/// First path segments that the server uses itself.
const RESERVED_SEGMENTS: [&str; 13] =
    ["api", "ui", "pkg", "healthz", "readyz", "metrics", "admin", "assets", "docs", "embed", "mcp", "ag-ui", "a2a"];

/// Whether the server uses the address `/ID` itself.
pub(crate) fn is_reserved_segment(id: &str) -> bool {
    RESERVED_SEGMENTS.contains(&id)
}

/// The types of blocks of the product that can contain other blocks.
const CONTAINERS: [&str; 4] = ["Box", "Columns", "Card", "Tabs"];

/// Defines the schemas that those of the blocks in `wire` refer to by name.
pub(crate) fn define_page_parts(generator: &mut SchemaGenerator) {
    generator.subschema_for::<dynamic::Operator>();
    generator.subschema_for::<locale::LocaleEntry>();
    generator.subschema_for::<client_tools::ClientToolEntry>();
}

/// Reads the section.
pub(super) fn read(section: &Node, context: &mut Context<'_, '_>) -> Vec<config::Page> {
    list_items(section, context.report).iter().filter_map(|node| page(node, context)).collect()
}

fn page(node: &Node, context: &mut Context<'_, '_>) -> Option<config::Page> {
    let mut survey = PageIndex::default();
    survey.blocks(node, context);
    survey.add_state(events::written_keys(node));
    let events = events::read_page(node, &survey, context);
    let mut client_tools = Vec::new();
    let blocks = blocks(node, &survey, &mut client_tools, context);
    let entry: PageEntry = context.decode(node)?;
    let id = entry.id.0;
    if is_reserved_segment(&id) {
        let help = "give the page another id".to_owned();
        let at = node.span_at(&[PathStep::Key("id")]);
        context.report.error(at, format!("the address `/{id}` belongs to the server"), Some(help));
    }
    let auth = rule_entry::read(entry.auth, node, context.report);
    let definition = Page { id, title: entry.title.map(|Text(text)| text), events, blocks };
    Some(config::Page { definition, auth, client_tools })
}

/// The inputs, chats and state keys of a page. It is collected before the blocks are read, because
/// a chat may share an input that follows it.
#[derive(Default)]
pub(super) struct PageIndex<'n> {
    ids: HashMap<&'n str, Span>,
    /// The ids of the inputs, in order.
    pub(super) inputs: Vec<&'n str>,
    /// The ids of the chats, in order.
    pub(super) chats: Vec<&'n str>,
    /// The keys of the page state: the inputs, and what actions set.
    pub(super) state: Vec<&'n str>,
}

impl<'n> PageIndex<'n> {
    fn add_state(&mut self, keys: impl IntoIterator<Item = &'n str>) {
        for key in keys {
            if !self.state.contains(&key) {
                self.state.push(key);
            }
        }
    }

    fn blocks(&mut self, parent: &'n Node, context: &mut Context<'_, '_>) {
        let children = parent.get("blocks").map(|entry| entry.value.items()).unwrap_or_default();
        for node in children {
            self.block(node, context);
            self.blocks(node, context);
        }
    }

    fn block(&mut self, node: &'n Node, context: &mut Context<'_, '_>) {
        self.add_state(events::written_keys(node));
        let Some((id, at)) = node.get("id").and_then(|entry| Some((entry.value.text()?, entry.value.at))) else {
            return;
        };
        refuse_prototype_key(id, at, context.report);
        if let Some(first) = self.ids.insert(id, at) {
            let help = format!("the first one is at {}", context.report.location(first));
            context.report.error(at, format!("there are two blocks with the id `{id}` on this page"), Some(help));
        }
        let Some(kind) = events::block_type(node) else { return };
        if kind.field_type(&Map::new()).is_some() {
            self.inputs.push(id);
            self.add_state([id]);
        } else if kind == BlockType::AgentChat {
            self.chats.push(id);
        }
    }
}

/// Reads the blocks of a page or a block. Those with errors are reported and left out.
fn blocks(
    parent: &Node,
    survey: &PageIndex<'_>,
    tools: &mut Vec<config::ClientTool>,
    context: &mut Context<'_, '_>,
) -> Vec<Block> {
    let Some(entry) = parent.get("blocks") else { return Vec::new() };
    list_items(&entry.value, context.report).iter().filter_map(|node| block(node, survey, tools, context)).collect()
}

/// Reads a block. The client tools of its chats are added to `tools`.
fn block(
    node: &Node,
    survey: &PageIndex<'_>,
    tools: &mut Vec<config::ClientTool>,
    context: &mut Context<'_, '_>,
) -> Option<Block> {
    let blocks = blocks(node, survey, tools, context);
    check_container(node, context);
    let events = events::read_block(node, survey, context);
    let properties = node.get("properties").map(|entry| entry.value.entries()).unwrap_or_default();
    // The shared state, client tools and locale of a chat have checks of their own.
    let is_own = |key: &str| ["sharedState", "clientTools", "locale"].contains(&key);
    let parts = properties.iter().filter(|entry| !is_own(&entry.key)).chain(node.get("visible"));
    for part in parts {
        let names = ReadableNames { state: &survey.state, ..ReadableNames::default() };
        dynamic::check(&part.value, ValueContext::Property, names, context.vocabulary, context.report);
    }
    let mut value = check_value(node, context.shape::<Block>()?, context.report)?;
    let id = value.get("id")?.as_str()?.to_owned();
    let mut properties = match value.get_mut("properties").map(Value::take) {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    let added = type_of(node).and_then(|name| context.vocabulary.added_block(name));
    added.iter().for_each(|added| check_added(added, &properties, node, context.report));
    let kind = if added.is_some() { BlockType::Added } else { events::block_type(node)? };
    inputs::check(kind, &properties, node, context);
    if let Some(properties) = node.get("properties")
        && [BlockType::AgentChat, BlockType::AgentConversations].contains(&kind)
    {
        icons::check(&properties.value, context.report);
    }
    if kind == BlockType::AgentConversations {
        conversations::check(node, context);
    }
    if kind == BlockType::AgentChat {
        check_agent(&properties, node, context);
        sender::check(&properties, node, context);
        check_drawer(&properties, node, context);
        shared_state::read(&mut properties, node, survey, context);
        let own = client_tools::read(node, &id, survey, context);
        tools.extend(own.declared);
        properties.remove("clientTools");
        if !own.for_browser.is_empty() {
            properties.insert("clientTools".to_owned(), serde_json::to_value(own.for_browser).ok()?);
        }
    }
    if properties.remove("locale").is_some() {
        let words = node.get("properties").and_then(|entry| entry.value.get("locale"));
        let locale = words.and_then(|entry| locale::read(&entry.value, context))?;
        properties.insert("locale".to_owned(), locale.to_value());
    }
    let visible = value.get_mut("visible").map(Value::take).unwrap_or_default();
    let added = added.map_or_else(String::new, |added| added.name.to_owned());
    Some(Block { id, kind, added, properties, visible, events, blocks })
}

/// Checks the properties of a block whose type a program adds. Those that are computed are not known
/// yet, and the others may depend on them.
fn check_added(added: &AddedBlock, properties: &Map<String, Value>, node: &Node, report: &mut Report) {
    if properties.values().any(operators::is_dynamic) {
        return;
    }
    for (key, problem) in (added.check)(properties) {
        report.error(node.span_at(&[PathStep::Key("properties"), PathStep::Key(key)]), problem, None);
    }
}

/// Reports blocks in a block that is not a container.
fn check_container(node: &Node, context: &mut Context<'_, '_>) {
    let (Some(block_type), Some(children)) = (type_of(node), node.get("blocks")) else { return };
    let containers: Vec<_> = CONTAINERS.into_iter().chain(context.vocabulary.added_containers()).collect();
    if !children.value.items().is_empty() && !containers.contains(&block_type) {
        let help = suggest::one_of(&containers).map(|types| format!("use {types}"));
        context.report.error(children.key_at, format!("a block of the type {block_type} cannot hold others"), help);
    }
}

fn check_agent(properties: &Map<String, Value>, node: &Node, context: &mut Context<'_, '_>) {
    let id = properties.get("agentId").and_then(Value::as_str).unwrap_or_default();
    context.agent(id, node.span_at(&[PathStep::Key("properties"), PathStep::Key("agentId")]));
}

/// Warns of drawer settings in a chat that is not a drawer.
fn check_drawer(properties: &Map<String, Value>, node: &Node, context: &mut Context<'_, '_>) {
    if properties.contains_key("drawer") && properties.get("display").and_then(Value::as_str) != Some("drawer") {
        let at = node.span_at(&[PathStep::Key("properties"), PathStep::Key("drawer")]);
        let help = "write `display: drawer`, or leave it out".to_owned();
        context.report.warning(at, "this chat is no drawer", Some(help));
    }
}
