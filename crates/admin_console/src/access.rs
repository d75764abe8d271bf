//! The sessions and API keys of all users, including external users, which can be revoked.

use crate::state::ConsoleState;
use auth::password::now_millis;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::{NoContent, Response};
use axum::routing::post;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use store::{AccessFilter, AccessKind, AccessSort, AdminAccess, Store};
use web::admin::filters::{Choice, field, select_field, user_id};
use web::admin::list::{self, Cell, Column, List, ListPage, ListView, PageRequest};
use web::admin::{Admin, PageError, from_store_error};
use web::html::{browser_name, link, row_button, text};
use web::openapi::ApiRouter;
use web::times::minute;
use web::{HttpError, query_encoded, see_other};
use wire::UserError;

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    list::routes::<AccessList>()
        .delete("/api/admin/access/{kind}/{id}", revoke_api, "Revoke a session or an API key")
        .with_pages(Router::new().route("/admin/access/{kind}/{id}/revoke", post(revoke)))
}

struct AccessList;

type AccessColumn = Column<AdminAccess>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
struct AccessQuery {
    /// Only those of this user (id).
    user: Option<String>,
    /// `any`, `session`, `key`, or `outside` for API keys of external users.
    #[serde(default)]
    kind: AccessKindQuery,
    /// `newest`, `oldest` or `used`.
    #[serde(default)]
    sort: AccessSortQuery,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum AccessKindQuery {
    #[default]
    Any,
    Session,
    Key,
    Outside,
}

impl AccessKindQuery {
    fn kind(self) -> Option<AccessKind> {
        match self {
            Self::Any => None,
            Self::Session => Some(AccessKind::Session),
            Self::Key => Some(AccessKind::Key),
            Self::Outside => Some(AccessKind::Outside),
        }
    }
}

impl Choice for AccessKindQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Any, "any", "All"),
        (Self::Session, "session", "Sessions"),
        (Self::Key, "key", "API keys of this server's users"),
        (Self::Outside, "outside", "API keys of external users"),
    ];
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum AccessSortQuery {
    #[default]
    Newest,
    Oldest,
    Used,
}

impl AccessSortQuery {
    fn sort(self) -> AccessSort {
        match self {
            Self::Newest => AccessSort::Newest,
            Self::Oldest => AccessSort::Oldest,
            Self::Used => AccessSort::Used,
        }
    }
}

impl Choice for AccessSortQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Newest, "newest", "Newest first"),
        (Self::Oldest, "oldest", "Oldest first"),
        (Self::Used, "used", "Last used first"),
    ];
}

impl List for AccessList {
    type State = ConsoleState;
    type Query = AccessQuery;
    type Row = AdminAccess;

