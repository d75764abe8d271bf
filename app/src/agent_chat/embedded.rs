//! A chat embedded in a frame on another site, and its messages to and from the host page.
//!
//! The script of the frame (`public/assets/embed-frame.js`) connects both sides: it checks the host
//! page, this module handles the chat. They exchange JSON in custom events of the window. Sent:
//! `ready`, `event`, `ask` (an event that the host page can reject), `state`, `refused`,
//! `conversation`, `tool` (a client tool to run) and `result`. Received: `call` (of a method),
//! `answer` (to an `ask`), `toolresult`, `state` and `conversation`.

use super::AgentChat;
use super::session::{HostForm, LINK_CLICK};
use crate::actions::{Actions, BlockEvents, ClientTools, use_actions};
use crate::chat_context::{ChatContext, use_chat_context};
use crate::page_state::{PageState, use_page_state};
use crate::pages::announcer::Announcer;
use crate::pages::notices::Notices;
use crate::pages::{MissingPage, provide_page};
use crate::prelude::*;
use crate::ui::browser::{random_id, sleep};
use futures::channel::oneshot;
use futures::future::{Either, select};
use leptos::ev::Custom;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::web_sys::{CustomEvent, CustomEventInit};
use serde_json::{Map, Value, json};
use std::pin::pin;
use std::time::Duration;
use wire::page::{
    AgentChatProperties, Block, BlockType, CHAT_EVENTS, Display, Page, SharedField, apply_updates, object_fields,
    shared_fields, shared_object,
};

/// The window event with messages to the host page.
const TO_HOST: &str = "chatwright-out";
/// The window event with messages from the host page.
const FROM_HOST: &str = "chatwright-in";
/// The event that the host page can reject.
const BEFORE_SEND: &str = "onBeforeSend";
/// How long to wait for the host page's answer to an `ask`. Without an answer, the message is sent.
const ASK_TIMEOUT: Duration = Duration::from_secs(5);

/// The error for the model if the host page was closed before its tool finished.
const GONE: &str = "The page that contains the chat was closed during this call. It may or may not have had an effect.";

/// The chat of a page without its other blocks: the first chat, or the one with this agent.
pub(super) fn embedded(page: Page, agent: Option<&str>) -> AnyView {
    let Some(Block { id, properties, events, .. }) = find_chat(&page.blocks, agent).cloned() else {
        return view! { <MissingPage /> }.into_any();
    };
    let mut properties = AgentChatProperties::read(&properties);
    properties.display = Display::Inline;
    // The host page selects the conversation.
    properties.conversation_id = None;
    let (page_id, fields) = (page.id.clone(), shared_fields(&page, &properties));
    let of_page = page.events.clone();
    provide_page(page);
    provide_context(HostForm);
    let of_page = BlockEvents::from_config(of_page);
    Effect::new(move |_| of_page.emit("onInit", Value::Null));
    let declared = std::mem::take(&mut properties.client_tools);
    let tools = ClientTools::from_config(declared.clone());
    let site = HostPage {
        block_id: StoredValue::new(id.clone()),
        state: use_page_state(),
        chat: use_chat_context(),
        actions: use_actions(),
        keys: StoredValue::new(state_keys(&fields, &properties.shared_state)),
        fields: StoredValue::new(fields.clone()),
        properties: StoredValue::new(properties.clone()),
        known_state: StoredValue::new(Map::new()),
        pending_ask: StoredValue::new((0, None)),
        running_tools: StoredValue::new(Vec::new()),
    };
    let hosted = declared.into_iter().filter(|tool| tool.host);
    let tools = hosted.fold(tools, |tools, tool| {
        let name = tool.name.clone();
        tools.on_with_timeout(&tool.name, tool.timeout(), move |input| site.run_tool(name.clone(), input))
    });
    let events = BlockEvents::from_config(events);
    // With a handler, links do not open by themselves.
    let opens_links = !events.has(LINK_CLICK);
    let mut events = events.on_cancelable(BEFORE_SEND, move |about| site.ask_before_send(about));
    for name in CHAT_EVENTS.into_iter().filter(|name| *name != BEFORE_SEND && !(opens_links && *name == LINK_CLICK)) {
        events = events.on(name, move |about| send_to_host(&json!({ "type": "event", "name": name, "detail": about })));
    }
    Effect::new(move |_| site.listen());
    view! {
        <main id="cw-main" class="cw-embedded" tabindex="-1">
            <AgentChat id page_id properties fields events tools />
        </main>
        <Announcer />
        <Notices />
    }
    .into_any()
}

