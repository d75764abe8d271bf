//! The admin console: plain pages under `/admin`, which need no script, and the same functions as
//! an API under `/api/admin`. Users without the role `admin` get 404.

mod access;
mod agents;
mod agents_page;
mod api;
mod approvals;
mod audit;
mod chart;
mod config_page;
mod conversation_page;
mod conversations;
mod csv;
mod custom_agents;
mod custom_agents_page;
mod feedback;
mod layout;
mod lists;
mod operation_api;
mod overview;
mod reasons;
mod retention;
mod roles;
mod table;
mod tools;
mod user_names;
mod user_page;
mod users;
mod users_page;

use crate::error::HttpError;
use crate::gates::RequestContext;
use crate::router::AppState;
use crate::routes::accounts::{self, SIGN_IN_PATH, query_encoded, see_other};
use auth::audit_row;
use axum::Router;
use axum::extract::FromRequestParts;
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use chat::Caller;
use serde_json::Value;
use store::{AuditEntry, StoreError};
use wire::{ErrorCode, UserError};

/// Returns the routes of the console.
pub(crate) fn routes() -> Router<AppState> {
    let pages = Router::new()
        .route("/admin", get(overview::show))
        .route("/admin/users", get(users_page::list).post(users_page::add))
        .route("/admin/users.csv", get(users_page::export))
        .route("/admin/users/{id}", get(user_page::show))
        .route("/admin/users/{id}/{act}", post(user_page::apply_action))
        .route("/admin/access", get(access::list))
        .route("/admin/access.csv", get(access::export))
        .route("/admin/access/{kind}/{id}/revoke", post(access::revoke))
        .route("/admin/conversations", get(conversations::list))
        .route("/admin/conversations.csv", get(conversations::export_list))
        .route("/admin/conversations/{id}", get(conversations::show))
        .route("/admin/conversations/{id}/export", get(conversations::export))
        .route("/admin/conversations/{id}/delete", post(conversations::delete))
        .route("/admin/feedback", get(feedback::list))
        .route("/admin/feedback.csv", get(feedback::export))
        .route("/admin/agents", get(agents_page::list))
        .route("/admin/agents.csv", get(agents_page::export))
        .route("/admin/agents/{id}", get(agents_page::show))
        .route("/admin/agents/{id}/ask", post(agents_page::ask))
        .route("/admin/agents/{id}/tools", get(agents_page::tools))
        .route("/admin/agents/{id}/tools/{tool}", get(tools::show).post(tools::call))
        .route("/admin/custom-agents", get(custom_agents_page::list).post(custom_agents_page::add))
        .route("/admin/custom-agents.csv", get(custom_agents_page::export))
        .route("/admin/custom-agents/new", get(custom_agents_page::new))
        .route("/admin/custom-agents/{id}", get(custom_agents_page::show).post(custom_agents_page::change))
        .route("/admin/custom-agents/{id}/delete", post(custom_agents_page::delete))
        .route("/admin/tools", get(tools::list))
        .route("/admin/tools.csv", get(tools::export))
        .route("/admin/approvals", get(approvals::list))
        .route("/admin/approvals.csv", get(approvals::export))
        .route("/admin/approvals/{id}/revoke", post(approvals::revoke))
        .route("/admin/retention", get(retention::show).post(retention::sweep))
        .route("/admin/config", get(config_page::show))
        .route("/admin/audit", get(audit::list))
        .route("/admin/audit.csv", get(audit::export));
    let programs = Router::new()
        .route("/api/admin/overview", get(api::overview))
        .route("/api/admin/users", get(api::users).post(api::add_user))
        .route("/api/admin/users/{id}", get(api::user).patch(api::change_user).delete(api::delete_user))
        .route("/api/admin/users/{id}/password", post(api::reset_password))
        .route("/api/admin/users/{id}/sessions", axum::routing::delete(api::end_sessions))
        .route("/api/admin/access", get(operation_api::access))
        .route("/api/admin/access/{kind}/{id}", axum::routing::delete(operation_api::revoke_access))
        .route("/api/admin/conversations", get(api::conversations))
        .route("/api/admin/conversations/{id}", get(api::conversation).delete(api::delete_conversation))
        .route("/api/admin/feedback", get(api::feedback))
        .route("/api/admin/agents", get(operation_api::agents))
        .route("/api/admin/agents/{id}", get(operation_api::agent))
        .route("/api/admin/agents/{id}/ask", post(operation_api::ask))
        .route("/api/admin/agents/{id}/tools", get(operation_api::tools_of))
        .route("/api/admin/agents/{id}/tools/{tool}", post(operation_api::try_tool))
        .route("/api/admin/custom-agents", get(operation_api::custom_agents).post(operation_api::add_custom_agent))
        .route(
            "/api/admin/custom-agents/{id}",
            get(operation_api::custom_agent)
                .put(operation_api::change_custom_agent)
                .delete(operation_api::delete_custom_agent),
        )
        .route("/api/admin/tools", get(operation_api::tools))
        .route("/api/admin/approvals", get(operation_api::approvals))
        .route("/api/admin/approvals/{id}", axum::routing::delete(operation_api::revoke))
        .route("/api/admin/retention", get(operation_api::retention).post(operation_api::sweep))
        .route("/api/admin/config", get(operation_api::config))
        .route("/api/admin/audit", get(api::audit))
        .route("/api/admin/audit/verify", get(api::verify));
    pages.merge(programs)
}

