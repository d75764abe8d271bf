//! Blocks of a page.

use super::events::EventContext;
use super::{Notes, chat, contents, events, input, layout, leave_out_keys};
use crate::tree::{Tree, Value};

/// Blocks that only arrange others.
const BOXES: [&str; 11] =
    ["Context", "Layout", "Content", "Sider", "Header", "Footer", "Row", "Grid", "Span", "PageContent", "Flex"];
/// Blocks that can be closed, which are always shown instead.
const FRAMES: [&str; 4] = ["Modal", "Drawer", "Collapse", "Popover"];
/// Blocks that hold others in both languages.
const CONTAINERS: [&str; 4] = ["Box", "Card", "Columns", "Tabs"];
/// Keys about the look of a block.
const LOOKS: [&str; 7] = ["style", "class", "className", "styles", "loading", "skeleton", "theme"];

/// Converts a list of blocks.
pub(super) fn convert(list: &mut Tree, context: &EventContext<'_>, notes: &mut Notes<'_>) {
    super::make_list(list);
    list.items_mut().iter_mut().for_each(|block| convert_block(block, context, notes));
    layout::arrange(list, notes);
}

fn convert_block(block: &mut Tree, context: &EventContext<'_>, notes: &mut Notes<'_>) {
    if !block.is_map() {
        return;
    }
    let kind = block.text_of("type").unwrap_or_default().to_owned();
    if kind == "Tabs" {
        tabs(block);
    }
    take_slots(block, notes);
    leave_out_looks(block, notes);
    match kind.as_str() {
        _ if BOXES.contains(&kind.as_str()) => become_box(block, notes),
        _ if FRAMES.contains(&kind.as_str()) => {
            notes.changed(block.at, format!("a block of the type `{kind}` is a card, which is always shown"), "");
            retype(block, "Card");
        }
        "Paragraph" | "MarkdownWithCode" | "DangerousMarkdown" => retype(block, "Markdown"),
        "Title" => {
            if let Some(properties) = block.get_mut("properties") {
                properties.rename("content", "title");
            }
        }
        "Alert" => {
            if let Some(properties) = block.get_mut("properties") {
                for (from, to) in [("type", "status"), ("message", "title"), ("description", "content")] {
                    properties.rename(from, to);
                }
            }
        }
        "Button" => button(block),
        "AgentChat" => chat::convert(block, context, notes),
        "AgentConversations" => chat::convert_list(block, notes),
        _ if CONTAINERS.contains(&kind.as_str()) => {}
        _ if kind.starts_with("AgGrid") => grid(block, notes),
        _ => {
            let has_blocks = block.get("blocks").is_some_and(|blocks| !blocks.items().is_empty());
            if !input::convert(block, &kind, notes) && has_blocks {
                notes.changed(block.at, format!("a block of the type `{kind}` is a box around its blocks"), "");
                become_box(block, notes);
            }
        }
    }
    events::convert(block, context, notes);
    if let Some(list) = block.get_mut("blocks") {
        convert(list, context, notes);
    }
}

/// Gives a block another type.
pub(super) fn retype(block: &mut Tree, kind: &str) {
    block.set("type", Tree::text_at(block.at, kind));
}

fn become_box(block: &mut Tree, notes: &mut Notes<'_>) {
    retype(block, "Box");
    if let Some(properties) = block.remove("properties") {
        for entry in properties.value.entries() {
            notes.left_out(entry.key_at, format!("`{}` of a block that arranges others", entry.key), "");
        }
    }
}

/// Moves the blocks of `slots` or `areas` to `blocks`. Only the content is taken over.
pub(super) fn take_slots(owner: &mut Tree, notes: &mut Notes<'_>) {
    for key in ["slots", "areas"] {
        let Some(slots) = owner.remove(key) else { continue };
        let Value::Map(entries) = slots.value.value else { continue };
        for mut entry in entries {
            match (entry.key.as_str(), entry.value.remove("blocks")) {
                ("content", Some(blocks)) => owner.set("blocks", blocks.value),
                (name, blocks) => notes.left_out(
                    entry.key_at,
                    format!(
                        "the blocks of the slot `{name}`{}",
                        blocks.map(|blocks| contents::describe(&blocks.value)).unwrap_or_default()
                    ),
                    "move them to `blocks`, or write the page in Leptos",
                ),
            }
        }
    }
}

/// Leaves out what is about the look.
pub(super) fn leave_out_looks(owner: &mut Tree, notes: &mut Notes<'_>) {
    let help = "the look is that of the server; see docs/embedding.md for CSS variables";
    LOOKS.iter().for_each(|key| leave_out_keys(owner, &[(key, help)], notes));
}

/// Converts tabs, which have a slot for each.
fn tabs(block: &mut Tree) {
    let at = block.at;
    let Some(tabs) = block.get_mut("properties").and_then(|properties| properties.remove("tabs")) else { return };
    let Some(mut slots) = block.remove("slots").or_else(|| block.remove("areas")) else { return };
    let (mut titles, mut boxes) = (Vec::new(), Vec::new());
    let id = block.text_of("id").unwrap_or("tabs").to_owned();
    for (tab, number) in tabs.value.items().iter().zip(1..) {
        let key = tab.text_of("key").or_else(|| tab.text()).unwrap_or_default();
        titles.push(Tree::text_at(tab.at, tab.text_of("title").unwrap_or(key)));
        let blocks = slots.value.remove(key).and_then(|mut slot| slot.value.remove("blocks"));
        let blocks = blocks.map_or_else(|| Tree::list_at(tab.at, Vec::new()), |entry| entry.value);
        let id = Tree::text_at(tab.at, format!("{id}_{number}"));
        boxes.push(Tree::map_at(tab.at, vec![("id", id), ("type", Tree::text_at(tab.at, "Box")), ("blocks", blocks)]));
    }
    if let Some(properties) = block.map_of("properties") {
        properties.set("titles", Tree::list_at(at, titles));
    }
    block.set("blocks", Tree::list_at(at, boxes));
}

fn button(block: &mut Tree) {
    let Some(properties) = block.get_mut("properties") else { return };
    let at = properties.at;
    let kind = properties.remove("type").and_then(|entry| entry.value.text().map(str::to_owned));
    let is_danger = properties.remove("danger").is_some_and(|entry| matches!(entry.value.value, Value::Bool(true)));
    let variant = match kind.as_deref() {
        _ if is_danger => "danger",
        Some("primary" | "danger") => kind.as_deref().unwrap_or_default(),
        _ => return,
    };
    properties.set("variant", Tree::text_at(at, variant));
}

/// Converts a grid to a table.
fn grid(block: &mut Tree, notes: &mut Notes<'_>) {
    retype(block, "Table");
    let Some(properties) = block.get_mut("properties") else { return };
    properties.rename("rowData", "rows");
    properties.rename("columnDefs", "columns");
    let Some(columns) = properties.get_mut("columns") else { return };
    for column in columns.items_mut() {
        column.rename("field", "key");
        column.rename("headerName", "title");
        let Value::Map(entries) = &mut column.value else { continue };
        entries.retain(|entry| {
            let is_known = ["key", "title"].contains(&entry.key.as_str());
            if !is_known {
                notes.left_out(entry.key_at, format!("`{}` of a column", entry.key), "a column has a key and a title");
            }
            is_known
        });
    }
}
