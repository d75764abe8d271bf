//! The home page at `/`, for configs that have one.

use super::{app_context, rendering};
use crate::state::AppState;
use app::AccountLink;
use app::home::{HomeContent, HomeContext, HomeConversations, MAX_QUERY, home_page};
use app::ui::image_origins::ImageOrigins;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::response::{Html, Response};
use chat::Caller;
use url::form_urlencoded;
use wire::organize::ListFilter;
use wire::page::PageLink;
use wire::{ErrorCode, UserError};

/// The number of conversations on the page.
const CONVERSATIONS: u32 = 8;
/// The number of results of a search.
const RESULTS: u32 = 20;

/// Returns the home page for a request of `/`. `None`: the config has none, or the caller may open no
/// page, so that the app says what to do.
pub(super) async fn page(
    state: &AppState,
    caller: &Caller,
    uri: &Uri,
    account: Option<AccountLink>,
) -> Option<Response> {
    let config = state.composition.current.config();
    let home = config.home.clone().filter(|_| uri.path() == "/")?;
    let links = app_context(state).pages.links(caller);
    if links.is_empty() {
        return None;
    }
    let query = search_words(uri);
    let conversations = conversations(state, caller, &query, &links).await;
    let content = HomeContent { title: home.title, description: home.description, pages: links, query, conversations };
    let pictures = ImageOrigins(config.image_origins.clone().into());
    let policy = policy(&pictures);
    let context = HomeContext { texts: state.composition.current.texts(), pictures, account };
    let rendered = rendering::render(async move { (headers(&policy), Html(home_page(content, context))) }).await;
    Some(rendered)
}

/// Returns the conversations that the query finds, or the newest ones. Those on pages that the caller
/// may not open any more are left out.
async fn conversations(
    state: &AppState,
    caller: &Caller,
    query: &str,
    links: &[PageLink],
) -> Option<Result<HomeConversations, UserError>> {
    let is_open = |page_id: &str| links.iter().any(|page| page.id == page_id);
    let context = app_context(state);
    let found = if query.is_empty() {
        context.conversations(caller, ListFilter::default(), CONVERSATIONS, None).await.map(|list| {
            HomeConversations::Newest(list.items.into_iter().filter(|item| is_open(&item.page_id)).collect())
        })
    } else {
        context.chat.search(caller, query, RESULTS, None).await.map(|list| {
            HomeConversations::Found(list.items.into_iter().filter(|hit| is_open(&hit.conversation.page_id)).collect())
        })
    };
    // Visitors who are not signed in have no conversations.
    if found.as_ref().is_err_and(|error| error.code == ErrorCode::Unauthenticated) { None } else { Some(found) }
}

/// Returns the words of the search, from the query string.
fn search_words(uri: &Uri) -> String {
    let query = uri.query().unwrap_or_default();
    let found = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "q");
    found.map(|(_, words)| words.trim().chars().take(MAX_QUERY).collect()).unwrap_or_default()
}

/// The page's own style sheets and script, its pictures, and its form.
fn policy(pictures: &ImageOrigins) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: {}; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'",
        pictures.0.join(" ")
    )
}

fn headers(policy: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Ok(policy) = HeaderValue::from_str(policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    // The form to sign out is verified by its `Origin`, which browsers omit under `no-referrer`.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers
}
