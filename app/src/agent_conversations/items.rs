//! A conversation list that the page provides itself: the entries come from the block's properties,
//! and what the user does with them is reported as events of the block.

use super::actions::move_menu_focus;
use super::chunk_table::ListEvents;
use crate::actions::BlockEvents;
use crate::chat_context::use_chat_context;
use crate::pages::drawer::close_drawers;
use crate::prelude::*;
use crate::properties::Properties;
use crate::texts::{Text, fill, t};
use crate::ui::bidi::has_mixed_directions;
use crate::ui::dates::utc_date;
use crate::ui::emblem::emblem;
use crate::ui::icons::{Shape, icon};
use crate::ui::node::{KEY, Node, element, reactive_nodes};
use crate::ui::numbers::css_pixels;
use leptos::ev;
use leptos::ev::{FocusEvent, KeyboardEvent, MouseEvent};
use leptos::html;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, EventTarget, HtmlElement, Node as DomNode};
use serde_json::json;
use wire::page::{Alignment, ConversationItem, Grouping, ItemListProperties, MenuItem, Property, as_text};

/// The list with its button for a new conversation. Emits `onSelect` with `{key, previousKey}`,
/// `onNew`, and `onMenuClick` with `{action, conversationKey, conversation}`.
#[component]
pub fn ItemList(
    /// Reads `items`, `activeKey`, `menu`, `creation`, `groupable` and `width`.
    properties: Properties,
    /// The events of the block.
    events: BlockEvents,
) -> AnyView {
    let root = NodeRef::<html::Div>::new();
    limit_width(root, properties, Some(ItemListProperties::ITEMS_WIDTH));
    Effect::new(move |_| {
        let clicked = window_event_listener(ev::click, |event| close_menu_outside(event.target()));
        on_cleanup(move || clicked.remove());
    });
    let left = |event: FocusEvent| {
        if event.related_target().is_some() {
            close_menu_outside(event.related_target());
        }
    };
    let clicked = {
        let events = events.clone();
        move |event: MouseEvent| handle_click(&event, properties, &events)
    };
    let new = move |_| {
        close_drawers();
        events.emit("onNew", json!({}));
    };
    view! {
        <div class="cw-conversations" node_ref=root>
            <button type="button" class=move || Some(creation_class(properties)) on:click=new>
                {creation_content(properties, t(Text::NewConversation).to_owned())}
            </button>
            <div class="cw-items" on:click=clicked on:keydown=handle_menu_key on:focusout=left>
                {reactive_nodes(move || groups(properties))}
            </div>
        </div>
    }
    .into_any()
}

/// Renders the link for a new conversation above the stored ones, and limits the width of the list.
pub(super) fn list_head(properties: Properties, root: NodeRef<html::Div>, id: String, label: String) -> AnyView {
    let (chat, ListEvents(events, _)) = (use_chat_context(), expect_context());
    limit_width(root, properties, None);
    let new = move |_| {
        close_drawers();
        events.emit("onNew", json!({}));
    };
    view! {
        <a id=id class=move || Some(creation_class(properties)) href=move || Some(chat.href(None)) on:click=new>
            {creation_content(properties, label)}
        </a>
    }
    .into_any()
}

/// Sets the maximum width of the list, which holds where the list is a column and not a drawer.
fn limit_width(root: NodeRef<html::Div>, properties: Properties, default: Option<f64>) {
    Effect::new(move |_| {
        let width = properties.get::<ItemListProperties>().width.or(default);
        if let (Some(root), Some(width)) = (root.get(), width) {
            // Fails only for an unknown property.
            let _ = HtmlElement::style(&root).set_property("--cw-list-width", &css_pixels(width));
        }
    });
}

fn creation_class(properties: Properties) -> String {
    let align = match properties.get::<ItemListProperties>().creation.align {
        Alignment::Start => "",
        align => align.name(),
    };
    format!("cw-button cw-new {align}")
}

