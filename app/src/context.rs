//! The Leptos contexts that the server provides to pages and server functions: an [`AppContext`]
//! and the caller.

use chat::{Caller, Chat};
use leptos::prelude::use_context;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::Mutex;
use wire::api::{ConversationList, ConversationView};
use wire::error::{ErrorCode, UserError};
use wire::organize::ListFilter;
use wire::page::Page;

/// The services behind the UI; a cheap handle.
#[derive(Clone)]
pub struct AppContext {
    /// The chat facade.
    pub chat: Chat,
    /// The pages of the config.
    pub pages: Arc<dyn PageSource>,
    /// What this request has read so far.
    pub cache: RequestCache,
}

/// A pseudonymous id of the user, as a Leptos context. The browser uses it to keep the drafts of
/// different users apart; the user id cannot be derived from it.
#[derive(Clone, Debug)]
pub struct ReaderId(pub String);

/// The site that embeds the app in a frame, as a Leptos context.
#[derive(Clone, Debug)]
pub struct EmbedContext {
    /// The site's origin, from the config.
    pub origin: String,
    /// The signed id of an anonymous visitor: frames may have no cookies.
    pub visitor_token: Option<String>,
}

/// The conversations and lists that one request has read.
///
/// While a page is rendered, its components are created more than once and load their data each
/// time. A conversation that is being written would grow between two loads, and the browser could
/// not hydrate a page whose data are older than its HTML.
#[derive(Clone, Default)]
pub struct RequestCache {
    conversations: Arc<Mutex<HashMap<String, ConversationView>>>,
    lists: Arc<Mutex<HashMap<ListPageKey, ConversationList>>>,
}

/// The filter of a list, and the cursor of one of its pages.
type ListPageKey = (ListFilter, Option<String>);

impl AppContext {
    /// Returns a conversation as this request first read it.
    ///
    /// # Errors
    /// As [`Chat::conversation`].
    pub async fn conversation(&self, caller: &Caller, id: &str) -> Result<ConversationView, UserError> {
        let mut seen = self.cache.conversations.lock().await;
        if let Some(view) = seen.get(id) {
            return Ok(view.clone());
        }
        let view = self.chat.conversation(caller, id).await?;
        seen.insert(id.to_owned(), view.clone());
        Ok(view)
    }

    /// Returns a page of the list as this request first read it.
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
        let mut seen = self.cache.lists.lock().await;
        let which = (filter, cursor);
        if let Some(list) = seen.get(&which) {
            return Ok(list.clone());
        }
        let list = self.chat.conversations(caller, which.0.clone(), limit, which.1.as_deref()).await?;
        seen.insert(which, list.clone());
        Ok(list)
    }
}

/// The source of page definitions.
pub trait PageSource: Send + Sync {
    /// Returns the page with this id, if the caller may open it; without an id, the caller's first
    /// page.
    ///
    /// # Errors
    /// `Unauthenticated`; `NotFound` if there is no such page, and also if the caller has no access
    /// to it.
    fn page(&self, caller: &Caller, id: Option<&str>) -> Result<Arc<Page>, UserError>;
}

/// Returns the services and the caller of a server function. To be called before its first `await`.
///
/// # Errors
/// `Unauthenticated` without a caller; `Internal` when the server provided no [`AppContext`].
pub fn authorize() -> Result<(AppContext, Caller), UserError> {
    let context = use_context::<AppContext>().ok_or_else(|| {
        UserError::new(ErrorCode::Internal, "The server is not configured correctly. Contact its operator.")
    })?;
    let caller = use_context::<Caller>().ok_or_else(UserError::unauthenticated)?;
    Ok((context, caller))
}
