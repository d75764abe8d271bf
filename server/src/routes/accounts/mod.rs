//! Signing in and out, and the account page: plain pages with plain forms, which need no script. They exist in the mode
//! `password`; the account page, with API keys only, also where users are kept elsewhere.

mod account;
mod account_page;
mod api;
pub(super) mod forms;
pub(super) mod layout;
mod new_account;
mod sign_in;

pub(crate) use account::{change_password, delete_key, end_session, make_key, show};
pub(crate) use api::{delete_key as delete_key_api, list_keys, make_key as make_key_api};
pub(crate) use new_account::{first_admin, first_admin_form, sign_up, sign_up_form};
pub(crate) use sign_in::{sign_in, sign_in_form, sign_out};

use crate::auth::password::{Accounts, Crowded};
use crate::auth::{Asker, Keys, Via};
use crate::router::AppState;
use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chat::Caller;
use std::sync::Arc;
use store::StoreError;

/// Where users sign in.
pub(crate) const SIGN_IN: &str = "/auth/sign-in";
/// Where a form signs users out.
pub(crate) const SIGN_OUT: &str = "/auth/sign-out";
/// The account page.
pub(crate) const ACCOUNT: &str = "/auth/account";

/// The accounts of this server; 404 where it keeps none.
pub(crate) struct Door(Arc<Accounts>);

impl FromRequestParts<AppState> for Door {
    type Rejection = Response;

    async fn from_request_parts(_: &mut Parts, state: &AppState) -> Result<Self, Response> {
        state.composition.current.authentication().accounts().map(Self).ok_or_else(layout::nothing)
    }
}

/// The user who is signed in in this browser.
pub(crate) struct Member {
    caller: Caller,
    session_id: String,
    /// From where, as the audit log records it.
    recorded: Option<String>,
}

impl FromRequestParts<AppState> for Member {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Response> {
        let found = <Self as OptionalFromRequestParts<AppState>>::from_request_parts(parts, state).await;
        found.ok().flatten().ok_or_else(|| see_other(&format!("{SIGN_IN}?next={ACCOUNT}"), None))
    }
}

impl OptionalFromRequestParts<AppState> for Member {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Option<Self>, Self::Rejection> {
        let (asker, caller) = (parts.extensions.get::<Asker>(), parts.extensions.get::<Caller>());
        let (Some(Asker { via: Via::Session(session_id), recorded, .. }), Some(caller)) = (asker, caller) else {
            return Ok(None);
        };
        Ok(Some(Self { caller: caller.clone(), session_id: session_id.clone(), recorded: recorded.clone() }))
    }
}

/// A user who may have API keys, and where these are kept.
pub(crate) struct Holder {
    caller: Caller,
    keys: Keys,
    /// With an account here, and in which session.
    member: Option<(Arc<Accounts>, String)>,
    /// From where, as the audit log records it.
    recorded: Option<String>,
}

impl Holder {
    /// Who is signed in in this browser.
    fn of(accounts: &Arc<Accounts>, member: &Member) -> Self {
        let Member { caller, session_id, recorded } = member;
        let member = Some((accounts.clone(), session_id.clone()));
        Self { caller: caller.clone(), keys: Keys::Accounts(accounts.clone()), member, recorded: recorded.clone() }
    }
}

impl FromRequestParts<AppState> for Holder {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Response> {
        let keys = state.composition.current.authentication().keys().ok_or_else(layout::nothing)?;
        if let Keys::Accounts(accounts) = &keys {
            let member = <Member as FromRequestParts<AppState>>::from_request_parts(parts, state).await?;
            return Ok(Self::of(accounts, &member));
        }
        let asker = parts.extensions.get::<Asker>().filter(|asker| asker.via == Via::Whole);
        let recorded = asker.and_then(|asker| asker.recorded.clone());
        let is_user = |caller: &&Caller| asker.is_some() && caller.is_authenticated;
        let caller = parts.extensions.get::<Caller>().filter(is_user).cloned();
        let nobody = || {
            let text = "Sign in with the application that you use, then come back to this page.";
            layout::message(StatusCode::UNAUTHORIZED, "You are not signed in", text)
        };
        Ok(Self { caller: caller.ok_or_else(nobody)?, keys, member: None, recorded })
    }
}

/// Why a form could not be processed, whatever the form.
pub(crate) enum Trouble {
    /// Too many at once.
    Busy,
    /// The database, or what hashes.
    Broken(String),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Broken(error.to_string())
    }
}

impl From<anyhow::Error> for Trouble {
    fn from(error: anyhow::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

impl From<Crowded> for Trouble {
    fn from(_: Crowded) -> Self {
        Self::Busy
    }
}

/// After how many seconds to try again.
const TROUBLE_LASTS: u32 = 3;

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        let mut response = match self {
            Self::Busy => layout::message(
                StatusCode::SERVICE_UNAVAILABLE,
                "The server is busy",
                "Many users are signing in right now. Go back and try again in a moment.",
            ),
            Self::Broken(error) => {
                tracing::error!(%error, "an account's page failed");
                layout::message(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "This is not possible right now",
                    "Go back and try again in a moment.",
                )
            }
        };
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(TROUBLE_LASTS));
        response
    }
}

/// An answer with 429 that says when to try again.
fn retry_after(mut response: Response, seconds: u64) -> Response {
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// The page for a client that sends too many requests.
pub(crate) fn too_many() -> Response {
    layout::message(
        StatusCode::TOO_MANY_REQUESTS,
        "Too many requests",
        "Wait for a moment, then go back and try again.",
    )
}

/// Leads on to another page, perhaps with a cookie.
pub(crate) fn see_other(to: &str, cookie: Option<HeaderValue>) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/")));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(cookie) = cookie {
        headers.append(header::SET_COOKIE, cookie);
    }
    response
}

/// A value in a query string.
pub(crate) fn encoded(value: &str) -> String {
    url::form_urlencoded::byte_serialize(value.as_bytes()).collect()
}

/// Where to go after signing in: a page of this server, and nowhere else (A39).
pub(crate) fn own_path(next: Option<&str>) -> &str {
    let is_own = |path: &&str| {
        path.starts_with('/')
            && !path.starts_with("//")
            && path.len() <= 2_000
            // Browsers read a backslash as a slash and leave out tabs and line breaks.
            && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
            && (!path.starts_with("/auth/") || *path == ACCOUNT)
    };
    next.filter(is_own).unwrap_or("/")
}

#[cfg(test)]
mod tests {
    use super::own_path;

    #[test]
    fn only_own_paths_are_gone_to() {
        let check = |next: &str, expected: &str| assert_eq!(own_path(Some(next)), expected, "{next}");
        check("/support?conversation=a%20b", "/support?conversation=a%20b");
        check("/", "/");
        check("/auth/account", "/auth/account");
        for elsewhere in [
            "",
            "support",
            "//evil.test",
            "/\\evil.test",
            "\\\\evil.test",
            "/\t/evil.test",
            "https://evil.test",
            "javascript:alert(1)",
            "/a\r\nset-cookie: x=1",
            "/auth/sign-in?next=/",
            "/é",
        ] {
            check(elsewhere, "/");
        }
    }
}
