//! Accepts only requests that name this server, as protection from DNS rebinding.

use crate::state::AppState;
use auth::requested_host;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::SocketAddr;
use web::HttpError;
use wire::{ErrorCode, UserError};

/// Middleware that answers 421 unless the request names this server.
pub(crate) async fn check_host(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let authentication = state.composition.current.authentication();
    if requested_host(&request).is_some_and(|name| authentication.accepts_host(&name)) {
        return next.run(request).await;
    }
    let message = if authentication.is_local() {
        "This server accepts requests only under a local host name, for example http://127.0.0.1."
    } else {
        "This server does not accept requests under this host name. Its operator configures the host names in `publicUrls`."
    };
    let error = HttpError(UserError::new(ErrorCode::Forbidden, message)).into_response();
    (StatusCode::MISDIRECTED_REQUEST, error).into_response()
}

/// Middleware that answers 404 unless the request comes from this machine and names it. The name is
/// checked too, since a proxy on this machine forwards the name of the original request.
pub(crate) async fn require_loopback(request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let is_here = peer.is_some_and(|ConnectInfo(address)| address.ip().to_canonical().is_loopback());
    if is_here && requested_host(&request).is_some_and(|name| name.is_this_machine()) {
        return next.run(request).await;
    }
    HttpError(UserError::not_found()).into_response()
}
