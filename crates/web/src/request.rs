//! The facts about a request that the server's middleware passes to the routes.

use crate::error::HttpError;
use crate::redirect::{SIGN_IN_PATH, see_other};
use auth::password::KeyScope;
use auth::{AuthMethod, Credentials};
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chat::{Caller, TextOrigin};
use std::net::IpAddr;
use wire::{ErrorCode, UserError};

/// The error message for requests that no API key can be used for.
pub const API_KEYS_REFUSED: &str = "API keys cannot be used for this request.";

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

impl RequestContext {
    /// Returns who has written a message that comes with the request, unless the message says so itself:
    /// scripts have API keys.
    pub fn text_origin(&self) -> TextOrigin {
        match self.auth_method {
            AuthMethod::Key(_) => TextOrigin::Program,
            AuthMethod::Primary | AuthMethod::Session(_) | AuthMethod::Site => TextOrigin::User,
        }
    }
}

/// The origin under which the client of a request reaches this server, such as `https://chat.example.com`: an
/// extension of the request, if the config tells it or the client is on this machine.
#[derive(Clone)]
pub struct Origin(pub String);

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

/// Middleware: refuses requests with an API key that does not have the scope, and all API keys if
/// there is no scope for them.
pub(crate) async fn require_key_scope(scope: Option<KeyScope>, request: Request, next: Next) -> Response {
    let context = request.extensions().get::<RequestContext>();
    let Some(AuthMethod::Key(granted)) = context.map(|context| &context.auth_method) else {
        return next.run(request).await;
    };
    let message = match scope {
        Some(needed) if granted.contains(&needed) => return next.run(request).await,
        Some(needed) => format!("This API key does not have the scope `{}`, which this request needs.", needed.name()),
        None => API_KEYS_REFUSED.to_owned(),
    };
    HttpError(UserError::new(ErrorCode::Forbidden, message)).into_response()
}

/// Middleware of pages: refuses requests with an API key.
pub async fn refuse_api_keys(request: Request, next: Next) -> Response {
    require_key_scope(None, request, next).await
}

/// Returns the id of the caller, for what visitors do not have.
///
/// # Errors
/// 401 for visitors.
pub fn signed_in(caller: &Caller) -> Result<&str, UserError> {
    if caller.is_authenticated { Ok(&caller.user_id) } else { Err(UserError::unauthenticated()) }
}

/// Middleware of the pages about a user's account: as [`require_signed_in`], but sends visitors who open a
/// page to the sign-in page, if there is one, which leads them to `path`.
pub async fn require_account(State(path): State<&'static str>, request: Request, next: Next) -> Response {
    let extensions = request.extensions();
    let is_signed_in = extensions.get::<Caller>().is_some_and(|caller| caller.is_authenticated);
    let has_sign_in = extensions.get::<RequestContext>().is_some_and(|context| context.has_sign_in);
    if !is_signed_in && has_sign_in && request.method() == Method::GET {
        return see_other(&format!("{SIGN_IN_PATH}?next={path}"), None);
    }
    require_signed_in(request, next).await
}
