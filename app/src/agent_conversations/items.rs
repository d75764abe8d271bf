//! A conversation list that the page provides itself: the entries come from the block's properties,
//! and what the user does with them is reported as events of the block.

use crate::actions::BlockEvents;
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
use leptos::ev::MouseEvent;
use leptos::html;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlElement};
use serde_json::{Value, json};
use wire::page::properties::as_text;

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
    Effect::new(move |_| {
        if let (Some(root), Some(width)) = (root.get(), properties.value("width").as_f64()) {
            // Fails only for an unknown property.
            let _ = HtmlElement::style(&root).set_property("max-inline-size", &css_pixels(width));
        }
    });
    let clicked = {
        let events = events.clone();
        move |event: MouseEvent| handle_click(&event, properties, &events)
    };
    let new = move |_| {
        close_drawers();
        events.emit("onNew", json!({}));
    };
    let label = move || {
        text_property(&properties.value("creation"), "label").unwrap_or_else(|| t(Text::NewConversation).to_owned())
    };
    let class = move || {
        let align = text_property(&properties.value("creation"), "align");
        let align = align.filter(|align| matches!(align.as_str(), "center" | "end")).unwrap_or_default();
        Some(format!("cw-button cw-new {align}"))
    };
    view! {
        <div class="cw-conversations" node_ref=root>
            <button type="button" class=class on:click=new>
                {reactive_nodes(move || {
                    let own = text_property(&properties.value("creation"), "icon").filter(|icon| !icon.is_empty());
                    own.map_or_else(|| vec![icon(Shape::Plus)], |own| emblem(&own, "cw-item-icon"))
                })}
                {label}
            </button>
            <div class="cw-items" on:click=clicked>
                {reactive_nodes(move || groups(properties))}
            </div>
        </div>
    }
    .into_any()
}

fn text_property(of: &Value, key: &str) -> Option<String> {
    of.get(key).and_then(as_text)
}

fn items(properties: Properties) -> Vec<Value> {
    match properties.value("items") {
        Value::Array(items) => items.into_iter().filter(|item| text_property(item, "key").is_some()).collect(),
        _ => Vec::new(),
    }
}

