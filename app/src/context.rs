//! The Leptos contexts that the server provides to pages and server functions: an [`AppContext`]
//! and the caller.

use chat::{Caller, Chat};
use futures::future::BoxFuture;
use leptos::prelude::use_context;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::Mutex;
use wire::api::{ConversationList, ConversationView, SendRequest, WaitingTasks};
use wire::error::{ErrorCode, UserError};
use wire::organize::ListFilter;
use wire::page::{Page, PageLink};
use wire::workflow::{RunChange, RunItem, RunList, RunProgress, RunView, TaskAnswer, TaskList, WorkflowItem};

/// The services behind the UI; a cheap handle.
#[derive(Clone)]
pub struct AppContext {
    /// The chat facade.
    pub chat: Chat,
    /// The pages of the config.
    pub pages: Arc<dyn PageSource>,
    /// The workflows of the server.
    pub workflows: Arc<dyn WorkflowSource>,
    /// The values that this request has already loaded.
    pub cache: RequestCache,
}

/// A pseudonymous id of the user, as a Leptos context. The browser uses it to keep the drafts of
/// different users apart; the user id cannot be derived from it.
#[derive(Clone, Debug)]
pub struct ReaderId(pub String);

/// Marks a server whose start page is a home page, as a Leptos context. That page is a document without the app.
#[derive(Clone, Copy, Debug)]
pub struct HasHome;

/// Links to pages at the top of each page, as a Leptos context.
#[derive(Clone, Debug)]
pub struct GuideLinks {
    /// The address and the text of each link.
    pub links: Vec<(String, String)>,
    /// The address of the page that is loaded, which may have a link.
    pub current: Option<String>,
    /// The steps of a tour as JSON, if the address of the page asks for it.
    pub card: Option<String>,
}

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
    /// The errors of [`Chat::conversation`].
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
    /// The errors of [`Chat::conversations`].
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
        let mut list = self.chat.conversations(caller, which.0.clone(), limit, which.1.as_deref()).await?;
        let ids: Vec<_> = list.items.iter().map(|item| item.id.clone()).collect();
        if !ids.is_empty() {
            let waiting = self.workflows.waiting_conversations(caller.clone(), ids).await?;
            list.items.iter_mut().for_each(|item| item.waiting |= waiting.contains(&item.id));
        }
        if which.1.is_none() {
            list.tasks = self.waiting_tasks(caller).await?;
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            list.listed_at = i64::try_from(now.as_millis()).ok();
        }
        seen.insert(which, list.clone());
        Ok(list)
    }
}

impl AppContext {
    /// Returns the tasks that wait for the caller, if there are any and a page of the caller shows
    /// them.
    async fn waiting_tasks(&self, caller: &Caller) -> Result<Option<WaitingTasks>, UserError> {
        let Some(page) = self.pages.tasks_page(caller) else { return Ok(None) };
        let count = self.workflows.count_tasks(caller.clone()).await?;
        Ok((count > 0).then_some(WaitingTasks { count, page }))
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

    /// Returns the id of the first page with a block `WorkflowTasks` that the caller may open.
    fn tasks_page(&self, caller: &Caller) -> Option<String>;

    /// Returns the pages that the caller may open, in the order of the config.
    fn links(&self, caller: &Caller) -> Vec<PageLink>;
}

/// The result of a function of [`WorkflowSource`].
pub type WorkflowFuture<T> = BoxFuture<'static, Result<T, UserError>>;

/// The workflows of the server, as far as their callers may see and change them.
pub trait WorkflowSource: Send + Sync {
    /// Returns a page of the open questions that the caller may answer.
    fn tasks(&self, caller: Caller, after: Option<String>) -> WorkflowFuture<TaskList>;

    /// Counts the open questions that the caller may answer, up to a bound.
    fn count_tasks(&self, caller: Caller) -> WorkflowFuture<u32>;

    /// Answers a question.
    fn answer_task(&self, caller: Caller, id: String, answer: TaskAnswer) -> WorkflowFuture<()>;

    /// Returns a page of the caller's runs, of one workflow or of all.
    fn runs(&self, caller: Caller, after: Option<String>, workflow: Option<String>) -> WorkflowFuture<RunList>;

    /// Returns a run of the caller.
    fn run(&self, caller: Caller, id: String) -> WorkflowFuture<RunView>;

    /// Returns how far a run of the caller is, with the questions that the caller may answer.
    fn progress(&self, caller: Caller, id: String) -> WorkflowFuture<RunProgress>;

    /// Returns those of the caller's conversations in which a run asks the caller something.
    fn waiting_conversations(&self, caller: Caller, ids: Vec<String>) -> WorkflowFuture<Vec<String>>;

    /// Starts a run.
    fn start(&self, caller: Caller, id: String, input: Map<String, Value>) -> WorkflowFuture<RunItem>;

    /// Returns a workflow that the caller may start.
    fn startable(&self, caller: Caller, id: String) -> WorkflowFuture<WorkflowItem>;

    /// Starts a run of a workflow of the chat's agent in a conversation, with what would be sent to the agent.
    fn start_in_chat(
        &self,
        caller: Caller,
        request: SendRequest,
        id: String,
        input: Map<String, Value>,
    ) -> WorkflowFuture<()>;

    /// Starts a new run with the definition of a run of the caller as it is now.
    fn rerun(&self, caller: Caller, id: String, input: Map<String, Value>) -> WorkflowFuture<RunItem>;

    /// Changes a run of the caller.
    fn change_run(&self, caller: Caller, id: String, change: RunChange) -> WorkflowFuture<()>;
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
