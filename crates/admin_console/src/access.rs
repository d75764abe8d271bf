//! The page of the sessions and API keys of all users, including external users, which can be
//! revoked there.

use crate::state::ConsoleState;
use auth::password::now_millis;
use axum::extract::{Path, Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{AccessFilter, AccessKind, AccessSort, AdminAccess, ListCursor};
use web::admin::csv::{self, Csv};
use web::admin::lists::{PAGE_SIZE, csv_link, field, non_empty, pager, parse_cursor, select_field, split_page};
use web::admin::page;
use web::admin::{Admin, PageError, from_store_error};
use web::html::Column::Text;
use web::html::{link, table, text};
use web::times::minute;
use web::{query_encoded, see_other};
use wire::UserError;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(crate) struct AccessQuery {
    /// Only those of this user (id).
    user: Option<String>,
    /// `any`, `session`, `key`, or `outside` for API keys of external users.
    #[serde(default)]
    kind: AccessKindQuery,
    /// `newest`, `oldest` or `used`.
    #[serde(default)]
    sort: AccessSortQuery,
    /// `next` of the previous page.
    after: Option<String>,
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
    fn kind(self) -> (Option<AccessKind>, &'static str) {
        let kind = match self {
            Self::Any => return (None, "any"),
            Self::Session => AccessKind::Session,
            Self::Key => AccessKind::Key,
            Self::Outside => AccessKind::Outside,
        };
        (Some(kind), kind.name())
    }
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
    fn sort(self) -> (AccessSort, &'static str) {
        match self {
            Self::Newest => (AccessSort::Newest, "newest"),
            Self::Oldest => (AccessSort::Oldest, "oldest"),
            Self::Used => (AccessSort::Used, "used"),
        }
    }
}

pub(crate) async fn fetch_page(
    state: &ConsoleState,
    query: &AccessQuery,
) -> Result<Vec<(AdminAccess, ListCursor)>, UserError> {
    let filter = AccessFilter { user_id: non_empty(query.user.as_deref()), kind: query.kind.kind().0, id: None };
    let after = parse_cursor(query.after.as_deref())?;
    state.store.all_access(filter, query.sort.sort().0, PAGE_SIZE + 1, after).await.map_err(from_store_error)
}

/// Revokes a session or an API key.
pub(crate) async fn revoke_access(
    state: &ConsoleState,
    admin: &Admin,
    (kind, id): (AccessKind, &str),
) -> Result<(), UserError> {
    let store = &state.store;
    let filter = AccessFilter { kind: Some(kind), id: Some(id.to_owned()), ..AccessFilter::default() };
    let found = store.all_access(filter, AccessSort::default(), 1, None).await.map_err(from_store_error)?;
    let (access, _) = found.into_iter().next().ok_or_else(UserError::not_found)?;
    let about = json!({ "userId": access.user_id, "kind": kind, "id": id, "name": access.name, "mode": access.mode });
    let entry = admin.audit_entry("revoke_access", "", about);
    match store.revoke_access(kind, id, entry).await.map_err(from_store_error)? {
        true => Ok(()),
        false => Err(UserError::not_found()),
    }
}

/// `GET /admin/access`
pub(crate) async fn list(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<AccessQuery>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    let (lines, next) = split_page(fetch_page(&state, &query).await?);
    let kinds = [
        ("any", "All"),
        ("session", "Sessions"),
        ("key", "API keys of this server's users"),
        ("outside", "API keys of external users"),
    ];
    let orders = [("newest", "Newest first"), ("oldest", "Oldest first"), ("used", "Last used first")];
    let content = view! {
        <p class="cw-account-note">
            "Browser sessions and API keys of all users. Revoking one ends its access with the next request."
        </p>
        <form class="cw-admin-filter" method="get" role="search" aria-label="Sessions and API keys">
            {field("user", "User (id)", "text", query.user.as_deref())}
            {select_field("kind", "Type", &kinds, query.kind.kind().1)}
            {select_field("sort", "Order", &orders, query.sort.sort().1)}
            <button class="cw-button">"Show"</button>
        </form>
        <p class="cw-admin-links">{csv_link("/admin/access.csv", raw.as_deref())}</p>
        {access_table(lines)}
        {pager("/admin/access", raw.as_deref(), next)}
    };
    Ok(page(&admin, "/admin/access", StatusCode::OK, "Sessions and API keys", content))
}

/// `GET /admin/access.csv`
pub(crate) async fn export(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(mut query): Query<AccessQuery>,
) -> Result<Response, PageError> {
    state.store.record_audit(admin.audit_entry("export_access", "", Value::Null)).await?;
    let mut file = Csv::new("id,kind,user,userName,mode,name,scopes,created,expires,used");
    loop {
        query.after = file.add_page(fetch_page(&state, &query).await?, cells);
        if query.after.is_none() {
            return Ok(file.into_file("access.csv"));
        }
    }
}

fn cells(access: &AdminAccess) -> [String; 10] {
    [
        csv::cell(&access.id),
        csv::cell(access.kind.name()),
        csv::cell(&access.user_id),
        csv::cell(access.user_name.as_deref().unwrap_or_default()),
        csv::cell(access.mode.as_deref().unwrap_or_default()),
        csv::cell(&access.name),
        csv::cell(&access.scopes.join(" ")),
        csv::time_cell(access.created_at),
        access.expires_at.map(csv::time_cell).unwrap_or_default(),
        access.used_at.map(csv::time_cell).unwrap_or_default(),
    ]
}

fn access_table(lines: Vec<AdminAccess>) -> AnyView {
    let columns = [
        Text("Name"),
        Text("Type"),
        Text("User"),
        Text("Scopes"),
        Text("Created (UTC)"),
        Text("Expires (UTC)"),
        Text("Last used (UTC)"),
        Text("Action"),
    ];
    let line = |access: AdminAccess| {
        let owner = access.user_name.clone().unwrap_or_else(|| access.user_id.clone());
        let label = format!("Revoke {} of {owner}", access.name);
        let revoke = view! {
            <form method="post" action=format!("/admin/access/{}/{}/revoke", access.kind.name(), query_encoded(&access.id))>
                <button class="cw-button" aria-label=label>"Revoke"</button>
            </form>
        };
        [
            text(access.name.clone()),
            text(type_text(&access)),
            link(format!("?user={}", query_encoded(&access.user_id)), owner),
            text(access.scopes.join(", ")),
            text(minute(access.created_at)),
            text(access.expires_at.map(expiry_text).unwrap_or_default()),
            text(access.used_at.map(minute).unwrap_or_default()),
            revoke.into_any(),
        ]
    };
    table(columns, lines.into_iter().map(line), "No sessions or keys match.")
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

/// `POST /admin/access/{kind}/{id}/revoke`
pub(crate) async fn revoke(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path((kind, id)): Path<(AccessKind, String)>,
) -> Result<Response, PageError> {
    revoke_access(&state, &admin, (kind, &id)).await?;
    Ok(see_other("/admin/access", None))
}
