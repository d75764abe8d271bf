//! What the server's gates tell the routes about a request.

use crate::error::HttpError;
use auth::{AuthMethod, Credentials};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chat::Caller;
use std::net::IpAddr;
use wire::{ErrorCode, UserError};

/// How the caller of a request was identified and where the request came from: an extension of the
/// request, beside its [`chat::Caller`].
#[derive(Clone)]
pub struct RequestContext {
    /// The credentials of the request.
    pub credentials: Credentials,
    /// Which of them identified the caller.
    pub auth_method: AuthMethod,
    /// Whether the client uses HTTPS, as far as trusted proxies tell.
    pub is_https: bool,
    /// The address of the client, as far as trusted proxies name it.
    pub address: Option<IpAddr>,
    /// The address as the audit log records it.
    pub audit_address: Option<String>,
    /// Whether this server has a sign-in page.
    pub has_sign_in: bool,
}

/// Middleware: refuses requests of visitors with 401, and requests with an API key or a token of an
/// embedded chat with 403.
pub async fn require_signed_in(request: Request, next: Next) -> Response {
    let extensions = request.extensions();
    let is_signed_in = extensions.get::<Caller>().is_some_and(|caller| caller.is_authenticated);
    let method = extensions.get::<RequestContext>().map(|context| &context.auth_method);
    match method {
        Some(AuthMethod::Primary | AuthMethod::Session(_)) if is_signed_in => next.run(request).await,
        Some(AuthMethod::Key(_) | AuthMethod::Site) => {
            let message = "API keys and tokens of embedded chats cannot be used for this request.";
            HttpError(UserError::new(ErrorCode::Forbidden, message)).into_response()
        }
        _ => HttpError(UserError::unauthenticated()).into_response(),
    }
}
