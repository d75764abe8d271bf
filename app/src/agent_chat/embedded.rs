//! A chat alone, in a frame on another site's page: what that site is told, and what it may ask.
//!
//! The frame's script (`public/assets/embed-frame.js`) stands between: it knows who is outside, this file knows the chat. They tell each
//! other JSON, in events of the window. What is told here: `ready`, `event`, `ask` (an event that the site may forbid), `state`,
//! `conversation` and `result`. What is heard: `call` (a method), `answer` (to an `ask`), `state` and `conversation`.

use super::AgentChat;
use super::browser::{random_id, sleep};
use super::session::ForeignForm;
use crate::actions::{Actions, BlockEvents, ClientTools, use_actions};
use crate::chat_context::{ChatContext, use_chat_context};
use crate::page_state::{PageState, use_page_state};
use crate::pages::announcer::Announcer;
use crate::pages::notices::Notices;
use crate::pages::{MissingPage, provide_page};
use crate::prelude::*;
use futures::channel::oneshot;
use futures::future::{Either, select};
use leptos::ev::Custom;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::web_sys::{CustomEvent, CustomEventInit};
use serde_json::{Map, Value, json};
use std::pin::pin;
use std::time::Duration;
use wire::page::{
    AgentChatProperties, Block, BlockType, CHAT_EVENTS, Display, Page, SharedField, apply_updates, shared_fields,
};

/// The window's event by which the site is told.
const OUT: &str = "chatwright-out";
/// The window's event by which it is heard.
const IN: &str = "chatwright-in";
/// What the site may forbid.
const BEFORE_SEND: &str = "onBeforeSend";
/// The site's page answers at once, or is gone: then nobody forbids anything.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the model reads when the page around has gone before its tool has ended.
const GONE: &str = "The page around the chat has gone while it did this. It may or may not have had an effect.";

/// The chat of a page, and nothing else of it: the first, or the one with this agent.
pub(super) fn embedded(page: Page, agent: Option<&str>) -> AnyView {
    let Some(Block { id, properties, events, .. }) = chat(&page.blocks, agent).cloned() else {
        return view! { <MissingPage /> }.into_any();
    };
    let mut properties = AgentChatProperties::read(&properties);
    properties.display = Display::Inline;
    // There the site says which.
    properties.conversation_id = None;
    let (page_id, fields) = (page.id.clone(), shared_fields(&page, &properties));
    let of_page = page.events.clone();
    provide_page(page);
    provide_context(ForeignForm);
    let of_page = BlockEvents::of_config(of_page);
    Effect::new(move |_| of_page.emit("onInit", Value::Null));
    let declared = std::mem::take(&mut properties.client_tools);
    let tools = ClientTools::of_config(declared.clone());
    let site = Site {
        block_id: StoredValue::new(id.clone()),
        state: use_page_state(),
        chat: use_chat_context(),
        actions: use_actions(),
        keys: StoredValue::new(keys(&fields, &properties.shared_state)),
        fields: StoredValue::new(fields.clone()),
        told: StoredValue::new(Map::new()),
        asked: StoredValue::new((0, None)),
        running: StoredValue::new(Vec::new()),
    };
    let hosted = declared.into_iter().filter(|tool| tool.host);
    let tools = hosted.fold(tools, |tools, tool| {
        let name = tool.name.clone();
        tools.within(&tool.name, tool.timeout(), move |input| site.run(name.clone(), input))
    });
    let mut events = BlockEvents::of_config(events).on_asking(BEFORE_SEND, move |about| site.ask(about));
    for name in CHAT_EVENTS.into_iter().filter(|name| *name != BEFORE_SEND) {
        events = events.on(name, move |about| tell(&json!({ "type": "event", "name": name, "detail": about })));
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

fn chat<'a>(blocks: &'a [Block], agent: Option<&str>) -> Option<&'a Block> {
    let is_meant = |block: &Block| {
        let id = block.properties.get("agentId").and_then(Value::as_str);
        block.kind == BlockType::AgentChat && agent.is_none_or(|agent| id == Some(agent))
    };
    blocks.iter().find_map(|block| if is_meant(block) { Some(block) } else { chat(&block.blocks, agent) })
}

/// What the site may set, by the names that the agent knows: keys that stand for one of the page's state.
fn keys(fields: &[SharedField], shared: &Map<String, Value>) -> Vec<(String, String)> {
    let of_state = |key: &str| Some(shared.get(key)?.as_object()?.get("_state")?.as_str()?.to_owned());
    fields.iter().filter_map(|field| Some((field.key.clone(), of_state(&field.key)?))).collect()
}

/// The site around; a cheap handle.
#[derive(Clone, Copy)]
struct Site {
    block_id: StoredValue<String>,
    state: PageState,
    chat: ChatContext,
    actions: Actions,
    fields: StoredValue<Vec<SharedField>>,
    /// Shared keys with those of the page state.
    keys: StoredValue<Vec<(String, String)>>,
    /// What the site knows of the state.
    told: StoredValue<Map<String, Value>>,
    /// How often the site was asked, and who waits for its answer: one at a time.
    asked: StoredValue<(u64, Option<oneshot::Sender<bool>>)>,
    running: StoredValue<Running>,
}

/// Tools that the site was asked to run and has not ended. Their numbers are not counted: the site's part outlives this document, and what a call
/// of the one before has brought must not answer one of this.
type Running = Vec<(String, oneshot::Sender<Ran>)>;

