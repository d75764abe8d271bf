//! The rate limits of the config, applied to requests.

use super::{error_response, is_api_path};
use crate::state::AppState;
use auth::password::Subject;
use auth::rates::{LimitedClient, count_refusal, is_provider_sign_in, rate_limit_message};
use auth::{AccountAction, Credentials, audit_address, client_network};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chat::Caller;
use web::HttpError;
use web::html::too_many_requests_page;
use wire::{ErrorCode, UserError};

/// Middleware that answers 429 if an address exceeds a rate limit. It runs before authentication,
/// so that requests with invalid keys count, too.
pub(crate) async fn limit_by_address(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let rates = state.composition.current.rates();
    if rates.is_empty() {
        return next.run(request).await;
    }
    let sent = Credentials::from_request(&request);
    let path = request.uri().path();
    let counted = rates.address(&sent).and_then(client_network).map(LimitedClient::Address);
    match counted.map(|counted| rates.count(request.method(), path, &counted)) {
        Some(Err(seconds)) => {
            record_refused_attempt(&state, &sent, request.method(), path, None);
            rate_limited_response(&state, seconds, path)
        }
        _ => next.run(request).await,
    }
}

/// Middleware that answers 429 if a user exceeds a rate limit.
pub(crate) async fn limit_by_user(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let rates = state.composition.current.rates();
    let caller = request.extensions().get::<Caller>();
    let (Some(caller), false) = (caller, rates.is_empty()) else { return next.run(request).await };
    let path = request.uri().path();
    match rates.count(request.method(), path, &LimitedClient::User(caller.user_id.clone())) {
        Err(seconds) => {
            let user = Some(caller).filter(|caller| caller.is_authenticated);
            record_refused_attempt(&state, &Credentials::from_request(&request), request.method(), path, user);
            rate_limited_response(&state, seconds, path)
        }
        Ok(()) => next.run(request).await,
    }
}

/// Records in the audit log that an attempt to sign in, to sign up or to change a password was
/// refused.
fn record_refused_attempt(state: &AppState, sent: &Credentials, method: &Method, path: &str, user: Option<&Caller>) {
    let is_at_provider = method == Method::GET && is_provider_sign_in(path);
    let action = match path {
        "/auth/sign-in" | "/auth/second-step" | "/auth/second-step/set-up" => AccountAction::SignIn,
        "/auth/sign-up" => AccountAction::SignUp,
        "/auth/invitation" => AccountAction::AcceptInvitation,
        "/auth/first-admin" => AccountAction::FirstAccount,
        "/auth/password" | "/auth/new-password" => AccountAction::ChangePassword,
        "/auth/two-step" | "/auth/two-step/replace" => AccountAction::SetUpSecondFactor,
        "/auth/two-step/remove" => AccountAction::RemoveSecondFactor,
        "/auth/two-step/codes" => AccountAction::ReplaceRecoveryCodes,
        _ if is_at_provider => AccountAction::SignIn,
        path if path.starts_with("/auth/openid-connect/") && path.ends_with("/link") => AccountAction::LinkIdentity,
        _ => return,
    };
    let authentication = state.composition.current.authentication();
    let Some(accounts) = authentication.accounts().filter(|_| is_at_provider || method == Method::POST) else { return };
    let address = state.composition.current.rates().address(sent);
    let address = address.and_then(|address| audit_address(address, authentication.audit_addresses));
    let subject = match user {
        Some(user) => Subject::User(user.user_id.clone()),
        None => Subject::Client(address.clone()),
    };
    accounts.record_limited(action, ("rates", subject), address.as_deref());
}

fn rate_limited_response(state: &AppState, seconds: u32, path: &str) -> Response {
    count_refusal(path);
    let mut response = if is_api_path(&state.composition.current, path) {
        rate_limit_error(seconds, path)
    } else {
        too_many_requests_page()
    };
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

fn rate_limit_error(seconds: u32, path: &str) -> Response {
    let message = rate_limit_message(seconds);
    let error = UserError { retry_after: Some(seconds), ..UserError::new(ErrorCode::RateLimited, message) };
    if path.starts_with("/ui/") { error_response(error, path) } else { HttpError(error).into_response() }
}
