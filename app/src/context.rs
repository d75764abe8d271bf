//! What the server gives to the pages and server functions, by Leptos context: an [`AppContext`] and the caller.

use chat::{Caller, Chat};
use leptos::prelude::use_context;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::Mutex;
use wire::api::{ConversationList, ConversationView};
use wire::error::{ErrorCode, UserError};
use wire::order::ListFilter;
use wire::page::Page;

/// The things behind the UI; a cheap handle.
#[derive(Clone)]
pub struct AppContext {
    /// The chat facade.
    pub chat: Chat,
    /// The pages of the config.
    pub pages: Arc<dyn PageSource>,
    /// What this request has read.
    pub seen: Seen,
}

/// A mark by which the browser tells what one user has typed from what another has; by context. It says nothing of who he is.
#[derive(Clone, Debug)]
pub struct Reader(pub String);

/// The site around, where the app stands in a frame on its page; by context.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its origin, which the config names.
    pub host: String,
    /// By which a visitor is known there, who has no cookie.
    pub visitor: Option<String>,
}

/// What one request has read of the caller's conversations.
///
/// While a page is rendered, its parts are made more than once, and each time they load what they show. A conversation that is
/// being written would be longer each time, and the browser could not take over a page whose data are older than its text.
#[derive(Clone, Default)]
pub struct Seen {
    conversations: Arc<Mutex<HashMap<String, ConversationView>>>,
    lists: Arc<Mutex<HashMap<WhichPage, ConversationList>>>,
}

/// Which list, and the cursor of one of its pages.
type WhichPage = (ListFilter, Option<String>);

impl AppContext {
    /// One conversation, as this request saw it first.
    ///
    /// # Errors
    /// As [`Chat::conversation`].
    pub async fn conversation(&self, caller: &Caller, id: &str) -> Result<ConversationView, UserError> {
        let mut seen = self.seen.conversations.lock().await;
        if let Some(view) = seen.get(id) {
            return Ok(view.clone());
        }
        let view = self.chat.conversation(caller, id).await?;
        seen.insert(id.to_owned(), view.clone());
        Ok(view)
    }

    /// A page of the list, as this request saw it first.
    ///
    /// # Errors
    /// As [`Chat::conversations`].
    pub async fn conversations(
        &self,
        caller: &Caller,
        filter: ListFilter,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<ConversationList, UserError> {
        let mut seen = self.seen.lists.lock().await;
        let which = (filter, cursor);
        if let Some(list) = seen.get(&which) {
            return Ok(list.clone());
        }
        let list = self.chat.conversations(caller, which.0.clone(), limit, which.1.as_deref()).await?;
        seen.insert(which, list.clone());
        Ok(list)
    }
}

/// Where page definitions come from.
pub trait PageSource: Send + Sync {
    /// The page with this id, if the caller may open it; without an id, the one that stands at `/` for this caller.
    ///
    /// # Errors
    /// `Unauthenticated`, and `NotFound` whether there is no such page or it is not for this caller.
    fn page(&self, caller: &Caller, id: Option<&str>) -> Result<Arc<Page>, UserError>;
}

/// The server's things and who asks; for server functions, before their first `await`.
///
/// # Errors
/// `Unauthenticated` without a caller; `Internal` when the server gave no [`AppContext`].
pub fn authorize() -> Result<(AppContext, Caller), UserError> {
    let context = use_context::<AppContext>()
        .ok_or_else(|| UserError::new(ErrorCode::Internal, "The server is not set up. Tell its operator."))?;
    let caller = use_context::<Caller>().ok_or_else(UserError::unauthenticated)?;
    Ok((context, caller))
}
