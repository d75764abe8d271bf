//! A list that the page wires by itself (L-94 to L-96): the entries come from its properties, and what is done with them are its events.

use super::when::day;
use crate::actions::BlockEvents;
use crate::agent_chat::emblem::emblem;
use crate::bidi::is_mixed;
use crate::icons::{Shape, icon};
use crate::node::{KEY, Node, drawn, element};
use crate::numbers::pixels;
use crate::pages::drawer::close_drawers;
use crate::prelude::*;
use crate::properties::Properties;
use crate::texts::{Text, fill, t};
use leptos::ev::MouseEvent;
use leptos::html;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlElement};
use serde_json::{Value, json};
use wire::page::properties::as_text;

/// The list with its button for a new conversation. `onSelect` with `{key, previousKey}`, `onNew`, and `onMenuClick` with
/// `{action, conversationKey, conversation}`.
#[component]
pub fn ItemList(
    /// `items`, `activeKey`, `menu`, `creation`, `groupable` and `width`.
    properties: Properties,
    /// What happens.
    events: BlockEvents,
) -> AnyView {
    let root = NodeRef::<html::Div>::new();
    Effect::new(move |_| {
        if let (Some(root), Some(width)) = (root.get(), properties.value("width").as_f64()) {
            // Fails only for a name that is no property.
            let _ = HtmlElement::style(&root).set_property("max-inline-size", &pixels(width));
        }
    });
    let clicked = {
        let events = events.clone();
        move |event: MouseEvent| click(&event, properties, &events)
    };
    let new = move |_| {
        close_drawers();
        events.emit("onNew", json!({}));
    };
    let label =
        move || text(&properties.value("creation"), "label").unwrap_or_else(|| t(Text::NewConversation).to_owned());
    let class = move || {
        let align = text(&properties.value("creation"), "align");
        let align = align.filter(|align| matches!(align.as_str(), "center" | "end")).unwrap_or_default();
        Some(format!("cw-button cw-new {align}"))
    };
    view! {
        <div class="cw-conversations" node_ref=root>
            <button type="button" class=class on:click=new>
                {drawn(move || {
                    let own = text(&properties.value("creation"), "icon").filter(|icon| !icon.is_empty());
                    own.map_or_else(|| vec![icon(Shape::Plus)], |own| emblem(&own, "cw-item-icon"))
                })}
                {label}
            </button>
            <div class="cw-items" on:click=clicked>
                {drawn(move || groups(properties))}
            </div>
        </div>
    }
    .into_any()
}

fn text(of: &Value, key: &str) -> Option<String> {
    of.get(key).and_then(as_text)
}

fn items(properties: Properties) -> Vec<Value> {
    match properties.value("items") {
        Value::Array(items) => items.into_iter().filter(|item| text(item, "key").is_some()).collect(),
        _ => Vec::new(),
    }
}

