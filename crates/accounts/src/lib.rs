#![doc = include_str!("../README.md")]

mod account;
mod account_page;
mod api;
mod first_password;
mod forms;
mod keep_view;
mod navigation;
mod new_account;
mod openid_connect;
mod second_step;
mod sign_in;
mod two_step;
mod usage;

use auth::password::{Accounts, HasherBusy, INVITATION_PATH};
use auth::{ApiKeys, AuthMethod, Authentication};
use axum::Router;
use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use chat::{Caller, Chat};
use std::sync::Arc;
use store::StoreError;
use web::html::AccountPage;
use web::openapi::ApiRouter;
use web::{RequestContext, SIGN_IN_PATH, see_other};

/// The path of the form that signs users out.
pub const SIGN_OUT_PATH: &str = "/auth/sign-out";
/// The path of the account page.
pub const ACCOUNT_PATH: &str = "/auth/account";

/// Returns the routes. They expect the [`Caller`] and the [`RequestContext`] in extensions of each
/// request.
pub fn routes<S: Clone + Send + Sync + 'static>(state: AccountState) -> ApiRouter<S> {
    let pages = Router::new()
        .route(SIGN_IN_PATH, get(sign_in::sign_in_form).post(sign_in::sign_in))
        .route(SIGN_OUT_PATH, post(sign_in::sign_out))
        .route("/auth/sign-up", get(new_account::sign_up_form).post(new_account::sign_up))
        .route(INVITATION_PATH, get(new_account::invitation_form).post(new_account::accept_invitation))
        .route("/auth/first-admin", get(new_account::first_admin_form).post(new_account::first_admin))
        .route(ACCOUNT_PATH, get(account::show))
        .route("/auth/password", post(account::change_password))
        .route(first_password::NEW_PASSWORD_PATH, post(first_password::replace))
        .route(second_step::CODE_PATH, post(second_step::show_code))
        .route(second_step::SET_UP_PATH, post(second_step::set_up))
        .route("/auth/sessions/{id}/end", post(account::end_session))
        .route("/auth/keys", post(account::make_key))
        .route("/auth/keys/{id}/delete", post(account::delete_key))
        .merge(two_step::pages())
        .merge(openid_connect::pages());
    api::routes().with_pages(pages).map(|router| router.with_state(state))
}

/// The state of the routes.
#[derive(Clone)]
pub struct AccountState {
    authentication: Arc<dyn Fn() -> Arc<Authentication> + Send + Sync>,
    chat: Chat,
    links: Arc<dyn Fn() -> Vec<AccountPage> + Send + Sync>,
    first_page: Arc<dyn Fn() -> Option<&'static str> + Send + Sync>,
}

impl AccountState {
    /// Creates the state from a function that returns the authentication of the config in use, and
    /// the chat that knows what users have used.
    pub fn new(authentication: impl Fn() -> Arc<Authentication> + Send + Sync + 'static, chat: Chat) -> Self {
        let authentication = Arc::new(authentication);
        Self { authentication, chat, links: Arc::new(Vec::new), first_page: Arc::new(|| None) }
    }

    /// Leads the first administrator to this page, unless they have asked for another one than the start page.
    #[must_use]
    pub fn with_first_page(self, first_page: impl Fn() -> Option<&'static str> + Send + Sync + 'static) -> Self {
        Self { first_page: Arc::new(first_page), ..self }
    }

    /// Adds links to pages about the user to the account page.
    #[must_use]
    pub fn with_links(self, links: impl Fn() -> Vec<AccountPage> + Send + Sync + 'static) -> Self {
        Self { links: Arc::new(links), ..self }
    }

    fn authentication(&self) -> Arc<Authentication> {
        (self.authentication)()
    }
}

/// Extracts the accounts of this server; responds with 404 where it has none.
pub(crate) struct LocalAccounts(Arc<Accounts>);

impl FromRequestParts<AccountState> for LocalAccounts {
    type Rejection = Response;

    async fn from_request_parts(_: &mut Parts, state: &AccountState) -> Result<Self, Response> {
        state.authentication().accounts().map(Self).ok_or_else(web::html::not_found_page)
    }
}

/// Extracts the accounts of a server on which users have passwords; responds with 404 elsewhere.
pub(crate) struct PasswordAccounts(Arc<Accounts>);

impl FromRequestParts<AccountState> for PasswordAccounts {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &AccountState) -> Result<Self, Response> {
        let LocalAccounts(accounts) = LocalAccounts::from_request_parts(parts, state).await?;
        if accounts.settings.passwords { Ok(Self(accounts)) } else { Err(web::html::not_found_page()) }
    }
}

/// Extracts the signed-in user of this browser's session.
pub(crate) struct SignedInUser {
    caller: Caller,
    session_id: String,
    /// The client's address, as the audit log records it.
    recorded: Option<String>,
}