fn find_chat<'a>(blocks: &'a [Block], agent: Option<&str>) -> Option<&'a Block> {
    let is_meant = |block: &Block| {
        let id = block.properties.get("agentId").and_then(Value::as_str);
        block.kind == BlockType::AgentChat && agent.is_none_or(|agent| id == Some(agent))
    };
    blocks.iter().find_map(|block| if is_meant(block) { Some(block) } else { find_chat(&block.blocks, agent) })
}

/// The shared keys that the host page may set, each with its key in the page state.
fn state_keys(fields: &[SharedField], shared: &Map<String, Value>) -> Vec<(String, String)> {
    let of_state = |key: &str| Some(shared.get(key)?.as_object()?.get("_state")?.as_str()?.to_owned());
    fields.iter().filter_map(|field| Some((field.key.clone(), of_state(&field.key)?))).collect()
}

/// Returns the path in the page state of the object that is the whole shared state, if it is one.
fn object_path(shared: &Map<String, Value>) -> Option<&str> {
    shared_object(shared).filter(|(name, _)| *name == "_state").and_then(|(_, path)| path.as_str())
}

/// The host page; a cheap handle.
#[derive(Clone, Copy)]
struct HostPage {
    block_id: StoredValue<String>,
    state: PageState,
    chat: ChatContext,
    actions: Actions,
    /// The declared fields and keys; none if the shared state is a whole object.
    fields: StoredValue<Vec<SharedField>>,
    /// Shared keys, each with its key in the page state.
    keys: StoredValue<Vec<(String, String)>>,
    properties: StoredValue<AgentChatProperties>,
    /// The state values that the host page knows.
    known_state: StoredValue<Map<String, Value>>,
    /// The number of the last question to the host page, and the sender for its answer; one
    /// question at a time.
    pending_ask: StoredValue<(u64, Option<oneshot::Sender<bool>>)>,
    running_tools: StoredValue<RunningTools>,
}

/// Tools that the host page is running, by a random id. A counter would not do: the host's script
/// outlives this document, and a result for an earlier document must not match a call of this one.
type RunningTools = Vec<(String, oneshot::Sender<HostToolResult>)>;

/// The result of a tool of the host page; the error is for the model.
type HostToolResult = Result<Value, String>;

impl HostPage {
    /// Starts to receive messages from the host page and to send it changes.
    fn listen(self) {
        let heard = window_event_listener(Custom::<CustomEvent>::new(FROM_HOST), move |event: CustomEvent| {
            let message = event.detail().as_string().and_then(|text| serde_json::from_str::<Value>(&text).ok());
            if let Some(message) = message {
                self.handle_message(&message);
            }
        });
        on_cleanup(move || heard.remove());
        // The values from before the host page sets any.
        untrack(|| self.send_state());
        Effect::new(move |_| self.send_state());
        Effect::new(move |_| send_to_host(&json!({ "type": "conversation", "id": self.chat.conversation.get() })));
        send_to_host(&json!({ "type": "ready" }));
    }

    fn handle_message(self, message: &Value) {
        match message["type"].as_str().unwrap_or_default() {
            "call" => self.call(message),
            "state" => self.apply_state(message),
            "conversation" => {
                let id = message["id"].as_str().map(str::to_owned);
                if self.chat.conversation.get_untracked() != id {
                    self.chat.select(id, true);
                }
            }
            "answer" => {
                let open = self
                    .pending_ask
                    .try_update_value(|(number, open)| if message["number"] == *number { open.take() } else { None });
                if let Some(open) = open.flatten() {
                    // The receiver may have been dropped.
                    let _ = open.send(message["ok"] == true);
                }
            }
            "toolresult" => {
                let open = self.running_tools.try_update_value(|open| {
                    let at = open.iter().position(|(number, _)| message["number"] == *number)?;
                    Some(open.swap_remove(at).1)
                });
                if let Some(open) = open.flatten() {
                    let error = message["error"].as_str().map(str::to_owned);
                    // The call may have timed out.
                    let _ = open.send(error.map_or_else(|| Ok(message["output"].clone()), Err));
                }
            }
            _ => {}
        }
    }

    /// Runs a tool on the host page.
    async fn run_tool(self, name: String, input: Value) -> HostToolResult {
        let (tell_it, told) = oneshot::channel();
        let number = random_id();
        self.running_tools.try_update_value(|open| {
            // Removes calls whose receivers were dropped.
            open.retain(|(_, waits)| !waits.is_canceled());
            open.push((number.clone(), tell_it));
        });
        send_to_host(&json!({ "type": "tool", "number": number, "name": name, "input": input }));
        told.await.unwrap_or_else(|_| Err(GONE.to_owned()))
    }

