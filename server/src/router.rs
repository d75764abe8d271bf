//! All routes of the server, grouped by who calls them.

use crate::Site;
use crate::body;
use crate::compose::Composition;
use crate::console_host;
use crate::error;
use crate::gates;
use crate::routes::{
    agent, change, config, conversations, embed, endpoints, files, folders, grants, health, openapi, pages,
    remote_agent, runs, search, sharing, site,
};
use crate::telemetry::requests;
use accounts::AccountState;
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{from_fn, from_fn_with_state, map_request};
use axum::routing::{any, delete, get, patch, post};
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::set_header::SetResponseHeaderLayer;

/// The state that all routes share.
#[derive(Clone)]
pub(crate) struct AppState {
    pub(crate) composition: Arc<Composition>,
    pub(crate) metrics: PrometheusHandle,
    pub(crate) site: Site,
}

/// Builds all routes with their middleware.
pub(crate) fn router(state: AppState) -> Router {
    let limits = &state.composition.limits;
    let patience = limits.body_read;
    let operators = Router::new().route("/metrics", get(health::metrics).layer(from_fn(gates::require_loopback)));
    // Probes request an IP address instead of a host name, and the responses contain nothing that
    // another site's page could use. So the host is not checked.
    let probes = Router::new().route("/healthz", get(health::alive)).route("/readyz", get(health::ready));
    let platforms = Router::new()
        .route("/remote-agent/tools", get(remote_agent::list))
        .route("/remote-agent/tools/{tool}", post(remote_agent::call))
        .route("/remote-agent/resource", post(remote_agent::resource))
        .layer(from_fn(gates::check_origin));
    let anyone = Router::new()
        .route("/shared/{id}", get(sharing::shared))
        .route("/embed.js", get(embed::script))
        .route(openapi::PATH, get(openapi::show));
    // The caller is named by the token in the form, not by a header.
    let frames = Router::new()
        .route("/embed/{page}", get(embed::outer_frame).post(embed::chat_frame))
        .route("/embed/{page}/{agent}", get(embed::outer_frame).post(embed::chat_frame))
        .layer(from_fn(gates::check_origin));
    let bound = RequestBodyLimitLayer::new(limits.body_bytes);
    let gated = caller_routes(&state)
        .layer(bound)
        .merge(upload_routes())
        .layer(from_fn_with_state(state.clone(), gates::rates::limit_by_user))
        .layer(from_fn_with_state(state.clone(), gates::identify_caller))
        .layer(from_fn(gates::check_origin));
    let routes = gated
        .merge(operators.merge(anyone).merge(frames).merge(platforms).layer(bound))
        .layer(from_fn_with_state(state.clone(), gates::rates::limit_by_address))
        .layer(from_fn_with_state(state.clone(), gates::check_host))
        .merge(probes)
        .layer(from_fn(gates::reject_repeated_headers))
        .layer(DefaultBodyLimit::disable())
        .layer(map_request(move |request: Request| {
            std::future::ready(request.map(|sent| body::with_timeout(sent, patience)))
        }))
        .layer(header_layer(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(header_layer(header::REFERRER_POLICY, "no-referrer"))
        .layer(from_fn(embed::forbid_frames))
        .layer(CatchPanicLayer::custom(requests::panic_response))
        .layer(from_fn(error::format_api_errors))
        .layer(from_fn(requests::observe_request));
    routes.with_state(state)
}

/// The routes with larger bodies than other requests, which limit their size themselves.
pub(crate) fn upload_routes() -> Router<AppState> {
    Router::new().route("/api/files", post(files::upload))
}

/// The routes that need the caller: a request extension contains the [`chat::Caller`].
pub(crate) fn caller_routes(state: &AppState) -> Router<AppState> {
    let agents = Router::new()
        .route("/api/agent/{page}/{agent}", post(agent::send))
        .route("/api/agent/{page}/{agent}/{conversation}/stream", get(agent::stream))
        .route("/api/agent/{page}/{agent}/{conversation}/stop", post(agent::stop))
        .route("/api/endpoints/{page}/{endpoint}", post(endpoints::call))
        .route("/api/config/status", get(config::status))
        .route("/api/runs/invoke", post(runs::invoke))
        .route("/api/runs", get(runs::list))
        .route("/api/runs/{id}", get(runs::show))
        .route("/api/grants", get(grants::list))
        .route("/api/grants/{id}", delete(grants::revoke))
        .route("/api/conversations", get(conversations::list).post(sharing::import))
        .route("/api/conversations/{id}/usage", get(conversations::usage))
        .route(
            "/api/conversations/{id}",
            get(conversations::show).patch(conversations::change).delete(conversations::delete),
        )
        .route("/api/conversations/{id}/change", post(change::change))
        .route("/api/conversations/{id}/export", get(sharing::export))
        .route("/api/conversations/{id}/shares", get(sharing::shares).post(sharing::share))
        .route("/api/shares/{id}", delete(sharing::unshare))
        .route("/api/folders", get(folders::list).post(folders::add))
        .route("/api/folders/{id}", patch(folders::rename).delete(folders::delete))
        .route("/api/files/{id}", get(files::show).delete(files::delete))
        .route("/api/search", get(search::search));
    let browser = Router::new()
        .route("/ui/{*function}", any(pages::server_function))
        .route("/pkg/{*file}", get(site::package))
        .fallback(pages::page);
    let current = state.composition.current.clone();
    let accounts = accounts::routes(AccountState::new(move || current.authentication()));
    agents.merge(accounts).merge(console_host::routes(&state.composition)).merge(browser)
}

fn header_layer(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
}