impl FromRequestParts<AccountState> for SignedInUser {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &AccountState) -> Result<Self, Response> {
        let found = <Self as OptionalFromRequestParts<AccountState>>::from_request_parts(parts, state).await;
        found.ok().flatten().ok_or_else(|| see_other(&format!("{SIGN_IN_PATH}?next={ACCOUNT_PATH}"), None))
    }
}

impl OptionalFromRequestParts<AccountState> for SignedInUser {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &AccountState) -> Result<Option<Self>, Self::Rejection> {
        let (asker, caller) = (parts.extensions.get::<RequestContext>(), parts.extensions.get::<Caller>());
        let (
            Some(RequestContext { auth_method: AuthMethod::Session(session_id), audit_address: recorded, .. }),
            Some(caller),
        ) = (asker, caller)
        else {
            return Ok(None);
        };
        Ok(Some(Self { caller: caller.clone(), session_id: session_id.clone(), recorded: recorded.clone() }))
    }
}

/// Extracts a user who may have API keys, with the storage of these keys.
pub(crate) struct KeyOwner {
    caller: Caller,
    keys: ApiKeys,
    /// The accounts and the session id, for a user with an account on this server.
    session: Option<(Arc<Accounts>, String)>,
    /// The client's address, as the audit log records it.
    recorded: Option<String>,
    chat: Chat,
    /// Further pages about the user.
    links: Vec<AccountPage>,
}

impl KeyOwner {
    /// Returns the owner of keys for a user who is signed in.
    fn from_session(accounts: &Arc<Accounts>, member: &SignedInUser, state: &AccountState) -> Self {
        let SignedInUser { caller, session_id, recorded } = member;
        let member = Some((accounts.clone(), session_id.clone()));
        Self {
            caller: caller.clone(),
            keys: ApiKeys::Accounts(accounts.clone()),
            session: member,
            recorded: recorded.clone(),
            chat: state.chat.clone(),
            links: (state.links)(),
        }
    }
}

impl FromRequestParts<AccountState> for KeyOwner {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &AccountState) -> Result<Self, Response> {
        let keys = state.authentication().api_keys().ok_or_else(web::html::not_found_page)?;
        if let ApiKeys::Accounts(accounts) = &keys {
            let member = <SignedInUser as FromRequestParts<AccountState>>::from_request_parts(parts, state).await?;
            return Ok(Self::from_session(accounts, &member, state));
        }
        let asker = parts.extensions.get::<RequestContext>().filter(|asker| asker.auth_method == AuthMethod::Primary);
        let recorded = asker.and_then(|asker| asker.audit_address.clone());
        let is_user = |caller: &&Caller| asker.is_some() && caller.is_authenticated;
        let caller = parts.extensions.get::<Caller>().filter(is_user).cloned();
        let nobody = || {
            let text = "Sign in with the application that you use, then come back to this page.";
            web::html::message_page(StatusCode::UNAUTHORIZED, "You are not signed in", text)
        };
        let (chat, links) = (state.chat.clone(), (state.links)());
        Ok(Self { caller: caller.ok_or_else(nobody)?, keys, session: None, recorded, chat, links })
    }
}

/// A failure that can happen in every form.
pub(crate) enum AccountError {
    /// Too many passwords are being hashed.
    Busy,
    /// The database or the hashing failed.
    Failed(String),
}

impl From<StoreError> for AccountError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<anyhow::Error> for AccountError {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<HasherBusy> for AccountError {
    fn from(_: HasherBusy) -> Self {
        Self::Busy
    }
}

/// The seconds after which a client may try again.
const RETRY_SECONDS: u32 = 3;

impl IntoResponse for AccountError {
    fn into_response(self) -> Response {
        let mut response = match self {
            Self::Busy => web::html::message_page(
                StatusCode::SERVICE_UNAVAILABLE,
                "The server is busy",
                "Many users are signing in right now. Go back and try again in a moment.",
            ),
            Self::Failed(error) => {
                tracing::error!(%error, "an account page failed");
                web::html::message_page(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "This is not possible right now",
                    "Go back and try again in a moment.",
                )
            }
        };
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(RETRY_SECONDS));
        response
    }
}

/// Returns the path to open after sign-in: only a page of this server, so that a link cannot
/// redirect to another site.
pub(crate) fn local_path(next: Option<&str>) -> &str {
    let is_own = |path: &&str| {
        path.starts_with('/')
            && !path.starts_with("//")
            && path.len() <= 2_000
            // Browsers read a backslash as a slash and ignore tabs and line breaks.
            && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
            && (!path.starts_with("/auth/") || *path == ACCOUNT_PATH)
    };
    next.filter(is_own).unwrap_or("/")
}

#[cfg(test)]
mod tests {
    use super::local_path;

    #[test]
    fn only_local_paths_are_followed() {
        let check = |next: &str, expected: &str| assert_eq!(local_path(Some(next)), expected, "{next}");
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
