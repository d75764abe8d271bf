//! Chats embedded in pages of other sites.
//!
//! The element of `/embed.js` shows a frame of this server. The outer frame contains no data: it
//! talks to the host site, keeps the token in memory, and sends it when it opens the page with the
//! chat in an inner frame. Both may be framed only by the requesting site, and only if the config
//! lists it.

use super::pages::{context_provider, options, rendering};
use super::site;
use crate::state::AppState;
use app::context::{EmbedContext, PageSource};
use auth::{Credentials, EmbedCredentials};
use axum::Form;
use axum::extract::{FromRequest, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use chat::Caller;
use leptos::prelude::provide_context;
use serde::Deserialize;
use web::html::escaped;
use wire::{ErrorCode, UserError};

/// Marks a response that an allowed site may frame.
#[derive(Clone, Copy)]
struct AllowsFraming;

/// The chat in the path `/embed/{page}/{agent}`; without an agent, the first one on the page.
#[derive(Deserialize)]
pub(crate) struct EmbedPath {
    page: String,
    agent: Option<String>,
}

/// The query of both frames.
#[derive(Deserialize)]
pub(crate) struct EmbedQuery {
    /// The origin of the host page.
    #[serde(default)]
    host: String,
}

/// Forbids framing of every response that is not marked for it, or says itself who may frame it.
pub(crate) async fn forbid_frames(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if response.extensions().get::<AllowsFraming>().is_none() {
        let own = response.headers_mut().entry(header::X_FRAME_OPTIONS);
        own.or_insert(HeaderValue::from_static("DENY"));
    }
    response
}

/// `GET /embed.js`: the element `<agent-chat>`, which any site may load.
pub(crate) async fn script(State(state): State<AppState>, headers: HeaderMap) -> Response {
    let Some(mut response) = site::file(state.site, "/assets/embed.js", &headers) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let own = response.headers_mut();
    own.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    own.insert("cross-origin-resource-policy", HeaderValue::from_static("cross-origin"));
    response
}

/// `GET /embed-check.js`: a module that says whether the site that loads it may embed chats. Browsers do not tell a page
/// why a frame was refused, so the element asks. The answer is about the asking site only.
pub(crate) async fn check(
    State(state): State<AppState>,
    Query(EmbedQuery { host }): Query<EmbedQuery>,
    request: Request,
) -> Response {
    let Some(site) = asking_site(request.headers(), &host) else {
        return (StatusCode::BAD_REQUEST, "The request has no `Origin`.").into_response();
    };
    let is_listed = may_frame(&state, site, &Credentials::from_request(&request));
    let fields = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
        // An answer of the past could say that a server is there that is gone.
        (header::CACHE_CONTROL, "no-store"),
        (header::VARY, "origin"),
    ];
    (fields, format!("export default {is_listed};\n")).into_response()
}

/// `GET /embed/{page}/{agent}?host=ORIGIN`: the outer frame.
pub(crate) async fn outer_frame(
    State(state): State<AppState>,
    Query(EmbedQuery { host }): Query<EmbedQuery>,
    request: Request,
) -> Response {
    if let Some(refused) = reject_unlisted_site(&state, &host, &Credentials::from_request(&request)) {
        return refused;
    }
    let body = document(
        "Chat",
        &format!("<script src=\"/assets/embed-door.js\" data-host=\"{}\"></script>", escaped(&host)),
        "",
    );
    allow_framing(Html(body).into_response(), &host, "frame-src 'self'; form-action 'self'")
}

