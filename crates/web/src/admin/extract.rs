//! The administrator who makes a request.

use super::Menu;
use crate::error::{HttpError, from_store_error};
use crate::html::not_found_page;
use crate::openapi::RouteInput;
use crate::redirect::{SIGN_IN_PATH, query_encoded, see_other};
use crate::request::RequestContext;
use auth::password::KeyScope;
use auth::{AuthMethod, audit_row};
use axum::extract::FromRequestParts;
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use chat::Caller;
use serde_json::Value;
use std::convert::Infallible;
use store::{AuditEntry, Store};
use wire::UserError;

/// Returns whether a caller has the role `admin`.
pub fn is_admin(caller: &Caller) -> bool {
    caller.has_role(store::ADMIN)
}

/// Extracts whether a route for all users may show what only administrators see: to an administrator whose
/// credential also opens the console.
#[derive(Clone, Copy, Debug)]
pub struct ShowsAdministration(pub bool);

impl<S: Sync> FromRequestParts<S> for ShowsAdministration {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let opens_console = match parts.extensions.get::<RequestContext>().map(|context| &context.auth_method) {
            Some(AuthMethod::Key(scopes)) => scopes.contains(&KeyScope::Admin),
            Some(AuthMethod::Site) => false,
            _ => true,
        };
        Ok(Self(opens_console && parts.extensions.get::<Caller>().is_some_and(is_admin)))
    }
}

impl RouteInput for ShowsAdministration {}

/// Extracts an administrator. It is the first extractor of every route of the console, so that
/// nobody else learns anything from errors.
#[derive(Debug)]
pub struct Admin {
    /// The administrator as a caller.
    pub caller: Caller,
    /// The menu of the console that the request came to.
    pub(super) menu: Menu,
}

impl<S: Sync> FromRequestParts<S> for Admin {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        let caller = parts.extensions.get::<Caller>();
        if let Some(caller) = caller.filter(|caller| is_admin(caller)) {
            let (caller, menu) = (caller.clone(), parts.extensions.get::<Menu>().cloned().unwrap_or_default());
            let shows_menu = parts.method == Method::GET && !parts.uri.path().starts_with("/api/");
            let menu = if shows_menu { menu.counted().await } else { menu };
            return Ok(Self { caller, menu });
        }
        let path = parts.uri.path();
        if path.starts_with("/api/") {
            return Err(HttpError(UserError::not_found()).into_response());
        }
        // The session may have expired. The sign-in page is public and reveals nothing.
        let may_sign_in = caller.is_some_and(|caller| !caller.is_authenticated)
            && parts.extensions.get::<RequestContext>().is_some_and(|context| context.has_sign_in);
        let asked = parts.uri.path_and_query().map_or(path, |asked| asked.as_str());
        Err(if may_sign_in && parts.method == Method::GET {
            see_other(&format!("{SIGN_IN_PATH}?next={}", query_encoded(asked)), None)
        } else {
            not_found_page()
        })
    }
}

impl RouteInput for Admin {}

impl Admin {
    /// Builds the audit row of an administrator's action. Names of tools contain no colon, so they
    /// cannot be confused with it.
    pub fn audit_entry(&self, action: &str, conversation_id: &str, about: Value) -> AuditEntry {
        audit_row(&self.caller.user_id, &format!("admin:{action}"), conversation_id, about)
    }

    /// Writes an action to the audit log, before it is carried out.
    ///
    /// # Errors
    /// The database failed; the action must not be carried out then.
    pub async fn record(
        &self,
        store: &Store,
        action: &str,
        conversation_id: &str,
        about: Value,
    ) -> Result<(), UserError> {
        store.record_audit(self.audit_entry(action, conversation_id, about)).await.map_err(from_store_error)
    }
}