/// Renders the icon and the label of the button for a new conversation.
fn creation_content(properties: Properties, default: String) -> AnyView {
    let creation = move || properties.get::<ItemListProperties>().creation;
    view! {
        {reactive_nodes(move || {
            let own = creation().icon.filter(|icon| !icon.is_empty());
            own.map_or_else(|| vec![icon(Shape::PLUS)], |own| emblem(&own, "cw-item-icon"))
        })}
        {move || creation().label.unwrap_or_else(|| default.clone())}
    }
    .into_any()
}

/// Returns the open menu; the browser closes it when another one opens.
fn open_menu() -> Option<Element> {
    document().query_selector("details.cw-item-menu[open]").ok().flatten()
}

/// Closes the open menu unless the target is in it.
fn close_menu_outside(target: Option<EventTarget>) {
    let target = target.and_then(|target| target.dyn_into::<DomNode>().ok());
    if let Some(menu) = open_menu().filter(|menu| !menu.contains(target.as_ref())) {
        let _ = menu.remove_attribute("open");
    }
}

/// Handles a key in an open menu: Escape closes it, the arrow keys move the focus.
fn handle_menu_key(event: KeyboardEvent) {
    let Some(menu) = open_menu() else { return };
    let find = |selector: &str| menu.query_selector(selector).ok()??.dyn_into::<HtmlElement>().ok();
    let Some(opener) = find("summary") else { return };
    let is_on_opener = document().active_element().is_some_and(|focused| *focused == **opener);
    match event.key().as_str() {
        "Escape" => {
            let _ = menu.remove_attribute("open");
            let _ = opener.focus();
        }
        "ArrowDown" if is_on_opener => drop(find("[data-action]").map(|first| first.focus())),
        _ if is_on_opener => return,
        _ => return move_menu_focus(event),
    }
    // Otherwise Escape would also close the drawer, and the page would scroll.
    event.prevent_default();
    event.stop_propagation();
}

/// Returns the entries under their groups. The groups are in the order of their first entries.
fn groups(properties: Properties) -> Vec<Node> {
    let ItemListProperties { items, active_key, menu, groupable, .. } = properties.get();
    let items: Vec<_> = items.iter().filter_map(ConversationItem::from_value).collect();
    let entries = EntryRenderer { active: active_key, menu };
    let Some(grouping) = groupable else { return vec![entries.list(items.iter())] };
    let mut names: Vec<&Option<String>> = Vec::new();
    for item in &items {
        if !names.contains(&&item.group) {
            names.push(&item.group);
        }
    }
    let group = |name: &Option<String>| {
        let list = entries.list(items.iter().filter(|item| item.group == *name));
        match name {
            Some(name) => group_node(&grouping, name, list),
            None => list,
        }
    };
    names.into_iter().map(group).collect()
}

/// Returns a group under its heading. It is collapsed unless `defaultExpandedKeys` is missing or
/// contains it.
fn group_node(grouping: &Grouping, name: &str, list: Node) -> Node {
    let label = grouping.label.get(name).and_then(as_text).unwrap_or_else(|| name.to_owned());
    if !grouping.collapsible {
        return element("div")
            .attr(KEY, name)
            .children(vec![element("h3").attr("class", "cw-item-group").text(label), list]);
    }
    let open = grouping.default_expanded_keys.as_ref().is_none_or(|keys| keys.iter().any(|key| key == name));
    let details = if open { element("details").attr("open", "") } else { element("details") };
    // The key keeps the state of a group that the user collapsed, even if others are inserted
    // before it.
    details.attr(KEY, name).children(vec![element("summary").attr("class", "cw-item-group").text(label), list])
}

/// Renders entries with the properties that they share.
struct EntryRenderer {
    active: Option<String>,
    menu: Vec<MenuItem>,
}