/// `POST /embed/{page}/{agent}?host=ORIGIN`: the page with the chat, for the user of the token.
pub(crate) async fn chat_frame(
    State(state): State<AppState>,
    Path(EmbedPath { page, agent }): Path<EmbedPath>,
    Query(EmbedQuery { host }): Query<EmbedQuery>,
    request: Request,
) -> Response {
    let sent = Credentials::from_request(&request);
    if let Some(refused) = reject_unlisted_site(&state, &host, &sent) {
        return refused;
    }
    let (parts, body) = request.into_parts();
    let entry = Form::<EmbedCredentials>::from_request(Request::from_parts(parts.clone(), body), &()).await;
    let known = match entry {
        Ok(Form(entry)) => authenticate(&state, &parts.headers, &sent, &entry).await,
        Err(_) => Err(UserError::new(ErrorCode::Malformed, "The request that opens the chat could not be read.")),
    };
    let allowed = known.and_then(|(caller, visitor)| {
        state.composition.current.page(&caller, Some(&page))?;
        if let Some(agent) = &agent {
            state.composition.current.check_agent_on_page(&caller, &page, agent)?;
        }
        Ok((caller, visitor))
    });
    let (caller, visitor) = match allowed {
        Ok(known) => known,
        Err(error) => return error_frame(&error, &host),
    };
    let (options, in_rust, frame) =
        (options(), state.site.parts(), EmbedContext { origin: host.clone(), visitor_token: visitor });
    let contexts = context_provider(&state, caller);
    let shown = frame.clone();
    let contexts = move || {
        contexts();
        provide_context(frame.clone());
    };
    let render = leptos_axum::render_app_async_with_context(contexts, move || {
        app::embedded_shell(options.clone(), in_rust, shown.clone())
    });
    let request = Request::from_parts(parts, axum::body::Body::empty());
    let mut response = rendering::render(render(request)).await;
    response.extensions_mut().insert(AllowsFraming);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn authenticate(
    state: &AppState,
    headers: &HeaderMap,
    sent: &Credentials,
    entry: &EmbedCredentials,
) -> Result<(Caller, Option<String>), UserError> {
    let authentication = state.composition.current.authentication();
    let (known, visitor) = authentication.identify_embedded(headers, sent, entry).await?;
    Ok((known.caller, visitor))
}

/// Returns the site that asks, from the header `Origin`, which scripts cannot set. Firefox does not send it when a page of this
/// server asks, such as the preview in the console. Such a page is trusted to name its own site as `host`.
fn asking_site<'a>(headers: &'a HeaderMap, host: &'a str) -> Option<&'a str> {
    match headers.get(header::ORIGIN) {
        Some(origin) => origin.to_str().ok(),
        None => headers.get("sec-fetch-site").is_some_and(|from| from == "same-origin").then_some(host),
    }
}

/// Returns whether a site may embed chats: the config lists it, or it is this server itself, whose console shows a preview.
fn may_frame(state: &AppState, site: &str, sent: &Credentials) -> bool {
    let authentication = state.composition.current.authentication();
    authentication.may_embed(site) || authentication.origin(sent).is_some_and(|own| own == site)
}

/// Refuses sites that may not embed chats. Such a site cannot display the message, so it is logged as well.
fn reject_unlisted_site(state: &AppState, host: &str, sent: &Credentials) -> Option<Response> {
    if may_frame(state, host, sent) {
        return None;
    }
    tracing::warn!(site = host, "a site that is not listed in `embed.origins` tried to embed a chat");
    let words = "This site is not allowed to embed chats of this server. The server's operator lists the allowed sites in <code>embed.origins</code>.";
    let body = document("Not allowed", "", &format!("<main><p>{words}</p></main>"));
    Some((StatusCode::FORBIDDEN, Html(body)).into_response())
}

/// Renders the error page that replaces the chat; the page's script reports the error to the host
/// site as well.
fn error_frame(error: &UserError, host: &str) -> Response {
    let code = serde_json::to_value(error.code).unwrap_or_default();
    let (code, message) = (escaped(code.as_str().unwrap_or_default()), escaped(&error.message));
    let head = format!(
        "<link rel=\"stylesheet\" href=\"/pkg/chatwright.css\" />\
         <script src=\"/assets/embed-frame.js\" data-code=\"{code}\" data-message=\"{message}\"></script>"
    );
    let main = format!("<main class=\"cw-message-page\"><h1>The chat cannot be opened</h1><p>{message}</p></main>");
    let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    allow_framing((status, Html(document("Not available", &head, &main))).into_response(), host, "style-src 'self'")
}

fn document(title: &str, head: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\" />\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\
         <meta name=\"color-scheme\" content=\"light dark\" /><title>{title}</title>{head}</head><body>{body}</body></html>"
    )
}

/// Allows the host site and this server to frame a response.
fn allow_framing(mut response: Response, host: &str, more: &str) -> Response {
    let policy =
        format!("default-src 'none'; script-src 'self'; base-uri 'none'; {more}; frame-ancestors 'self' {host}");
    response.extensions_mut().insert(AllowsFraming);
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // The chat in the inner frame may have dictation.
    headers.insert(HeaderName::from_static("permissions-policy"), HeaderValue::from_static("microphone=(self)"));
    // With `no-referrer`, browsers send `Origin: null` for forms of this page.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}