    fn call(self, message: &Value) {
        let args = message["args"].as_array().cloned().unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default();
        let done = self.actions.call_method(&self.block_id.get_value(), method, &args);
        send_to_host(&json!({ "type": "result", "number": message["number"], "error": done.err() }));
    }

    /// Applies state values from the host page, limited to declared keys and to values that their
    /// types allow.
    fn apply_state(self, message: &Value) {
        let values = message["values"].as_object().cloned().unwrap_or_default();
        let (fields, keys) = untrack(|| self.shared_keys(&values));
        let applied = apply_updates(&fields, &json!({ "updates": Value::Object(values.clone()) }));
        // Values that the agent can only read have no declared type.
        let is_written = |target: &str| fields.iter().any(|field| field.target.as_deref() == Some(target));
        let free = keys.iter().filter(|(_, target)| !is_written(target));
        let read_only = free.filter_map(|(key, target)| Some((target.clone(), values.get(key)?.clone())));
        for (target, value) in applied.written.into_iter().chain(read_only) {
            if let Some((key, _)) = keys.iter().find(|(_, known)| *known == target) {
                self.known_state.update_value(|told| drop(told.insert(key.clone(), value.clone())));
            }
            for (target, value) in self.state.resolve_writes([(target, value)]) {
                self.state.set(&target, value);
            }
        }
        let refused = &applied.output["refused"];
        if !refused.is_null() {
            send_to_host(&json!({ "type": "refused", "refused": refused }));
        }
    }

    /// Returns the fields of the shared state, and the keys that the host page may set, each with its
    /// place in the page state. Those of a shared object are the keys that it has and those that are
    /// `given`. Tracked.
    fn shared_keys(self, given: &Map<String, Value>) -> (Vec<SharedField>, Vec<(String, String)>) {
        self.properties.with_value(|properties| {
            let Some(path) = object_path(&properties.shared_state) else {
                return (self.fields.get_value(), self.keys.get_value());
            };
            let mut values = match self.state.get_at(path) {
                Value::Object(values) => values,
                _ => Map::new(),
            };
            let own = given.iter().filter(|(key, _)| !operators::is_prototype_key(key));
            values.extend(own.map(|(key, value)| (key.clone(), value.clone())));
            let fields = object_fields(properties, &values);
            // A key with a dot would be read as a path.
            let places = fields.iter().filter(|field| !field.key.contains('.'));
            let keys = places.map(|field| (field.key.clone(), format!("{path}.{}", field.key))).collect();
            (fields, keys)
        })
    }

    /// Sends the state values that changed, by the agent or by the page's actions.
    fn send_state(self) {
        let mut news = Map::new();
        for (key, target) in self.shared_keys(&Map::new()).1 {
            let value = self.state.get_at(&target);
            if self.known_state.with_value(|told| told.get(&key) != Some(&value)) {
                news.insert(key, value);
            }
        }
        if !news.is_empty() {
            self.known_state.update_value(|told| told.extend(news.clone()));
            // A host page may add keys to a shared object.
            let is_open = self.properties.with_value(|own| object_path(&own.shared_state).is_some());
            send_to_host(&json!({ "type": "state", "values": news, "open": is_open }));
        }
    }

    /// Asks the host page whether a message may be sent.
    async fn ask_before_send(self, about: Value) -> bool {
        let (tell_it, told) = oneshot::channel();
        let number = self.pending_ask.try_update_value(|(number, open)| {
            *number += 1;
            *open = Some(tell_it);
            *number
        });
        let Some(number) = number else { return false };
        send_to_host(&json!({ "type": "ask", "number": number, "name": BEFORE_SEND, "detail": about }));
        match select(told, pin!(sleep(ASK_TIMEOUT))).await {
            Either::Left((answer, _)) => answer.unwrap_or(true),
            Either::Right(_) => true,
        }
    }
}

/// Sends a message to the host page.
fn send_to_host(message: &Value) {
    let about = CustomEventInit::new();
    about.set_detail(&JsValue::from_str(&wire::json::text(message)));
    if let Ok(event) = CustomEvent::new_with_event_init_dict(TO_HOST, &about) {
        // The event is not cancelable.
        let _ = window().dispatch_event(event.unchecked_ref());
    }
}