impl EntryRenderer {
    fn list<'a>(&self, items: impl Iterator<Item = &'a ConversationItem>) -> Node {
        element("ul").attr("class", "cw-conversation-list").children(items.map(|item| self.entry(item)).collect())
    }

    fn entry(&self, item: &ConversationItem) -> Node {
        let key = item.key.as_str();
        let label = item.label.as_deref().unwrap_or(key);
        let mut link = element("button").attr("type", "button").attr("class", "cw-conversation-link");
        if self.active.as_deref() == Some(key) {
            link = link.attr("aria-current", "true");
        }
        if item.disabled {
            link = link.attr("disabled", "");
        }
        let mut below = Vec::new();
        if item.loading {
            let words = element("span").attr("class", "cw-visually-hidden").text(t(Text::AnsweringNow));
            below.push(element("span").attr("class", "cw-running").children(vec![words]));
        }
        below.extend(timestamp_text(item).map(|when| element("span").text(when)));
        let class =
            if has_mixed_directions(label) { "cw-conversation-title cw-mixed" } else { "cw-conversation-title" };
        let title = element("span").attr("class", class).attr("dir", "auto").text(label);
        let mut content = vec![with_icon(item.icon.as_deref(), title)];
        if !below.is_empty() {
            content.push(element("span").attr("class", "cw-conversation-when").children(below));
        }
        let mut row = vec![link.children(content)];
        row.extend(self.menu(label));
        element("li").attr("class", "cw-conversation").attr(KEY, key).children(row)
    }

    /// Returns a menu that opens without a script.
    fn menu(&self, label: &str) -> Option<Node> {
        if self.menu.is_empty() {
            return None;
        }
        let entry = |entry: &MenuItem| {
            let danger = if entry.danger { "cw-danger" } else { "" };
            let label = entry.label.as_deref().unwrap_or(&entry.key);
            let button = element("button").attr("type", "button").attr("class", danger);
            let button = button.attr("data-action", entry.key.as_str());
            button.children(vec![with_icon(entry.icon.as_deref(), element("span").text(label))])
        };
        let opener =
            element("summary").attr("class", "cw-icon-button").attr("aria-label", fill(Text::OptionsFor, &[label]));
        Some(element("details").attr("class", "cw-item-menu").attr("name", "cw-item-menu").children(vec![
            opener.children(vec![icon(Shape::MORE)]),
            element("div").attr("class", "cw-menu").children(self.menu.iter().map(entry).collect()),
        ]))
    }
}

/// Returns the label of an entry or of a menu item, preceded by its icon.
fn with_icon(icon: Option<&str>, words: Node) -> Node {
    match icon.filter(|icon| !icon.is_empty()) {
        Some(icon) => {
            let mut named = emblem(icon, "cw-item-icon");
            named.push(words);
            element("span").attr("class", "cw-item-named").children(named)
        }
        None => words,
    }
}

/// Returns the time of an entry: a number is Unix time in milliseconds, a text is shown as it is.
fn timestamp_text(item: &ConversationItem) -> Option<String> {
    let timestamp = item.timestamp.as_ref()?;
    match timestamp.as_i64() {
        Some(at) => Some(utc_date(at)),
        None => as_text(timestamp),
    }
}

fn handle_click(event: &MouseEvent, properties: Properties, events: &BlockEvents) {
    let Some(target) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else { return };
    let closest = |selector: &str| target.closest(selector).ok().flatten();
    let Some(key) = closest("li[data-key]").and_then(|row| row.get_attribute(KEY)) else { return };
    if let Some(action) = closest("[data-action]") {
        if let Some(menu) = closest("details") {
            let _ = menu.remove_attribute("open");
        }
        // The whole item, with the keys that the page gave it for its own use.
        let mut items = properties.get::<ItemListProperties>().items.into_iter();
        let item = items.find(|item| ConversationItem::from_value(item).is_some_and(|item| item.key == key));
        let action = action.get_attribute("data-action");
        events.emit("onMenuClick", json!({ "action": action, "conversationKey": key, "conversation": item }));
    } else if closest(".cw-conversation-link").is_some() {
        close_drawers();
        events
            .emit("onSelect", json!({ "key": key, "previousKey": properties.get::<ItemListProperties>().active_key }));
    }
}
