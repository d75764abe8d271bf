//! Chats on pages of other sites.
//!
//! The element of `/embed.js` shows a frame of this server. What stands in it first is the doorkeeper, a page without any data: it talks
//! with the site around, keeps its token in memory, and sends that along when it opens the page with the chat in a frame of its own.
//! Both may be framed by the one site that asks, if the config names it, and by nobody else.

use super::pages::{contexts, options};
use super::site;
use crate::auth::{Credentials, Entry};
use crate::router::AppState;
use app::context::{Frame, PageSource};
use axum::Form;
use axum::extract::{FromRequest, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use chat::Caller;
use leptos::prelude::provide_context;
use serde::Deserialize;
use wire::{ErrorCode, UserError};

/// Marks an answer that a page of a certain site may frame.
#[derive(Clone, Copy)]
struct MayBeFramed;

/// Which chat: `/embed/{page}/{agent}`; without an agent the first on the page.
#[derive(Deserialize)]
pub(crate) struct Which {
    page: String,
    agent: Option<String>,
}

/// Where it is shown.
#[derive(Deserialize)]
pub(crate) struct Where {
    /// The origin of the page around.
    #[serde(default)]
    host: String,
}

/// Nothing that another site could frame, unless it is meant to be.
pub(crate) async fn forbid_frames(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if response.extensions().get::<MayBeFramed>().is_none() {
        response.headers_mut().insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
    response
}

/// `GET /embed.js`: the element `<agent-chat>`, for any site to load.
pub(crate) async fn script(State(state): State<AppState>, headers: HeaderMap) -> Response {
    let Some(mut response) = site::file(state.site, "/assets/embed.js", &headers) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let own = response.headers_mut();
    own.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    own.insert("cross-origin-resource-policy", HeaderValue::from_static("cross-origin"));
    response
}

/// `GET /embed/{page}/{agent}?host=ORIGIN`: the doorkeeper.
pub(crate) async fn open(State(state): State<AppState>, Query(Where { host }): Query<Where>) -> Response {
    if let Some(refused) = not_for(&state, &host) {
        return refused;
    }
    let body =
        document("Chat", &format!("<script src=\"/assets/embed-door.js\" data-host=\"{}\"></script>", text(&host)), "");
    framed(Html(body).into_response(), &host, "frame-src 'self'; form-action 'self'")
}

/// `POST /embed/{page}/{agent}?host=ORIGIN`: the page with the chat, for whom the token names.
pub(crate) async fn enter(
    State(state): State<AppState>,
    Path(Which { page, agent }): Path<Which>,
    Query(Where { host }): Query<Where>,
    request: Request,
) -> Response {
    if let Some(refused) = not_for(&state, &host) {
        return refused;
    }
    let sent = Credentials::of(&request);
    let (parts, body) = request.into_parts();
    let entry = Form::<Entry>::from_request(Request::from_parts(parts.clone(), body), &()).await;
    let known = match entry {
        Ok(Form(entry)) => known(&state, &parts.headers, &sent, &entry).await,
        Err(_) => Err(UserError::new(ErrorCode::Malformed, "The frame was opened in a way that cannot be read.")),
    };
    let allowed = known.and_then(|(caller, visitor)| {
        state.composition.current.page(&caller, Some(&page))?;
        if let Some(agent) = &agent {
            state.composition.current.may_ask(&caller, &page, agent)?;
        }
        Ok((caller, visitor))
    });
    let (caller, visitor) = match allowed {
        Ok(known) => known,
        Err(error) => return refusal(&error, &host),
    };
    let (options, rust_pages, frame) = (options(), state.site.pages, Frame { host: host.clone(), visitor });
    let contexts = contexts(&state, caller);
    let shown = frame.clone();
    let contexts = move || {
        contexts();
        provide_context(frame.clone());
    };
    let render = leptos_axum::render_app_async_with_context(contexts, move || {
        app::embedded_shell(options.clone(), rust_pages, shown.clone())
    });
    let mut response = render(Request::from_parts(parts, axum::body::Body::empty())).await.into_response();
    response.extensions_mut().insert(MayBeFramed);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn known(
    state: &AppState,
    headers: &HeaderMap,
    sent: &Credentials,
    entry: &Entry,
) -> Result<(Caller, Option<String>), UserError> {
    let authentication = state.composition.current.authentication();
    let (known, visitor) = authentication.enter(headers, sent, entry).await?;
    Ok((known.caller, visitor))
}

/// Only sites that the config names; the others cannot show what is said to them, so the log says it, too.
fn not_for(state: &AppState, host: &str) -> Option<Response> {
    if state.composition.current.authentication().may_embed(host) {
        return None;
    }
    tracing::warn!(site = host, "a site that `embed.origins` does not name wants to show a chat");
    let words = "This site may not show chats of this server. Their operator lists the sites that may in <code>embed.origins</code>.";
    let body = document("Not here", "", &format!("<main><p>{words}</p></main>"));
    Some((StatusCode::FORBIDDEN, Html(body)).into_response())
}

/// What the user reads instead of the chat; the site around is told, too.
fn refusal(error: &UserError, host: &str) -> Response {
    let code = serde_json::to_value(error.code).unwrap_or_default();
    let (code, message) = (text(code.as_str().unwrap_or_default()), text(&error.message));
    let head = format!(
        "<link rel=\"stylesheet\" href=\"/pkg/chatwright.css\" />\
         <script src=\"/assets/embed-frame.js\" data-code=\"{code}\" data-message=\"{message}\"></script>"
    );
    let main = format!("<main class=\"cw-message-page\"><h1>The chat cannot be opened</h1><p>{message}</p></main>");
    let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    framed((status, Html(document("Not available", &head, &main))).into_response(), host, "style-src 'self'")
}

fn document(title: &str, head: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\" />\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\
         <meta name=\"color-scheme\" content=\"light dark\" /><title>{title}</title>{head}</head><body>{body}</body></html>"
    )
}

/// An answer that pages of this site may frame, and this server's own.
fn framed(mut response: Response, host: &str, more: &str) -> Response {
    let policy =
        format!("default-src 'none'; script-src 'self'; base-uri 'none'; {more}; frame-ancestors 'self' {host}");
    response.extensions_mut().insert(MayBeFramed);
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // With none at all, browsers say of a form on it that it comes from nowhere.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// Text for a document or an attribute in double quotes.
fn text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