/// Returns whether a caller has the role `admin`.
pub(crate) fn is_admin(caller: &Caller) -> bool {
    caller.is_authenticated && caller.roles.iter().any(|role| role == store::ADMIN)
}

/// Extracts an administrator. It is the first extractor of every route, so that nobody else learns
/// anything from errors.
pub(crate) struct Admin(pub(super) Caller);

impl FromRequestParts<AppState> for Admin {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Response> {
        let caller = parts.extensions.get::<Caller>();
        if let Some(caller) = caller.filter(|caller| is_admin(caller)) {
            return Ok(Self(caller.clone()));
        }
        let path = parts.uri.path();
        if path.starts_with("/api/") {
            return Err(HttpError(UserError::not_found()).into_response());
        }
        // The session may have expired. The sign-in page is public and reveals nothing.
        let may_sign_in = caller.is_some_and(|caller| !caller.is_authenticated)
            && parts.extensions.get::<RequestContext>().is_some()
            && state.composition.current.authentication().accounts().is_some();
        let asked = parts.uri.path_and_query().map_or(path, |asked| asked.as_str());
        Err(match may_sign_in && parts.method == Method::GET {
            true => see_other(&format!("{SIGN_IN_PATH}?next={}", query_encoded(asked)), None),
            false => accounts::layout::not_found_page(),
        })
    }
}

impl Admin {
    /// Builds the audit row of an administrator's action. Names of tools contain no colon, so they
    /// cannot be confused with it.
    fn audit_entry(&self, what: &str, conversation_id: &str, about: Value) -> AuditEntry {
        audit_row(&self.0.user_id, &format!("admin:{what}"), conversation_id, about)
    }
}

/// Converts an error of the store to the message for the administrator.
fn from_store_error(error: StoreError) -> UserError {
    match error {
        StoreError::NotFound => UserError::not_found(),
        StoreError::InvalidCursor => {
            UserError::new(ErrorCode::Malformed, "The cursor in `after` is not valid. Use `next` of the previous page.")
        }
        error => {
            if !error.is_reported() {
                tracing::error!(%error, "a request of the admin console failed in the database");
            }
            UserError::new(ErrorCode::Unavailable, "The database is not available right now. Try again in a moment.")
        }
    }
}

/// An error that is rendered as a page.
pub(crate) struct PageError(UserError);

impl From<UserError> for PageError {
    fn from(error: UserError) -> Self {
        Self(error)
    }
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        Self(from_store_error(error))
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        layout::error_page(&self.0)
    }
}
