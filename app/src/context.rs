//! What the server gives to the pages and server functions, by Leptos context: an [`AppContext`] and the caller.

use chat::{Caller, Chat};
use leptos::prelude::use_context;
use std::sync::Arc;
use wire::error::{ErrorCode, UserError};
use wire::page::Page;

/// The things behind the UI; a cheap handle.
#[derive(Clone)]
pub struct AppContext {
    /// The chat facade.
    pub chat: Chat,
    /// The pages of the config.
    pub pages: Arc<dyn PageSource>,
}

/// Where page definitions come from.
pub trait PageSource: Send + Sync {
    /// The page with this id.
    fn page(&self, id: &str) -> Option<Arc<Page>>;

    /// The id of the page that stands at `/`.
    fn first(&self) -> Option<String>;
}

/// The server's things and who asks; for server functions, before their first `await`.
///
/// # Errors
/// `Unauthenticated` without a caller; `Internal` when the server gave no [`AppContext`].
pub fn authorize() -> Result<(AppContext, Caller), UserError> {
    let context = use_context::<AppContext>()
        .ok_or_else(|| UserError::new(ErrorCode::Internal, "The server is not set up. Tell its operator."))?;
    let caller = use_context::<Caller>()
        .ok_or_else(|| UserError::new(ErrorCode::Unauthenticated, "You are not signed in. Sign in and try again."))?;
    Ok((context, caller))
}