/// Returns the entries under their groups. The groups are in the order of their first entries.
fn groups(properties: Properties) -> Vec<Node> {
    let (items, grouping) = (items(properties), properties.value("groupable"));
    let entries = EntryRenderer { active: properties.text("activeKey"), menu: properties.value("menu") };
    if !operators::is_truthy(&grouping) {
        return vec![entries.list(items.iter())];
    }
    let mut names: Vec<Option<String>> = Vec::new();
    for item in &items {
        let name = text_property(item, "group");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let group = |name: Option<String>| {
        let list = entries.list(items.iter().filter(|item| text_property(item, "group") == name));
        match name {
            Some(name) => group_node(&grouping, &name, list),
            None => list,
        }
    };
    names.into_iter().map(group).collect()
}

/// Returns a group under its heading. It is collapsed unless `defaultExpandedKeys` is missing or
/// contains it.
fn group_node(grouping: &Value, name: &str, list: Node) -> Node {
    let label = match grouping.get("label") {
        Some(Value::Object(labels)) => labels.get(name).and_then(as_text),
        _ => None,
    };
    let label = label.unwrap_or_else(|| name.to_owned());
    if grouping.get("collapsible") == Some(&Value::Bool(false)) {
        return element("div")
            .attr(KEY, name)
            .children(vec![element("h3").attr("class", "cw-item-group").text(label), list]);
    }
    let open = match grouping.get("defaultExpandedKeys").and_then(Value::as_array) {
        Some(keys) => keys.iter().any(|key| as_text(key).as_deref() == Some(name)),
        None => true,
    };
    let details = if open { element("details").attr("open", "") } else { element("details") };
    // The key keeps the state of a group that the user collapsed, even if others are inserted
    // before it.
    details.attr(KEY, name).children(vec![element("summary").attr("class", "cw-item-group").text(label), list])
}

/// Renders entries with the properties that they share.
struct EntryRenderer {
    active: Option<String>,
    menu: Value,
}

impl EntryRenderer {
    fn list<'a>(&self, items: impl Iterator<Item = &'a Value>) -> Node {
        element("ul").attr("class", "cw-conversation-list").children(items.map(|item| self.entry(item)).collect())
    }

    fn entry(&self, item: &Value) -> Node {
        let key = text_property(item, "key").unwrap_or_default();
        let label = text_property(item, "label").unwrap_or_else(|| key.clone());
        let is = |property: &str| item.get(property).is_some_and(operators::is_truthy);
        let mut link = element("button").attr("type", "button").attr("class", "cw-conversation-link");
        if self.active.as_ref() == Some(&key) {
            link = link.attr("aria-current", "true");
        }
        if is("disabled") {
            link = link.attr("disabled", "");
        }
        let mut below = Vec::new();
        if is("loading") {
            let words = element("span").attr("class", "cw-visually-hidden").text(t(Text::AnsweringNow));
            below.push(element("span").attr("class", "cw-running").children(vec![words]));
        }
        below.extend(timestamp_text(item).map(|when| element("span").text(when)));
        let class =
            if has_mixed_directions(&label) { "cw-conversation-title cw-mixed" } else { "cw-conversation-title" };
        let title = element("span").attr("class", class).attr("dir", "auto").text(label.as_str());
        let mut content = vec![with_icon(item, title)];
        if !below.is_empty() {
            content.push(element("span").attr("class", "cw-conversation-when").children(below));
        }
        let mut row = vec![link.children(content)];
        row.extend(self.menu(&label));
        element("li").attr("class", "cw-conversation").attr(KEY, key).children(row)
    }

    /// Returns a menu that opens without a script.
    fn menu(&self, label: &str) -> Option<Node> {
        let entries = self.menu.as_array().filter(|entries| !entries.is_empty())?;
        let entry = |entry: &Value| {
            let action = text_property(entry, "key")?;
            let danger = if entry.get("danger").is_some_and(operators::is_truthy) { "cw-danger" } else { "" };
            let label = text_property(entry, "label").unwrap_or_else(|| action.clone());
            let button = element("button").attr("type", "button").attr("class", danger).attr("data-action", action);
            Some(button.children(vec![with_icon(entry, element("span").text(label))]))
        };
        let opener =
            element("summary").attr("class", "cw-icon-button").attr("aria-label", fill(Text::OptionsFor, &[label]));
        Some(element("details").attr("class", "cw-item-menu").attr("name", "cw-item-menu").children(vec![
            opener.children(vec![icon(Shape::More)]),
            element("div").attr("class", "cw-menu").children(entries.iter().filter_map(entry).collect()),
        ]))
    }
}

/// Returns the label of an entry, of a menu item or of a button, preceded by its icon.
fn with_icon(of: &Value, words: Node) -> Node {
    match text_property(of, "icon").filter(|icon| !icon.is_empty()) {
        Some(icon) => {
            let mut named = emblem(&icon, "cw-item-icon");
            named.push(words);
            element("span").attr("class", "cw-item-named").children(named)
        }
        None => words,
    }
}

/// Returns the time of an entry: a number is Unix time in milliseconds, a text is shown as it is.
fn timestamp_text(item: &Value) -> Option<String> {
    let timestamp = item.get("timestamp")?;
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
        let item = items(properties).into_iter().find(|item| text_property(item, "key").as_ref() == Some(&key));
        let action = action.get_attribute("data-action");
        events.emit("onMenuClick", json!({ "action": action, "conversationKey": key, "conversation": item }));
    } else if closest(".cw-conversation-link").is_some() {
        close_drawers();
        events.emit("onSelect", json!({ "key": key, "previousKey": properties.text("activeKey") }));
    }
}
