//! Who calls, and from where: every request passes here before it reaches a route. And what a caller may use: see [`rights`].

mod account_log;
mod authentication;
mod authority;
mod budgets;
mod cookies;
mod credentials;
#[cfg(test)]
pub(crate) mod doors;
mod embedding;
mod forwarded;
pub(crate) mod ground;
mod hosts;
mod jwt;
mod origin;
mod outside;
pub(crate) mod password;
mod proxy;
pub(crate) mod rates;
mod repeated;
pub(crate) mod rights;
mod streams;
mod user;
mod visitors;

pub(crate) use account_log::{AccountAction, row as audit_row};
pub(crate) use authentication::{Authentication, Via};
pub(crate) use credentials::Credentials;
pub(crate) use embedding::Entry;
pub(crate) use forwarded::network as client_network;
pub(crate) use ground::Ground;
pub(crate) use hosts::{check_host, only_this_machine};
pub(crate) use origin::check as check_origin;
pub(crate) use outside::Keys;
pub(crate) use repeated::refuse_repeated;
pub(crate) use visitors::COOKIE_KEY;

use crate::error::HttpError;
use crate::router::AppState;
use crate::routes::accounts::{SIGN_IN, encoded, see_other};
pub(crate) use authentication::LOCAL_OWNER;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use password::Scope;
use std::net::IpAddr;
use wire::{ErrorCode, UserError};

/// How a caller came, for who looks after his account.
#[derive(Clone)]
pub(crate) struct Asker {
    pub(crate) sent: Credentials,
    pub(crate) via: Via,
    pub(crate) is_https: bool,
    /// From where, as far as the proxies in front of the server say so.
    pub(crate) address: Option<IpAddr>,
    /// The same as the audit log records it.
    pub(crate) recorded: Option<String>,
}

/// Names the caller, in an extension of the request, and sees to it that what is his stays his: nobody keeps the answer, and a
/// stream ends with his rights.
pub(crate) async fn name_caller(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let current = &state.composition.current;
    let (authentication, path) = (current.authentication(), request.uri().path().to_owned());
    // The same for all, and asked for with whatever lies in the browser.
    if is_file(&path) {
        request.extensions_mut().insert(authentication.nobody());
        return next.run(request).await;
    }
    let sent = Credentials::of(&request);
    let known = match authentication.identify(&sent).await {
        Ok(known) => known,
        Err(error) => return refusal(error, &path),
    };
    authentication.follow(&known).await;
    // A page tells him by itself, or is for everybody.
    if let Some(ended) = known.ended.filter(|_| is_of_program(&path)) {
        return refusal(ended, &path);
    }
    if let Some(refused) = not_for_key(&known.via, &path).or_else(|| not_for_site(&known.via, &path)) {
        return refusal(refused, &path);
    }
    let is_https = authentication.is_https(&sent);
    let address = current.rates().address(&sent);
    // Whoever reaches a server of one owner is that, for as long as it runs; a site's user and a program are so until what they came with
    // ends.
    let is_bounded = !authentication.is_local() || known.via != Via::Whole;
    let recorded = address.and_then(|address| account_log::recorded(address, authentication.audit_addresses));
    request.extensions_mut().insert(Asker { sent: sent.clone(), via: known.via, is_https, address, recorded });
    request.extensions_mut().insert(known.caller.clone());
    let asked = (request.method() == Method::GET).then(|| request.uri().clone());
    let mut response = next.run(request).await;
    if let Some(asked) = asked.filter(|_| response.status() == StatusCode::UNAUTHORIZED && !is_of_program(&path))
        && authentication.accounts().is_some()
    {
        return to_sign_in(&asked);
    }
    let is_good = response.status().is_success();
    let headers = response.headers_mut();
    if let Some(cookie) = known.cookie.filter(|_| is_good) {
        headers.append(header::SET_COOKIE, cookie);
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    match is_bounded {
        true => streams::bounded(response, known.caller, sent, current.clone()),
        false => response,
    }
}

/// A key opens what it is for.
fn not_for_key(via: &Via, path: &str) -> Option<UserError> {
    let Via::Key(scopes) = via else { return None };
    let needed = Scope::of_path(path);
    if needed.is_some_and(|needed| scopes.contains(&needed)) {
        return None;
    }
    let message = match needed {
        Some(needed) => format!("This API key does not have the scope `{}`, which this request needs.", needed.name()),
        None => "API keys cannot be used for this request.".to_owned(),
    };
    Some(UserError::new(ErrorCode::Forbidden, message))
}

/// What a chat on another site's page has no use for: the account of its user, and what administrators do.
fn not_for_site(via: &Via, path: &str) -> Option<UserError> {
    let closed = ["/admin", "/auth/", "/api/admin", "/api/keys"];
    let is_closed = *via == Via::Site && closed.iter().any(|begin| path.starts_with(begin));
    is_closed.then(|| UserError::new(ErrorCode::Forbidden, "Tokens of embedded chats cannot be used for this request."))
}

/// A page for those who are signed in leads there, and from there back.
fn to_sign_in(asked: &Uri) -> Response {
    let next = asked.path_and_query().map_or("/", |asked| asked.as_str());
    see_other(&format!("{SIGN_IN}?next={}", encoded(next)), None)
}

/// Files of the site, which know nothing of users.
fn is_file(path: &str) -> bool {
    path.starts_with("/pkg/") || path.starts_with("/assets/")
}

/// What scripts and programs call; everything else is a page.
fn is_of_program(path: &str) -> bool {
    path.starts_with("/api/") || path.starts_with("/ui/")
}

/// An error in the words of who asked: our own pages read a bare one.
fn refusal(error: UserError, path: &str) -> Response {
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
