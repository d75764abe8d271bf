//! All routes of the server, grouped by who calls them.

use crate::body;
use crate::console_host;
use crate::error;
use crate::gates;
use crate::routes::conversations::{self, change, folders, hand_over, search, sharing};
use crate::routes::{
    agent, agents, config, embed, endpoints, files, grants, health, models, openapi, pages, remote_agent, runs,
    shared_files, site,
};
use crate::state::AppState;
use crate::telemetry::requests;
use accounts::AccountState;
use axum::Router;
use axum::extract::{DefaultBodyLimit, Extension, Request};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{from_fn, from_fn_with_state, map_request};
use axum::routing::{any, get};
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use web::openapi::{ApiRouter, Document};

/// Builds all routes with their middleware. The document describes those that are mounted with an
/// [`ApiRouter`]; all others are for browsers.
///
/// Layers that belong together are in a tuple, the outermost first: each call of `layer` wraps every route in one more box,
/// through which each request passes.
pub(crate) fn router(state: AppState) -> Router {
    let described = &mut Vec::new();
    let limits = &state.composition.limits;
    let patience = limits.body_read;
    let operators = health::metrics_routes().mount(described).layer(from_fn(gates::require_loopback));
    // Probes request an IP address instead of a host name, and the responses contain nothing that
    // another site's page could use. So the host is not checked.
    let probes = health::probes().mount(described);
    let senders = console_host::sender_routes(&state.composition);
    let platforms = senders.into_iter().fold(remote_agent::routes(), ApiRouter::merge);
    let platforms = platforms.mount(described).layer(from_fn(gates::check_origin));
    let anyone = Router::new()
        .route("/shared/{id}", get(sharing::shared))
        .merge(shared_files::routes())
        .route("/embed.js", get(embed::script))
        .route("/embed-check.js", get(embed::check))
        .merge(openapi::routes().mount(described));
    // The caller is named by the token in the form, not by a header.
    let frames = Router::new()
        .route("/embed/{page}", get(embed::outer_frame).post(embed::chat_frame))
        .route("/embed/{page}/{agent}", get(embed::outer_frame).post(embed::chat_frame))
        .layer(from_fn(gates::check_origin));
    let bound = RequestBodyLimitLayer::new(limits.body_bytes);
    let gated =
        caller_routes(&state).mount(described).layer(bound).merge(upload_routes(&state).mount(described)).layer((
            from_fn(gates::check_origin),
            from_fn_with_state(state.clone(), gates::identify_caller),
            from_fn_with_state(state.clone(), gates::rates::limit_by_user),
        ));
    let routes = gated.merge(operators.merge(anyone).merge(frames).merge(platforms).layer(bound)).layer((
        from_fn_with_state(state.clone(), gates::check_host),
        from_fn_with_state(state.clone(), gates::rates::limit_by_address),
    ));
    let routes = routes.merge(probes).layer((
        map_request(move |request: Request| std::future::ready(request.map(|sent| body::with_timeout(sent, patience)))),
        DefaultBodyLimit::disable(),
        from_fn(gates::reject_repeated_headers),
        Extension(Arc::new(Document::new(openapi::ABOUT, std::mem::take(described)))),
    ));
    let routes = routes.layer((
        from_fn(requests::observe_request),
        // These surround the layers that answer requests themselves, so that those answers have the headers, too.
        from_fn(embed::forbid_frames),
        // Pages with chats, which may have dictation, say otherwise.
        header_layer(HeaderName::from_static("permissions-policy"), "microphone=()"),
        header_layer(header::REFERRER_POLICY, "no-referrer"),
        header_layer(header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        from_fn_with_state(state.clone(), error::format_api_errors),
        CatchPanicLayer::custom(requests::panic_response),
    ));
    routes.with_state(state)
}

/// The routes that need the caller: a request extension contains the [`chat::Caller`].
pub(crate) fn caller_routes(state: &AppState) -> ApiRouter<AppState> {
    let browser = Router::new()
        .route("/ui/{*function}", any(pages::server_function))
        .route("/pkg/{*file}", get(site::package))
        .fallback(pages::page);
    let current = state.composition.current.clone();
    let (linked, started) = (current.clone(), current.clone());
    let accounts = AccountState::new(move || current.authentication(), state.composition.chat.clone())
        .with_links(move || linked.capabilities().account_links())
        // As long as only the demo model answers, there is something to do first.
        .with_first_page(move || (!started.config().has_model_provider()).then_some(web::admin::START_PATH));
    agent::routes()
        .merge(agents::routes())
        .merge(models::routes())
        .merge(runs::routes())
        .merge(grants::routes())
        .merge(conversations::routes())
        .merge(change::routes())
        .merge(hand_over::routes())
        .merge(sharing::routes())
        .merge(folders::routes())
        .merge(search::routes())
        .merge(files::routes())
        .merge(endpoints::routes())
        .merge(config::routes())
        .merge(accounts::routes(accounts))
        .merge(console_host::routes(&state.composition))
        .with_pages(browser)
}

/// The routes that need the caller, with larger bodies than other requests.
pub(crate) fn upload_routes(state: &AppState) -> ApiRouter<AppState> {
    let uploads = console_host::upload_routes(&state.composition);
    uploads.into_iter().fold(files::upload_routes(), ApiRouter::merge)
}

fn header_layer(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
}