/// What has come of a tool of the site; the error is for the model.
type Ran = Result<Value, String>;

impl Site {
    /// Begins to hear the site, and to tell it what changes.
    fn listen(self) {
        let heard = window_event_listener(Custom::<CustomEvent>::new(IN), move |event: CustomEvent| {
            let message = event.detail().as_string().and_then(|text| serde_json::from_str::<Value>(&text).ok());
            if let Some(message) = message {
                self.hear(&message);
            }
        });
        on_cleanup(move || heard.remove());
        // What there is before the site sets anything.
        untrack(|| self.tell_state());
        Effect::new(move |_| self.tell_state());
        Effect::new(move |_| tell(&json!({ "type": "conversation", "id": self.chat.conversation.get() })));
        tell(&json!({ "type": "ready" }));
    }

    fn hear(self, message: &Value) {
        match message["type"].as_str().unwrap_or_default() {
            "call" => self.call(message),
            "state" => self.take_state(message),
            "conversation" => {
                let id = message["id"].as_str().map(str::to_owned);
                if self.chat.conversation.get_untracked() != id {
                    self.chat.select(id, true);
                }
            }
            "answer" => {
                let open = self.asked.try_update_value(
                    |(number, open)| {
                        if message["number"] == *number { open.take() } else { None }
                    },
                );
                if let Some(open) = open.flatten() {
                    // Whoever waits may have given up.
                    let _ = open.send(message["ok"] == true);
                }
            }
            "toolresult" => {
                let open = self.running.try_update_value(|open| {
                    let at = open.iter().position(|(number, _)| message["number"] == *number)?;
                    Some(open.swap_remove(at).1)
                });
                if let Some(open) = open.flatten() {
                    let error = message["error"].as_str().map(str::to_owned);
                    // Its time may be up.
                    let _ = open.send(error.map_or_else(|| Ok(message["output"].clone()), Err));
                }
            }
            _ => {}
        }
    }

    /// Has the site run a tool.
    async fn run(self, name: String, input: Value) -> Ran {
        let (tell_it, told) = oneshot::channel();
        let number = random_id();
        self.running.try_update_value(|open| {
            // Those that nobody waits for any more.
            open.retain(|(_, waits)| !waits.is_canceled());
            open.push((number.clone(), tell_it));
        });
        tell(&json!({ "type": "tool", "number": number, "name": name, "input": input }));
        told.await.unwrap_or_else(|_| Err(GONE.to_owned()))
    }

    fn call(self, message: &Value) {
        let args = message["args"].as_array().cloned().unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default();
        let done = self.actions.call_method(&self.block_id.get_value(), method, &args);
        tell(&json!({ "type": "result", "number": message["number"], "error": done.err() }));
    }

    /// Values that the site knows better: only of keys that the page declares, and only what these may hold.
    fn take_state(self, message: &Value) {
        let values = message["values"].as_object().cloned().unwrap_or_default();
        let applied = self
            .fields
            .with_value(|fields| apply_updates(fields, &json!({ "updates": Value::Object(values.clone()) })));
        // What the agent may only read has no type.
        let read_only = self.keys.with_value(|keys| {
            let is_written = |target: &str| {
                self.fields.with_value(|fields| fields.iter().any(|field| field.target.as_deref() == Some(target)))
            };
            let free = keys.iter().filter(|(_, target)| !is_written(target));
            free.filter_map(|(key, target)| Some((target.clone(), values.get(key)?.clone()))).collect::<Vec<_>>()
        });
        for (target, value) in applied.written.into_iter().chain(read_only) {
            let key = self.keys.with_value(|keys| keys.iter().find(|(_, known)| *known == target).cloned());
            if let Some((key, _)) = key {
                self.told.update_value(|told| drop(told.insert(key, value.clone())));
            }
            self.state.set(&target, value);
        }
        let refused = &applied.output["refused"];
        if !refused.is_null() {
            tell(&json!({ "type": "refused", "refused": refused }));
        }
    }

    /// Tells what has changed: by the agent, or by what the page's actions do.
    fn tell_state(self) {
        let mut news = Map::new();
        for (key, target) in self.keys.get_value() {
            let value = self.state.get(&target);
            if self.told.with_value(|told| told.get(&key) != Some(&value)) {
                news.insert(key, value);
            }
        }
        if !news.is_empty() {
            self.told.update_value(|told| told.extend(news.clone()));
            tell(&json!({ "type": "state", "values": news }));
        }
    }

    /// Asks whether a message may go.
    async fn ask(self, about: Value) -> bool {
        let (tell_it, told) = oneshot::channel();
        let number = self.asked.try_update_value(|(number, open)| {
            *number += 1;
            *open = Some(tell_it);
            *number
        });
        let Some(number) = number else { return false };
        tell(&json!({ "type": "ask", "number": number, "name": BEFORE_SEND, "detail": about }));
        match select(told, pin!(sleep(PATIENCE))).await {
            Either::Left((answer, _)) => answer.unwrap_or(true),
            Either::Right(_) => true,
        }
    }
}

/// Tells the site something.
fn tell(message: &Value) {
    let about = CustomEventInit::new();
    about.set_detail(&JsValue::from_str(&wire::json::text(message)));
    if let Ok(event) = CustomEvent::new_with_event_init_dict(OUT, &about) {
        // Nobody cancels it.
        let _ = window().dispatch_event(event.unchecked_ref());
    }
}