    const PATH: &'static str = "/admin/access";
    const SUMMARY: &'static str = "List the sessions and API keys of all users";
    const TITLE: &'static str = "Sessions and API keys";
    const EMPTY: &'static str = "No sessions or keys match.";
    const NONE_YET: &'static str = "There are no sessions or keys yet. Sessions appear when users sign in, keys when users create them on their account pages.";
    const COLUMNS: &'static [AccessColumn] = &[
        AccessColumn::in_file("id", |access| Cell::text(&access.id)),
        AccessColumn::new("Name", "name", |access| Cell::text(&access.name)).shown_as(|access| text(name_text(access))),
        AccessColumn::new("Type", "kind", |access| Cell::text(access.kind.name()))
            .shown_as(|access| text(type_text(access))),
        AccessColumn::in_file("mode", |access| Cell::optional(access.mode.as_deref())),
        AccessColumn::new("User", "user", |access| Cell::text(&access.user_id))
            .shown_as(|access| link(format!("?user={}", query_encoded(&access.user_id)), owner(access))),
        AccessColumn::in_file("userName", |access| Cell::optional(access.user_name.as_deref())),
        AccessColumn::new("Scopes", "scopes", |access| Cell::text(access.scopes.join(" ")))
            .shown_as(|access| text(access.scopes.join(", "))),
        AccessColumn::new("Created (UTC)", "created", |access| Cell::time(access.created_at)),
        AccessColumn::new("Expires (UTC)", "expires", |access| Cell::time(access.expires_at))
            .shown_as(|access| text(access.expires_at.map(expiry_text).unwrap_or_default())),
        AccessColumn::new("Last used (UTC)", "used", |access| Cell::time(access.used_at)),
        AccessColumn::in_table("Action", |access| {
            let path = format!("/admin/access/{}/{}/revoke", access.kind.name(), query_encoded(&access.id));
            row_button(path, "Revoke", format!("Revoke {} of {}", name_text(access), owner(access)))
        }),
    ];
    const FILE_ORDER: &'static [&'static str] =
        &["id", "kind", "user", "userName", "mode", "name", "scopes", "created", "expires", "used"];

    fn store(state: &ConsoleState) -> &Store {
        &state.store
    }

    async fn fetch(
        state: &ConsoleState,
        query: &AccessQuery,
        page: &PageRequest,
    ) -> Result<ListPage<AdminAccess>, UserError> {
        let user_id = user_id(&state.store, query.user.as_deref()).await?;
        let filter = AccessFilter { user_id, kind: query.kind.kind(), id: None };
        let found = state.store.all_access(filter, query.sort.sort(), page.limit(), page.cursor()?).await;
        Ok(page.page(found.map_err(from_store_error)?))
    }

    fn filters(_: &ConsoleState, query: &AccessQuery) -> Option<AnyView> {
        Some(
            view! {
                {field("user", "User (name or id)", "text", query.user.as_deref())}
                {select_field("kind", "Type", query.kind)}
                {select_field("sort", "Order", query.sort)}
            }
            .into_any(),
        )
    }

    async fn content(_: &ConsoleState, _: &AccessQuery, list: ListView) -> Result<AnyView, UserError> {
        Ok(view! {
            <p class="cw-account-note">
                "Browser sessions and API keys of all users. Revoking one ends its access with the next request."
            </p>
            {list.into_any()}
        }
        .into_any())
    }
}

fn owner(access: &AdminAccess) -> &str {
    access.user_name.as_ref().unwrap_or(&access.user_id)
}

/// Returns the name of a key, or the browser of a session, whose name is a `User-Agent`.
fn name_text(access: &AdminAccess) -> String {
    match access.kind {
        AccessKind::Session => browser_name(&access.name),
        AccessKind::Key | AccessKind::Outside => access.name.clone(),
    }
}

fn type_text(access: &AdminAccess) -> String {
    match (access.kind, &access.mode) {
        (AccessKind::Session, _) => "Session".to_owned(),
        (AccessKind::Key, _) => "Key".to_owned(),
        (AccessKind::Outside, mode) => format!("Key ({})", mode.as_deref().unwrap_or_default()),
    }
}

fn expiry_text(at: i64) -> String {
    let expired = if at <= now_millis() { " (expired)" } else { "" };
    minute(at) + expired
}

/// Revokes a session or an API key.
async fn revoke_access(state: &ConsoleState, admin: &Admin, (kind, id): (AccessKind, &str)) -> Result<(), UserError> {
    let store = &state.store;
    let filter = AccessFilter { kind: Some(kind), id: Some(id.to_owned()), ..AccessFilter::default() };
    let found = store.all_access(filter, AccessSort::default(), 1, None).await.map_err(from_store_error)?;
    let (access, _) = found.into_iter().next().ok_or_else(UserError::not_found)?;
    let about = json!({ "userId": access.user_id, "kind": kind, "id": id, "name": access.name, "mode": access.mode });
    let entry = admin.audit_entry("revoke_access", "", about);
    if store.revoke_access(kind, id, entry).await.map_err(from_store_error)? {
        Ok(())
    } else {
        Err(UserError::not_found())
    }
}

/// `POST /admin/access/{kind}/{id}/revoke`
async fn revoke(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path((kind, id)): Path<(AccessKind, String)>,
) -> Result<Response, PageError> {
    revoke_access(&state, &admin, (kind, &id)).await?;
    Ok(see_other(AccessList::PATH, None))
}

/// `DELETE /api/admin/access/{kind}/{id}`
async fn revoke_api(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path((kind, id)): Path<(AccessKind, String)>,
) -> Result<NoContent, HttpError> {
    revoke_access(&state, &admin, (kind, &id)).await?;
    Ok(NoContent)
}
