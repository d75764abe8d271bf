//! The events of pages and blocks, whose handlers are lists of actions.

use super::client_tools;
use crate::section::dynamic::{self, ReadableNames, ValueContext};
use crate::section::entry_ref::{EntryKind, EntryRef};
use crate::section::pages::PageIndex;
use crate::section::{Context, refuse_prototype_key, type_of};
use crate::shape::check_value;
use crate::vocabulary::{Vocabulary, built_in_block};
use config_source::{MapEntry, Node, NodeKind, PathStep, Span, suggest};
use wire::page::event_fields::event_fields;
use wire::page::{Action, BlockType, CHAT_EVENTS, Events, is_safe_url};

/// The events of a page.
const PAGE_EVENTS: [&str; 1] = ["onInit"];
/// The methods of a chat.
const CHAT_METHODS: [&str; 13] = [
    "sendMessage",
    "setInput",
    "focus",
    "stop",
    "regenerate",
    "deleteMessage",
    "newConversation",
    "clearMessages",
    "clearError",
    "scrollToBottom",
    "open",
    "close",
    "setMessages",
];
/// Events of the config language that are not supported yet.
const UNSUPPORTED_EVENTS: [&str; 4] = ["onSwitchChange", "onMenuClick", "onBlur", "onFocus"];

/// Returns the events of a type of block, also of one that a program adds. `None` if it is not known.
fn known_events(block_type: &str, vocabulary: &Vocabulary) -> Option<&'static [&'static str]> {
    match vocabulary.added_block(block_type) {
        Some(added) => Some(added.events),
        None => built_in_block(block_type).map(block_events),
    }
}

/// Returns the events of a type of block of the product.
fn block_events(kind: BlockType) -> &'static [&'static str] {
    match kind {
        BlockType::Button => &["onClick"],
        BlockType::TextInput
        | BlockType::TextArea
        | BlockType::NumberInput
        | BlockType::Select
        | BlockType::MultiSelect
        | BlockType::Switch
        | BlockType::Checkbox
        | BlockType::DatePicker
        | BlockType::Tabs => &["onChange"],
        BlockType::AgentChat => &CHAT_EVENTS,
        BlockType::AgentConversations => &["onSelect", "onNew", "onMenuClick"],
        BlockType::Box
        | BlockType::Columns
        | BlockType::Card
        | BlockType::Title
        | BlockType::Markdown
        | BlockType::Table
        | BlockType::Alert
        | BlockType::WorkflowTasks
        | BlockType::WorkflowRuns
        | BlockType::Libraries
        | BlockType::Added => &[],
    }
}

/// Reads the events of a block. Those with errors are reported and left out.
pub(crate) fn read_block(node: &Node, survey: &PageIndex<'_>, context: &mut Context<'_, '_>) -> Events {
    let known = type_of(node).and_then(|name| Some((name, known_events(name, context.vocabulary)?)));
    let Some((name, known)) = known else { return Events::new() };
    let fields = |event: &str| event_fields(block_type(node)?, event);
    read(node, known, &format!("a block of the type {name}"), &fields, survey, context)
}

/// Reads the events of a page.
pub(crate) fn read_page(node: &Node, survey: &PageIndex<'_>, context: &mut Context<'_, '_>) -> Events {
    read(node, &PAGE_EVENTS, "a page", &|_| Some(&[]), survey, context)
}

/// Reads the events of a page or a block. `fields` returns what `_event` reads in an event, if that
/// is known.
fn read(
    owner: &Node,
    known: &[&str],
    whose: &str,
    fields: &dyn Fn(&str) -> Option<&'static [&'static str]>,
    survey: &PageIndex<'_>,
    context: &mut Context<'_, '_>,
) -> Events {
    let Some(MapEntry { value: events, .. }) = owner.get("events") else { return Events::new() };
    if !matches!(events.kind, NodeKind::Map(_) | NodeKind::Null | NodeKind::Broken) {
        let message = format!("expected a mapping of events, found {}", events.describe());
        context.report.error(events.at, message, None);
    }
    let mut read = Events::new();
    for MapEntry { key, key_at, value } in events.entries() {
        if !known.contains(&key.as_str()) {
            if UNSUPPORTED_EVENTS.contains(&key.as_str()) {
                context.report.error(*key_at, format!("the event `{key}` is not available in this version"), None)
            } else {
                let help = suggest::help(key, known.iter().copied());
                context.report.error(*key_at, format!("{whose} has no event `{key}`"), help);
            }
        }
        read.insert(key.clone(), actions(value, fields(key), &mut Vec::new(), survey, context));
    }
    read
}

/// Reads a list of actions and adds their ids to `steps`. `event` are the fields that `_event` reads,
/// if they are known.
pub(crate) fn actions<'n>(
    list: &'n Node,
    event: Option<&[&'static str]>,
    steps: &mut Vec<&'n str>,
    survey: &PageIndex<'_>,
    context: &mut Context<'_, '_>,
) -> Vec<Action> {
    if !matches!(list.kind, NodeKind::List(_) | NodeKind::Null | NodeKind::Broken) {
        let help = "start the line with `- ` to make it a list of one".to_owned();
        let help = matches!(list.kind, NodeKind::Map(_)).then_some(help);
        context.report.error(list.at, format!("expected a list of actions, found {}", list.describe()), help);
    }
    list.items().iter().filter_map(|node| action(node, event, steps, survey, context)).collect()
}

