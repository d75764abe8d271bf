//! The section `pages`.

use super::block_entry::{AgentChatEntry, BlockEntry, BlockTypeEntry, ChoiceEntry, PromptEntry, Share, WelcomeEntry};
use super::input_parts::InputParts;
use super::value::{Id, Text};
use super::{Context, refuse_prototype_key, shared_state, type_of};
use crate::shape::{Shape, decode, list_items, suggest};
use crate::source::{Node, Span, Step};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use wire::page::{
    AgentChatProperties, AgentConversationsProperties, Block, BlockKind, Choice, Columns, Empty, Input, MarkdownText,
    Page, Titled, Welcome,
};

/// A page.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-keys-not-yet" = ["auth", "events", "requests", "type"]))]
pub(crate) struct PageEntry {
    /// Its address: `/ID`.
    id: Id,
    /// The browser's title.
    title: Option<Text>,
    /// What stands on it, in order.
    #[serde(rename = "blocks", default)]
    #[schemars(with = "Vec<BlockEntry>", extend("x-checked-apart" = true))]
    _blocks: Value,
}

/// First parts of addresses that belong to the server.
const OWN_ADDRESSES: [&str; 8] = ["api", "ui", "pkg", "healthz", "readyz", "metrics", "admin", "assets"];

/// The types of blocks that hold a value.
const INPUTS: [&str; 6] = ["TextInput", "TextArea", "NumberInput", "Select", "Switch", "DatePicker"];

/// The types of blocks that hold other blocks.
const CONTAINERS: [&str; 3] = ["Box", "Columns", "Card"];

/// Reads the section.
pub(super) fn read(section: &Node, context: &mut Context<'_, '_>) -> Vec<Page> {
    list_items(section, context.report).iter().filter_map(|node| page(node, context)).collect()
}

fn page(node: &Node, context: &mut Context<'_, '_>) -> Option<Page> {
    let mut survey = Survey::default();
    survey.blocks(node, context);
    let blocks = blocks(node, &survey, context);
    let entry: PageEntry = decode(node, Shape::of::<PageEntry>()?, context.report)?;
    let id = entry.id.0;
    if OWN_ADDRESSES.contains(&id.as_str()) {
        let help = "give the page another id".to_owned();
        let at = node.at(&[Step::Key("id")]);
        context.report.error(at, format!("the address `/{id}` belongs to the server"), Some(help));
    }
    Some(Page { id, title: entry.title.map(|Text(text)| text), blocks })
}

/// What a page consists of, before its blocks are read: a chat may share an input that comes after it.
#[derive(Default)]
pub(super) struct Survey<'n> {
    ids: HashMap<&'n str, Span>,
    /// The ids of the inputs, in order.
    pub(super) inputs: Vec<&'n str>,
}

impl<'n> Survey<'n> {
    fn blocks(&mut self, parent: &'n Node, context: &mut Context<'_, '_>) {
        let children = parent.get("blocks").map(|entry| entry.value.items()).unwrap_or_default();
        for node in children {
            self.block(node, context);
            self.blocks(node, context);
        }
    }

    fn block(&mut self, node: &'n Node, context: &mut Context<'_, '_>) {
        let Some((id, at)) = node.get("id").and_then(|entry| Some((entry.value.text()?, entry.value.at))) else {
            return;
        };
        refuse_prototype_key(id, at, context.report);
        if let Some(first) = self.ids.insert(id, at) {
            let help = format!("the first one is at {}", context.report.location(first));
            context.report.error(at, format!("there are two blocks with the id `{id}` on this page"), Some(help));
        }
        if type_of(node).is_some_and(|block_type| INPUTS.contains(&block_type)) {
            self.inputs.push(id);
        }
    }
}

/// The blocks in a page or in another block; those that are wrong are reported and left out.
fn blocks(parent: &Node, survey: &Survey<'_>, context: &mut Context<'_, '_>) -> Vec<Block> {
    let Some(list) = parent.get("blocks") else { return Vec::new() };
    list_items(&list.value, context.report).iter().filter_map(|node| block(node, survey, context)).collect()
}

fn block(node: &Node, survey: &Survey<'_>, context: &mut Context<'_, '_>) -> Option<Block> {
    let blocks = blocks(node, survey, context);
    check_container(node, context);
    let entry: BlockEntry = decode(node, Shape::of::<BlockEntry>()?, context.report)?;
    let kind = kind(entry.kind, node, survey, context);
    Some(Block { id: entry.id.0, kind, blocks })
}

/// Only some blocks hold others.
fn check_container(node: &Node, context: &mut Context<'_, '_>) {
    let (Some(block_type), Some(children)) = (type_of(node), node.get("blocks")) else { return };
    if !children.value.items().is_empty() && !CONTAINERS.contains(&block_type) {
        let help = suggest::one_of(&CONTAINERS).map(|types| format!("use {types}"));
        context.report.error(children.key_at, format!("a block of the type {block_type} cannot hold others"), help);
    }
}

