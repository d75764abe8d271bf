//! Actions: each event runs a list of actions in order, until one fails.
//!
//! [`Actions`] belongs to the page: it runs lists of actions, calls the methods of blocks, and
//! holds the temporary messages. [`BlockEvents`] is given to a block: the block emits events
//! without knowing their handlers. [`ClientTools`] is given to a chat for the calls of its agent.

mod endpoint;
mod events;
mod link;
mod run;
mod tools;

pub use events::BlockEvents;
pub use tools::ClientTools;
pub use wire::page::MessageStatus;

use crate::chunks::{Chunk, ChunkError, ChunkFuture, ChunkTable};
use crate::prelude::*;
use crate::scope::OperatorScope;
use crate::texts::{Text, fill, t};
use litemap::LiteMap;
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use wasm_split_helpers::wasm_split;
use wire::page::Action;

/// The chunk that runs actions; only pages whose config has some need it.
pub(crate) static ACTIONS: Chunk<ActionFunctions> = Chunk::new("actions");

/// A list of actions, with the [`Actions`] of the page that runs it.
type ActionList = Arc<(Actions, Vec<Action>)>;

type RunFuture = Pin<Box<dyn Future<Output = bool>>>;

/// The functions of the chunk `actions`.
pub(crate) struct ActionFunctions {
    /// Runs a list of actions for an event with this payload. Returns `false` if one failed.
    run: fn(ActionList, Value) -> RunFuture,
    /// Calls a client tool with this input. The error is for the model.
    call: fn(tools::ConfiguredTool, Value) -> tools::ToolFuture,
    /// Calls an endpoint: the page's id, the endpoint's id, the payload. The error is for the user.
    endpoint: fn(String, String, Value) -> tools::ToolFuture,
}

impl ChunkTable for ActionFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { ACTIONS.set_functions(functions().await?) })
    }
}

#[wasm_split(actions, fallible)]
fn functions() -> Result<ActionFunctions, ChunkError> {
    Ok(ActionFunctions {
        run: |list, event| Box::pin(async move { list.0.run(&list.1, &event).await }),
        call: |own, input| Box::pin(async move { own.0.call(&own.1, &input).await }),
        endpoint: |page, id, payload| Box::pin(async move { endpoint::call(&page, &id, &payload).await }),
    })
}

/// Calls an endpoint of a page, as its actions do. The error is for the user.
pub(crate) async fn call_endpoint(page_id: &str, endpoint_id: &str, payload: &Value) -> Result<Value, String> {
    let code = ACTIONS.load().await.map_err(|_| t(Text::ActionsMissing).to_owned())?;
    (code.endpoint)(page_id.to_owned(), endpoint_id.to_owned(), payload.clone()).await
}

/// The maximum number of messages that are shown at once; the oldest are removed.
const MAX_NOTICES: usize = 4;

/// Calls a method of a block by name. The error is for the user.
type BlockMethods = Arc<dyn Fn(&str, &[Value]) -> Result<(), String> + Send + Sync>;

/// The actions of the current page; a cheap handle.
#[derive(Clone, Copy)]
pub struct Actions {
    page_id: StoredValue<String>,
    scope: OperatorScope,
    state: crate::page_state::PageState,
    methods: StoredValue<LiteMap<String, BlockMethods>>,
    notices: RwSignal<Vec<Notice>>,
    count: StoredValue<u32>,
}

/// A temporary message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Identifies the message.
    pub number: u32,
    /// The text of the message.
    pub text: String,
    /// The severity of the message.
    pub status: MessageStatus,
}

impl Actions {
    /// Creates the actions of a page. Needs the page's state in the context.
    pub fn new(page_id: String) -> Self {
        Self {
            page_id: StoredValue::new(page_id),
            scope: OperatorScope::for_page(),
            state: crate::page_state::use_page_state(),
            methods: StoredValue::new(LiteMap::new()),
            notices: RwSignal::new(Vec::new()),
            count: StoredValue::new(0),
        }
    }

    /// Registers the methods of a block, replacing earlier ones.
    pub(crate) fn register_methods(
        &self,
        block_id: String,
        methods: impl Fn(&str, &[Value]) -> Result<(), String> + Send + Sync + 'static,
    ) {
        let methods: BlockMethods = Arc::new(methods);
        self.methods.update_value(|known| drop(known.insert(block_id, methods)));
    }

    /// Shows a message. Without a duration it is shown as long as it takes to read; an error stays
    /// until it is dismissed.
    pub fn notify(&self, text: String, status: MessageStatus, duration: Option<Duration>) {
        let Some(number) = self.count.try_update_value(|count| {
            *count += 1;
            *count
        }) else {
            return;
        };
        self.state.announce(if status == MessageStatus::Error {
            fill(Text::ErrorSaid, &[&text])
        } else {
            text.clone()
        });
        let reading = Duration::from_millis(3_000 + 60 * text.chars().count().min(200) as u64);
        let duration = duration.or((status != MessageStatus::Error).then_some(reading));
        self.notices.update(|notices| {
            // A repeated message replaces the earlier one.
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
    /// The endpoint refused or failed, or the server cannot be reached. The error is a message for
    /// the user.
    pub async fn call_endpoint(&self, endpoint_id: &str, payload: &Value) -> Result<Value, String> {
        let page_id = self.page_id.try_get_value().ok_or_else(|| t(Text::PageGone).to_owned())?;
        endpoint::call(&page_id, endpoint_id, payload).await
    }

    /// Calls a method of a block, such as `sendMessage` of a chat.
    ///
    /// # Errors
    /// The block has no such method, or cannot run it now. The error is a message for the user.
    pub fn call_method(&self, block_id: &str, method: &str, args: &[Value]) -> Result<(), String> {
        let methods = self.methods.try_with_value(|known| known.get(block_id).cloned()).flatten();
        let methods = methods.ok_or_else(|| t(Text::ChatNotReady).to_owned())?;
        methods(method, args)
    }

    /// Removes a message.
    pub fn dismiss(&self, number: u32) {
        // `try_`, because the page may be gone before its messages.
        self.notices.try_update(|notices| notices.retain(|notice| notice.number != number));
    }

    /// Returns the current messages, oldest first. Tracked.
    pub fn notices(&self) -> Vec<Notice> {
        self.notices.get()
    }
}

/// Returns the actions of the current page.
pub fn use_actions() -> Actions {
    expect_context()
}