/// The entries, under their groups in the order in which those come first.
fn groups(properties: Properties) -> Vec<Node> {
    let (items, grouping) = (items(properties), properties.value("groupable"));
    let entries = Entries { active: properties.text("activeKey"), menu: properties.value("menu") };
    if !operators::is_truthy(&grouping) {
        return vec![entries.list(items.iter())];
    }
    let mut names: Vec<Option<String>> = Vec::new();
    for item in &items {
        let name = text(item, "group");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let group = |name: Option<String>| {
        let list = entries.list(items.iter().filter(|item| text(item, "group") == name));
        match name {
            Some(name) => heading(&grouping, &name, list),
            None => list,
        }
    };
    names.into_iter().map(group).collect()
}

/// A group under its heading; folded unless it is one of `defaultExpandedKeys`, where those are given.
fn heading(grouping: &Value, name: &str, list: Node) -> Node {
    let label = match grouping.get("label") {
        Some(Value::Object(labels)) => labels.get(name).and_then(as_text),
        _ => None,
    };
    let label = label.unwrap_or_else(|| name.to_owned());
    if grouping.get("collapsible") == Some(&Value::Bool(false)) {
        return element("div")
            .with(KEY, name)
            .around(vec![element("h3").with("class", "cw-item-group").text(label), list]);
    }
    let open = match grouping.get("defaultExpandedKeys").and_then(Value::as_array) {
        Some(keys) => keys.iter().any(|key| as_text(key).as_deref() == Some(name)),
        None => true,
    };
    let details = if open { element("details").with("open", "") } else { element("details") };
    // What the reader has folded stays so, whatever comes before it.
    details.with(KEY, name).around(vec![element("summary").with("class", "cw-item-group").text(label), list])
}

/// What all entries share.
struct Entries {
    active: Option<String>,
    menu: Value,
}

impl Entries {
    fn list<'a>(&self, items: impl Iterator<Item = &'a Value>) -> Node {
        element("ul").with("class", "cw-conversation-list").around(items.map(|item| self.entry(item)).collect())
    }

    fn entry(&self, item: &Value) -> Node {
        let key = text(item, "key").unwrap_or_default();
        let label = text(item, "label").unwrap_or_else(|| key.clone());
        let is = |property: &str| item.get(property).is_some_and(operators::is_truthy);
        let mut link = element("button").with("type", "button").with("class", "cw-conversation-link");
        if self.active.as_ref() == Some(&key) {
            link = link.with("aria-current", "true");
        }
        if is("disabled") {
            link = link.with("disabled", "");
        }
        let mut below = Vec::new();
        if is("loading") {
            let words = element("span").with("class", "cw-visually-hidden").text(t(Text::AnsweringNow));
            below.push(element("span").with("class", "cw-running").around(vec![words]));
        }
        below.extend(when(item).map(|when| element("span").text(when)));
        let class = if is_mixed(&label) { "cw-conversation-title cw-mixed" } else { "cw-conversation-title" };
        let title = element("span").with("class", class).with("dir", "auto").text(label.as_str());
        let mut content = vec![with_icon(item, title)];
        if !below.is_empty() {
            content.push(element("span").with("class", "cw-conversation-when").around(below));
        }
        let mut row = vec![link.around(content)];
        row.extend(self.menu(&label));
        element("li").with("class", "cw-conversation").with(KEY, key).around(row)
    }

    /// A menu that opens without script.
    fn menu(&self, label: &str) -> Option<Node> {
        let entries = self.menu.as_array().filter(|entries| !entries.is_empty())?;
        let entry = |entry: &Value| {
            let action = text(entry, "key")?;
            let danger = if entry.get("danger").is_some_and(operators::is_truthy) { "cw-danger" } else { "" };
            let label = text(entry, "label").unwrap_or_else(|| action.clone());
            let button = element("button").with("type", "button").with("class", danger).with("data-action", action);
            Some(button.around(vec![with_icon(entry, element("span").text(label))]))
        };
        let opener =
            element("summary").with("class", "cw-icon-button").with("aria-label", fill(Text::OptionsFor, &[label]));
        Some(element("details").with("class", "cw-item-menu").with("name", "cw-item-menu").around(vec![
            opener.around(vec![icon(Shape::More)]),
            element("div").with("class", "cw-menu").around(entries.iter().filter_map(entry).collect()),
        ]))
    }
}

/// What stands for an item, a menu's entry or a button, with its icon before it.
fn with_icon(of: &Value, words: Node) -> Node {
    match text(of, "icon").filter(|icon| !icon.is_empty()) {
        Some(icon) => {
            let mut named = emblem(&icon, "cw-item-icon");
            named.push(words);
            element("span").with("class", "cw-item-named").around(named)
        }
        None => words,
    }
}

/// A number is Unix time in milliseconds; a text stands as it is.
fn when(item: &Value) -> Option<String> {
    let timestamp = item.get("timestamp")?;
    match timestamp.as_i64() {
        Some(at) => Some(day(at)),
        None => as_text(timestamp),
    }
}

fn click(event: &MouseEvent, properties: Properties, events: &BlockEvents) {
    let Some(target) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else { return };
    let closest = |selector: &str| target.closest(selector).ok().flatten();
    let Some(key) = closest("li[data-key]").and_then(|row| row.get_attribute(KEY)) else { return };
    if let Some(action) = closest("[data-action]") {
        if let Some(menu) = closest("details") {
            let _ = menu.remove_attribute("open");
        }
        let item = items(properties).into_iter().find(|item| text(item, "key").as_ref() == Some(&key));
        let action = action.get_attribute("data-action");
        events.emit("onMenuClick", json!({ "action": action, "conversationKey": key, "conversation": item }));
    } else if closest(".cw-conversation-link").is_some() {
        close_drawers();
        events.emit("onSelect", json!({ "key": key, "previousKey": properties.text("activeKey") }));
    }
}