fn kind(entry: BlockTypeEntry, node: &Node, survey: &Survey<'_>, context: &mut Context<'_, '_>) -> BlockKind {
    let titled = |title: Option<String>| Titled { title: title.unwrap_or_default() };
    match entry {
        BlockTypeEntry::Box(_) => BlockKind::Box(Empty {}),
        BlockTypeEntry::Columns(own) => {
            check_widths(own.widths.len(), node, context);
            BlockKind::Columns(Columns { widths: own.widths.into_iter().map(|Share(share)| share).collect() })
        }
        BlockTypeEntry::Card(own) => BlockKind::Card(titled(own.title)),
        BlockTypeEntry::Title(own) => BlockKind::Title(titled(Some(own.title.0))),
        BlockTypeEntry::Markdown(own) => BlockKind::Markdown(MarkdownText { content: own.content.0 }),
        BlockTypeEntry::TextInput(own) => BlockKind::TextInput(input(own.into())),
        BlockTypeEntry::TextArea(own) => BlockKind::TextArea(input(own.into())),
        BlockTypeEntry::NumberInput(own) => BlockKind::NumberInput(input(own.into())),
        BlockTypeEntry::Select(own) => BlockKind::Select(select(input(own.into()), node, context)),
        BlockTypeEntry::Switch(own) => BlockKind::Switch(input(own.into())),
        BlockTypeEntry::DatePicker(own) => BlockKind::DatePicker(date(input(own.into()), node, context)),
        BlockTypeEntry::AgentChat(own) => BlockKind::AgentChat(agent_chat(own, node, survey, context)),
        BlockTypeEntry::AgentConversations(own) => BlockKind::AgentConversations(AgentConversationsProperties {
            new_label: own.new_label.map(|Text(text)| text),
        }),
    }
}

fn check_widths(widths: usize, node: &Node, context: &mut Context<'_, '_>) {
    let blocks = node.get("blocks").map_or(0, |entry| entry.value.items().len());
    if widths != 0 && widths != blocks {
        let at = node.at(&[Step::Key("properties"), Step::Key("widths")]);
        context.report.error(at, format!("there are {widths} widths for {blocks} blocks"), None);
    }
}

fn input(parts: InputParts) -> Input {
    let choice = |entry| match entry {
        ChoiceEntry::Short(Text(value)) => Choice { label: value.clone(), value },
        ChoiceEntry::Long(own) => {
            Choice { label: own.label.unwrap_or_else(|| own.value.clone()).0, value: own.value.0 }
        }
    };
    Input {
        label: parts.label.map(|Text(text)| text),
        placeholder: parts.placeholder,
        options: parts.options.into_iter().map(choice).collect(),
        initial: parts.initial,
    }
}

fn select(input: Input, node: &Node, context: &mut Context<'_, '_>) -> Input {
    let place = |key| [Step::Key("properties"), Step::Key(key)];
    let mut values: Vec<&str> = Vec::new();
    for (index, Choice { value, .. }) in input.options.iter().enumerate() {
        if values.contains(&value.as_str()) {
            let at = node.at(&[Step::Key("properties"), Step::Key("options"), Step::Index(index)]);
            context.report.error(at, format!("the option `{value}` is there twice"), None);
        }
        values.push(value);
    }
    if let Some(initial) =
        input.initial.as_ref().and_then(|value| value.as_str()).filter(|initial| !values.contains(initial))
    {
        let message = format!("there is no option `{initial}`");
        context.report.error(node.at(&place("initial")), message, suggest::help(initial, values.iter().copied()));
    }
    input
}

fn date(input: Input, node: &Node, context: &mut Context<'_, '_>) -> Input {
    if let Some(initial) = input.initial.as_ref().and_then(|value| value.as_str()).filter(|initial| !is_day(initial)) {
        let at = node.at(&[Step::Key("properties"), Step::Key("initial")]);
        context.report.error(at, format!("`{initial}` is no day"), Some("write it as `YYYY-MM-DD`".to_owned()));
    }
    input
}

/// Whether a text is a day of the calendar, `YYYY-MM-DD`.
fn is_day(text: &str) -> bool {
    let digits = |from: usize, to: usize| {
        let part = text.get(from..to).filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        part.and_then(|part| part.parse::<u32>().ok())
    };
    let (Some(year), Some(month), Some(day)) = (digits(0, 4), digits(5, 7), digits(8, 10)) else { return false };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    text.len() == 10 && &text[4..5] == "-" && &text[7..8] == "-" && (1..=days).contains(&day)
}

fn agent_chat(
    entry: AgentChatEntry,
    node: &Node,
    survey: &Survey<'_>,
    context: &mut Context<'_, '_>,
) -> AgentChatProperties {
    let id = entry.agent_id.0;
    if !context.agents.contains_key(id.as_str()) {
        let help = suggest::help(&id, context.agents.keys().copied());
        let help = help.or_else(|| Some("declare it in the section `agents`".to_owned()));
        let at = node.at(&[Step::Key("properties"), Step::Key("agentId")]);
        context.report.error(at, format!("there is no agent `{id}`"), help);
    }
    AgentChatProperties {
        agent_id: id,
        shared_state: shared_state::read(entry.shared_state, node, survey, context),
        welcome: entry.welcome.map(welcome),
        placeholder: entry.placeholder,
    }
}

fn welcome(entry: WelcomeEntry) -> Welcome {
    let prompt = |prompt| match prompt {
        PromptEntry::Short(Text(text)) => text,
        PromptEntry::Long(own) => own.label.0,
    };
    let prompts = entry.prompts.into_iter().map(prompt).collect();
    Welcome { title: entry.title, description: entry.description, prompts }
}
