//! Events of pages and blocks, and their actions.

use super::request::Requests;
use super::{Notes, event_fields, leave_out_keys, operators};
use crate::tree::{Entry, Tree, Value};
use config::Span;

/// The requests to which actions of a page refer.
pub(super) struct EventContext<'a> {
    pub(super) requests: &'a Requests,
}

/// The events of Lowdefy when a page is opened, which are one.
const INITIAL: [&str; 6] = ["onInit", "onMount", "onEnter", "onInitAsync", "onMountAsync", "onEnterAsync"];

/// Joins the events that occur when a page is opened to `onInit`.
pub(super) fn merge_initial(page: &mut Tree) {
    let Some(Value::Map(events)) = page.get_mut("events").map(|events| &mut events.value) else { return };
    let mut actions: Vec<Tree> = Vec::new();
    let mut first: Option<Entry> = None;
    for name in INITIAL {
        let Some(index) = events.iter().position(|entry| entry.key == name) else { continue };
        let mut entry = events.remove(index);
        unwrap(&mut entry.value);
        match &mut first {
            None => first = Some(entry),
            Some(_) => {
                if let Value::List(items) = entry.value.value {
                    actions.extend(items);
                }
            }
        }
    }
    if let Some(mut entry) = first {
        "onInit".clone_into(&mut entry.key);
        if let Value::List(items) = &mut entry.value.value {
            items.append(&mut actions);
        }
        events.insert(0, entry);
    }
}

/// Converts the events of a page or a block.
pub(super) fn convert(owner: &mut Tree, context: &EventContext<'_>, notes: &mut Notes<'_>) {
    let block = owner.text_of("type").unwrap_or_default().to_owned();
    let Some(Value::Map(events)) = owner.get_mut("events").map(|events| &mut events.value) else { return };
    for event in events {
        event_fields::rename(&block, &event.key, &mut event.value, notes);
        leave_out_keys(
            &mut event.value,
            &[("catch", "a `Message` in the chat's `onError` can say that something failed"), ("debounce", "")],
            notes,
        );
        unwrap(&mut event.value);
        if let Value::List(actions) = &mut event.value.value {
            let old = std::mem::take(actions);
            actions.extend(old.into_iter().flat_map(|action| convert_action(action, context, notes)));
            make_ids_unique(actions);
        }
    }
}

/// Makes a list of `{ try: [...] }`, `{ actions: [...] }` or a single action.
fn unwrap(event: &mut Tree) {
    if let Some(actions) = event.remove("try").or_else(|| event.remove("actions")) {
        *event = actions.value;
    }
    super::make_list(event);
}

/// Converts an action to one or several.
fn convert_action(mut action: Tree, context: &EventContext<'_>, notes: &mut Notes<'_>) -> Vec<Tree> {
    let at = action.at;
    let messages = "show a `Message` before and after the action";
    leave_out_keys(&mut action, &[("messages", messages), ("async", ""), ("onError", "")], notes);
    match action.text_of("type").unwrap_or_default() {
        "DisplayMessage" | "Notification" => {
            action.set("type", Tree::text_at(at, "Message"));
            if let Some(params) = action.get_mut("params") {
                params.rename("message", "content");
                params.rename("type", "status");
            }
            vec![action]
        }
        "Link" => {
            link(&mut action);
            vec![action]
        }
        "Validate" | "Reset" => {
            validate(&mut action);
            vec![action]
        }
        "CallAPI" | "CallApi" => call_endpoint(action),
        "Request" => request(&action, context, notes),
        _ => vec![action],
    }
}

fn link(action: &mut Tree) {
    let Some(params) = action.get_mut("params") else { return };
    let at = params.at;
    if params.text().is_some() {
        let page = params.take();
        *params = Tree::map_at(at, vec![("pageId", page)]);
    }
    if params.get("home").is_some_and(|home| matches!(home.value, Value::Bool(true))) {
        params.remove("home");
        params.set("url", Tree::text_at(at, "/"));
    }
}

/// Converts a block's id, or a list of them, to `ids`.
fn validate(action: &mut Tree) {
    let Some(params) = action.get_mut("params") else { return };
    let at = params.at;
    let ids = match &params.value {
        Value::Text(_) => Tree::list_at(at, vec![params.take()]),
        Value::List(_) => params.take(),
        Value::Bool(true) => {
            action.remove("params");
            return;
        }
        _ => return,
    };
    *params = Tree::map_at(at, vec![("ids", ids)]);
}

