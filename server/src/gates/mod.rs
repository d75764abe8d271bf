//! The checks of every request before it reaches a route: its host, its origin, its caller and the rate limits.

mod hosts;
mod origin;
pub(crate) mod rates;
mod repeated;
mod streams;

pub(crate) use hosts::{check_host, require_loopback};
pub(crate) use origin::check as check_origin;
pub(crate) use repeated::reject_repeated_headers;

use crate::compose::CurrentConfig;
use crate::state::AppState;
use auth::rates::is_static_file;
use auth::{AuthMethod, Credentials, audit_address};
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use web::{API_KEYS_REFUSED, HttpError, Origin, RequestContext, SIGN_IN_PATH, query_encoded, see_other};
use wire::{ErrorCode, UserError};

/// Middleware that identifies the caller and stores them in an extension of the request. It also
/// keeps responses out of caches, and ends streams when the caller's rights end.
pub(crate) async fn identify_caller(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let current = &state.composition.current;
    let (authentication, path) = (current.authentication(), request.uri().path().to_owned());
    // Static files are the same for all callers, and browsers request them even with invalid
    // cookies.
    if is_static_file(&path) {
        request.extensions_mut().insert(authentication.anonymous_caller());
        return next.run(request).await;
    }
    let is_api = is_api_path(current, &path);
    let sent = Credentials::from_request(&request);
    let known = match authentication.identify(&sent).await {
        Ok(known) => known,
        Err(error) => return error_response(error, &path),
    };
    authentication.sync_key_roles(&known).await;
    // A page shows the error itself, or is public.
    if let Some(ended) = known.ended.filter(|_| is_api) {
        return error_response(ended, &path);
    }
    if let Some(refused) = api_key_error(&known.auth_method, is_api && !path.starts_with("/ui/"))
        .or_else(|| embed_token_error(&known.auth_method, &path))
    {
        return error_response(refused, &path);
    }
    let is_https = authentication.is_https(&sent);
    let address = current.rates().address(&sent);
    // The owner in the mode `local` never changes. Other identities, such as embed tokens and API
    // keys, can end.
    let is_bounded = !authentication.is_local() || known.auth_method != AuthMethod::Primary;
    let recorded = address.and_then(|address| audit_address(address, authentication.audit_addresses));
    request.extensions_mut().insert(RequestContext {
        credentials: sent.clone(),
        auth_method: known.auth_method,
        is_https,
        address,
        audit_address: recorded,
        has_sign_in: authentication.accounts().is_some(),
    });
    request.extensions_mut().insert(known.caller.clone());
    if let Some(origin) = authentication.origin(&sent) {
        request.extensions_mut().insert(Origin(origin));
    }
    let asked = (request.method() == Method::GET).then(|| request.uri().clone());
    let mut response = next.run(request).await;
    if let Some(asked) = asked.filter(|_| response.status() == StatusCode::UNAUTHORIZED && !is_api)
        && authentication.accounts().is_some()
    {
        return redirect_to_sign_in(&asked);
    }
    let is_good = response.status().is_success();
    let headers = response.headers_mut();
    if let Some(cookie) = known.cookie.filter(|_| is_good) {
        headers.append(header::SET_COOKIE, cookie);
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if is_bounded { streams::end_with_rights(response, known.caller, sent, current.clone()) } else { response }
}

/// Returns an error for API keys outside of the API. A route of the API checks itself whether the
/// key has its scope.
fn api_key_error(via: &AuthMethod, is_for_programs: bool) -> Option<UserError> {
    let is_refused = matches!(via, AuthMethod::Key(_)) && !is_for_programs;
    is_refused.then(|| UserError::new(ErrorCode::Forbidden, API_KEYS_REFUSED))
}

/// Returns an error for paths that embed tokens must not reach: the user's account and the admin
/// console.
fn embed_token_error(via: &AuthMethod, path: &str) -> Option<UserError> {
    let closed = ["/admin", "/auth/", "/api/admin", "/api/keys"];
    let is_closed = *via == AuthMethod::Site && closed.iter().any(|begin| path.starts_with(begin));
    is_closed.then(|| UserError::new(ErrorCode::Forbidden, "Tokens of embedded chats cannot be used for this request."))
}

/// Redirects to the sign-in page, which leads back to the requested page.
fn redirect_to_sign_in(asked: &Uri) -> Response {
    let next = asked.path_and_query().map_or("/", |asked| asked.as_str());
    see_other(&format!("{SIGN_IN_PATH}?next={}", query_encoded(next)), None)
}

/// Returns whether scripts and API clients call this path; all others are pages.
fn is_api_path(current: &CurrentConfig, path: &str) -> bool {
    let is_own = path.starts_with("/api/") || path.starts_with("/ui/");
    is_own || current.capabilities().api_format(path).is_some()
}

/// Returns the response for an error, in the format that the path's clients read.
fn error_response(error: UserError, path: &str) -> Response {
    let mut response = match StatusCode::from_u16(error.code.status()) {
        Ok(status) if path.starts_with("/ui/") => (status, Json(error)).into_response(),
        _ => HttpError(error).into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if response.status() == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}
