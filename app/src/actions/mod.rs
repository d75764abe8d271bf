//! What events do: lists of actions, one after the other, until one fails.
//!
//! [`Actions`] is the page's: it runs lists, knows the methods of the blocks, and keeps the messages that are shown for a moment.
//! [`BlockEvents`] is what a block is given: it says that something has happened and need not know what that leads to. [`ClientTools`] is
//! what a chat is given for its agent's calls.

mod endpoint;
mod events;
mod link;
mod run;
mod tools;

pub use events::BlockEvents;
pub use tools::ClientTools;

use crate::chunks::{Chunk, Loading, Missing};
use crate::prelude::*;
use crate::scope::Scope;
use crate::texts::{Text, fill, t};
use litemap::LiteMap;
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use wasm_split_helpers::wasm_split;
use wire::page::Action;

/// What runs actions: only pages whose config names some need it.
pub(crate) static ACTIONS: Chunk<Functions> = Chunk::new("actions", load);

/// A list of actions, with those of the page that run it.
type List = Arc<(Actions, Vec<Action>)>;

type Running = Pin<Box<dyn Future<Output = bool>>>;

/// What the chunk can do.
pub(crate) struct Functions {
    /// Runs a list of actions, given what has happened. `false`: one has failed.
    run: fn(List, Value) -> Running,
    /// Runs a tool of the page, called with this. The error is for the model.
    call: fn(tools::Own, Value) -> tools::Called,
    /// Calls an endpoint by its id, of a page by its id, with a payload. The error is for the person at the page.
    endpoint: fn(String, String, Value) -> tools::Called,
}

fn load() -> Loading {
    Box::pin(async { ACTIONS.fill(functions().await?) })
}

#[wasm_split(actions, fallible)]
fn functions() -> Result<Functions, Missing> {
    Ok(Functions {
        run: |list, event| Box::pin(async move { list.0.run(&list.1, &event).await }),
        call: |own, input| Box::pin(async move { own.0.call(&own.1, &input).await }),
        endpoint: |page, id, payload| Box::pin(async move { endpoint::call(&page, &id, &payload).await }),
    })
}

/// Calls an endpoint of a page, as its actions do. The error is for the person at the page.
pub(crate) async fn call_endpoint(page_id: &str, endpoint_id: &str, payload: &Value) -> Result<Value, String> {
    let code = ACTIONS.load().await.map_err(|_| t(Text::ActionsMissing).to_owned())?;
    (code.endpoint)(page_id.to_owned(), endpoint_id.to_owned(), payload.clone()).await
}

/// The most messages that are shown at once; older ones give way.
const MAX_NOTICES: usize = 4;

/// Calls a method of a block; the error is for the person at the page.
type Methods = Arc<dyn Fn(&str, &[Value]) -> Result<(), String> + Send + Sync>;

/// The actions of the page around; a cheap handle.
#[derive(Clone, Copy)]
pub struct Actions {
    page_id: StoredValue<String>,
    scope: Scope,
    state: crate::page_state::PageState,
    methods: StoredValue<LiteMap<String, Methods>>,
    notices: RwSignal<Vec<Notice>>,
    count: StoredValue<u32>,
}

/// A message that is shown for a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Tells it from the others.
    pub number: u32,
    /// What it says.
    pub text: String,
    /// What kind of message it is.
    pub status: Status,
}

/// What kind of message something is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Good to know.
    #[default]
    Info,
    /// Something was done.
    Success,
    /// Something needs care.
    Warning,
    /// Something went wrong.
    Error,
}

impl Status {
    /// As it is written in a config; what is unknown is [`Status::Info`].
    pub fn read(text: Option<&str>) -> Self {
        match text {
            Some("success") => Self::Success,
            Some("warning") => Self::Warning,
            Some("error") => Self::Error,
            _ => Self::Info,
        }
    }

    /// As it is written in a config.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Success => "success",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Actions {
    /// The actions of a page, whose state is in the context.
    pub fn new(page_id: String) -> Self {
        Self {
            page_id: StoredValue::new(page_id),
            scope: Scope::of_page(),
            state: crate::page_state::use_page_state(),
            methods: StoredValue::new(LiteMap::new()),
            notices: RwSignal::new(Vec::new()),
            count: StoredValue::new(0),
        }
    }

    /// Makes the methods of a block known; those that it had before are forgotten.
    pub(crate) fn offer(
        &self,
        block_id: String,
        methods: impl Fn(&str, &[Value]) -> Result<(), String> + Send + Sync + 'static,
    ) {
        let methods: Methods = Arc::new(methods);
        self.methods.update_value(|known| drop(known.insert(block_id, methods)));
    }

    /// Shows a message. Without a duration it stays as long as it takes to read; an error stays until it is dismissed.
    pub fn notify(&self, text: String, status: Status, duration: Option<Duration>) {
        let Some(number) = self.count.try_update_value(|count| {
            *count += 1;
            *count
        }) else {
            return;
        };
        self.state.announce(if status == Status::Error { fill(Text::ErrorSaid, &[&text]) } else { text.clone() });
        let reading = Duration::from_millis(3_000 + 60 * text.chars().count().min(200) as u64);
        let duration = duration.or((status != Status::Error).then_some(reading));
        self.notices.update(|notices| {
            // The same message again takes the place of the first.
            notices.retain(|notice| notice.text != text);
            notices.push(Notice { number, text, status });
            let over = notices.len().saturating_sub(MAX_NOTICES);
            notices.drain(..over);
        });
        if let Some(duration) = duration {
            let own = *self;
            set_timeout(move || own.dismiss(number), duration);
        }
    }

    /// Calls an endpoint for this page, in the browser.
    ///
    /// # Errors
    /// The endpoint has refused or failed, or the server cannot be reached; in words for the person at the page.
    pub async fn call_endpoint(&self, endpoint_id: &str, payload: &Value) -> Result<Value, String> {
        let page_id = self.page_id.try_get_value().ok_or_else(|| t(Text::PageGone).to_owned())?;
        endpoint::call(&page_id, endpoint_id, payload).await
    }

    /// Calls a method of a block, such as `sendMessage` of a chat.
    ///
    /// # Errors
    /// It has no such method, or cannot do it now; in words for the person at the page.
    pub fn call_method(&self, block_id: &str, method: &str, args: &[Value]) -> Result<(), String> {
        let methods = self.methods.try_with_value(|known| known.get(block_id).cloned()).flatten();
        let methods = methods.ok_or_else(|| t(Text::ChatNotReady).to_owned())?;
        methods(method, args)
    }

    /// Takes a message away.
    pub fn dismiss(&self, number: u32) {
        // `try_`: the page may have gone before its messages.
        self.notices.try_update(|notices| notices.retain(|notice| notice.number != number));
    }

    /// The messages that are shown, the oldest first. Tracked.
    pub fn notices(&self) -> Vec<Notice> {
        self.notices.get()
    }
}

/// The actions of the page around.
pub fn use_actions() -> Actions {
    expect_context()
}