/// Converts a call of an endpoint, whose response is then in the page state as well.
fn call_endpoint(mut action: Tree) -> Vec<Tree> {
    let at = action.at;
    action.set("type", Tree::text_at(at, "CallEndpoint"));
    let endpoint = action.get("params").and_then(|params| params.text_of("endpointId")).unwrap_or_default();
    let key = operators::api_key(endpoint);
    if action.text_of("id").is_none() {
        action.set("id", Tree::text_at(at, key.clone()));
    }
    let id = action.text_of("id").unwrap_or_default().to_owned();
    let stored = store_result(&action, &key, &id);
    vec![action, stored]
}

/// Converts a call of one or several requests of the page.
fn request(action: &Tree, context: &EventContext<'_>, notes: &mut Notes<'_>) -> Vec<Tree> {
    let params = action.get("params");
    let named: Vec<(String, Span)> = match params.map(|params| &params.value) {
        Some(Value::Text(id)) => vec![(id.clone(), action.at)],
        Some(Value::List(ids)) => ids.iter().filter_map(|id| Some((id.text()?.to_owned(), id.at))).collect(),
        Some(Value::Map(_)) if params.is_some_and(|params| params.get("requestId").is_some()) => {
            let id = params.and_then(|params| params.text_of("requestId")).unwrap_or_default();
            vec![(id.to_owned(), action.at)]
        }
        _ => {
            let mut all: Vec<_> = context.requests.keys().map(|id| (id.clone(), action.at)).collect();
            all.sort_by(|one, other| one.0.cmp(&other.0));
            all
        }
    };
    let mut actions = Vec::new();
    for (id, at) in named {
        let Some(request) = context.requests.get(&id) else {
            notes.left_out(at, format!("the call of the request `{id}`"), "there is no such request on this page");
            continue;
        };
        let key = operators::request_key(&id);
        let mut params = vec![("endpointId", Tree::text_at(at, request.endpoint.clone()))];
        params.extend(request.payload.clone().map(|payload| ("payload", payload)));
        let mut call = vec![("id", Tree::text_at(at, key.clone()))];
        call.extend(action.get("skip").cloned().map(|skip| ("skip", skip)));
        call.push(("type", Tree::text_at(at, "CallEndpoint")));
        call.push(("params", Tree::map_at(at, params)));
        let call = Tree::map_at(at, call);
        let stored = store_result(&call, &key, &key);
        actions.extend([call, stored]);
    }
    actions
}

/// Returns the action that puts the result of another one into the page state.
fn store_result(action: &Tree, key: &str, id: &str) -> Tree {
    let at = action.at;
    let result = Tree::map_at(at, vec![("_step", Tree::text_at(at, id))]);
    let mut stored = Vec::new();
    stored.extend(action.get("skip").cloned().map(|skip| ("skip", skip)));
    stored.push(("type", Tree::text_at(at, "SetState")));
    stored.push(("params", Tree::map_at(at, vec![(key, result)])));
    Tree::map_at(at, stored)
}

/// Numbers ids that occur again in a list of actions, with the references that follow.
fn make_ids_unique(actions: &mut [Tree]) {
    let mut seen: Vec<String> = Vec::new();
    for index in 0..actions.len() {
        let Some(id) = actions[index].text_of("id").map(str::to_owned) else { continue };
        if !seen.contains(&id) {
            seen.push(id);
            continue;
        }
        let fresh = (2..).map(|number| format!("{id}_{number}")).find(|name| !seen.contains(name));
        let Some(fresh) = fresh else { continue };
        let at = actions[index].at;
        actions[index].set("id", Tree::text_at(at, fresh.clone()));
        if let Some(next) = actions.get_mut(index + 1) {
            next.for_each_mut(&mut |tree| {
                if let Some(("_step", argument)) = tree.operator()
                    && argument.text() == Some(id.as_str())
                {
                    tree.value = Tree::map_at(at, vec![("_step", Tree::text_at(at, fresh.clone()))]).value;
                }
            });
        }
        seen.push(fresh);
    }
}