/// Reads one action. `steps` has the ids of earlier actions.
fn action<'n>(
    node: &'n Node,
    event: Option<&[&'static str]>,
    steps: &mut Vec<&'n str>,
    survey: &PageIndex<'_>,
    context: &mut Context<'_, '_>,
) -> Option<Action> {
    for part in ["params", "skip"].iter().filter_map(|key| node.get(key)) {
        let names = ReadableNames { state: &survey.state, steps, event };
        dynamic::check(&part.value, ValueContext::Action, names, context.vocabulary, context.report);
    }
    if let Some((id, at)) = node.get("id").and_then(|entry| Some((entry.value.text()?, entry.value.at))) {
        if steps.contains(&id) {
            context.report.error(at, format!("there are two actions with the id `{id}` in this list"), None);
        }
        steps.push(id);
    }
    check_references(node, survey, context);
    let value = check_value(node, context.shape::<Action>()?, context.report)?;
    // The schema is generated from the type, so that a checked value can be deserialized.
    serde_json::from_value(value).ok()
}

/// Checks that an action refers to existing inputs, blocks, pages and endpoints.
fn check_references(node: &Node, survey: &PageIndex<'_>, context: &mut Context<'_, '_>) {
    let params = node.get("params").map_or(node, |entry| &entry.value);
    match type_of(node) {
        Some("SetState") => {
            for MapEntry { key, key_at, .. } in params.entries() {
                refuse_prototype_key(key, *key_at, context.report);
            }
        }
        Some("Reset" | "Validate") => {
            let ids = params.get("ids").map(|entry| entry.value.items()).unwrap_or_default();
            for node in ids {
                let Some(id) = node.text().filter(|id| !survey.inputs.contains(id)) else { continue };
                let help = suggest::help(id, survey.inputs.iter().copied());
                context.report.error(node.at, format!("no input on this page has the id `{id}`"), help);
            }
        }
        Some("CallEndpoint") => {
            let Some((id, at)) = text_param(params, "endpointId") else { return };
            context.page_endpoint(id, at);
        }
        Some("CallMethod") => method(params, survey, context),
        Some("Link") => link(params, context),
        _ => {}
    }
}

fn text_param<'n>(params: &'n Node, key: &str) -> Option<(&'n str, Span)> {
    params.get(key).and_then(|entry| Some((entry.value.text()?, entry.value.at)))
}

fn method(params: &Node, survey: &PageIndex<'_>, context: &mut Context<'_, '_>) {
    if let Some((id, at)) = text_param(params, "blockId")
        && !survey.chats.contains(&id)
    {
        let help = suggest::help(id, survey.chats.iter().copied());
        context.report.error(at, format!("no chat on this page has the id `{id}`"), help);
    }
    let Some((method, at)) = text_param(params, "method").filter(|(name, _)| !CHAT_METHODS.contains(name)) else {
        return;
    };
    context.report.error(at, format!("a chat has no method `{method}`"), suggest::help(method, CHAT_METHODS));
}

fn link(params: &Node, context: &mut Context<'_, '_>) {
    if params.get("pageId").is_some() == params.get("url").is_some() {
        let help = "give it a `pageId` or a `url`".to_owned();
        context.report.error(params.at, "a link leads to one place", Some(help));
    }
    if let Some((id, at)) = text_param(params, "pageId")
        && !context.pages.contains_key(id)
    {
        let help = suggest::help(id, context.pages.keys().copied());
        context.report.error(at, format!("there is no page `{id}`"), help);
    }
    if let Some((url, _)) = text_param(params, "url")
        && !is_safe_url(url)
    {
        let help = "use `https:`, `http:`, `mailto:`, or a path that starts with `/`".to_owned();
        context.report.error(params.span_at(&[PathStep::Key("url")]), "a link cannot lead there", Some(help));
    }
}

/// Returns the actions of a page or a block, without those of its blocks.
fn own_actions(owner: &Node) -> impl Iterator<Item = &Node> {
    let lists = owner.get("events").map(|entry| entry.value.entries()).unwrap_or_default();
    lists.iter().map(|list| &list.value).chain(client_tools::action_lists(owner)).flat_map(|list| list.items())
}

/// Returns the keys of the page state that the actions of a page or a block set. Of a path such as
/// `cart.items` it is the first key.
pub(crate) fn written_keys(owner: &Node) -> impl Iterator<Item = &str> {
    let actions = own_actions(owner);
    let set = actions.filter(|action| type_of(action) == Some("SetState"));
    set.filter_map(|action| action.get("params"))
        .flat_map(|params| params.value.entries())
        .filter_map(|entry| entry.key.split('.').next())
}

/// Returns the agents and endpoints that a page and its blocks refer to.
pub(crate) fn page_references(owner: &Node) -> Vec<EntryRef<'_>> {
    let mut found = Vec::new();
    let chat = owner.get("properties").filter(|_| block_type(owner) == Some(BlockType::AgentChat));
    let asked = chat.and_then(|properties| text_param(&properties.value, "agentId"));
    found.extend(asked.map(|(id, at)| (EntryKind::Agent, id, at)));
    let calls = own_actions(owner).filter(|action| type_of(action) == Some("CallEndpoint"));
    let called = calls.filter_map(|action| text_param(&action.get("params")?.value, "endpointId"));
    found.extend(called.map(|(id, at)| (EntryKind::Endpoint, id, at)));
    let blocks = owner.get("blocks").map(|entry| entry.value.items()).unwrap_or_default();
    found.extend(blocks.iter().flat_map(page_references));
    found
}

/// Returns the type of a block, if it is one of the product.
pub(crate) fn block_type(node: &Node) -> Option<BlockType> {
    built_in_block(type_of(node)?)
}
