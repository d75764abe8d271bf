//! The sessions and API keys of all users, also of users who are kept elsewhere, and how one is revoked.

use super::csv::{self, Csv};
use super::layout::{Tab, page};
use super::lists::{PAGE, as_table, choice, field, filled, paged, pager, place};
use super::table::Column::Text;
use super::table::{link, table, text};
use super::{Admin, PageError, of_store};
use crate::auth::password::now;
use crate::router::AppState;
use crate::routes::accounts::{encoded, see_other};
use crate::routes::times::minute;
use axum::extract::{Path, Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{AccessFilter, AccessKind, AccessSort, AdminAccess, Place};
use wire::UserError;

/// Which of them, in an address.
#[derive(Default, Deserialize)]
pub(crate) struct AccessQuery {
    user: Option<String>,
    #[serde(default)]
    kind: KindQuery,
    #[serde(default)]
    sort: SortQuery,
    after: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KindQuery {
    #[default]
    Any,
    Session,
    Key,
    Outside,
}

impl KindQuery {
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

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SortQuery {
    #[default]
    Newest,
    Oldest,
    Used,
}

impl SortQuery {
    fn sort(self) -> (AccessSort, &'static str) {
        match self {
            Self::Newest => (AccessSort::Newest, "newest"),
            Self::Oldest => (AccessSort::Oldest, "oldest"),
            Self::Used => (AccessSort::Used, "used"),
        }
    }
}

pub(super) async fn found(state: &AppState, query: &AccessQuery) -> Result<Vec<(AdminAccess, Place)>, UserError> {
    let filter = AccessFilter { user_id: filled(query.user.as_deref()), kind: query.kind.kind().0, id: None };
    let after = place(query.after.as_deref())?;
    state.composition.store.all_access(filter, query.sort.sort().0, PAGE + 1, after).await.map_err(of_store)
}

/// Revokes a session or an API key.
pub(super) async fn take_away(
    state: &AppState,
    admin: &Admin,
    (kind, id): (AccessKind, &str),
) -> Result<(), UserError> {
    let store = &state.composition.store;
    let filter = AccessFilter { kind: Some(kind), id: Some(id.to_owned()), ..AccessFilter::default() };
    let found = store.all_access(filter, AccessSort::default(), 1, None).await.map_err(of_store)?;
    let (access, _) = found.into_iter().next().ok_or_else(UserError::not_found)?;
    let about = json!({ "userId": access.user_id, "kind": kind, "id": id, "name": access.name, "mode": access.mode });
    let entry = admin.entry("revoke_access", "", about);
    match store.revoke_access(kind, id, entry).await.map_err(of_store)? {
        true => Ok(()),
        false => Err(UserError::not_found()),
    }
}

/// `GET /admin/access`
pub(crate) async fn list(
    admin: Admin,
    State(state): State<AppState>,
    Query(query): Query<AccessQuery>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    let (lines, next) = paged(found(&state, &query).await?);
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
            {choice("kind", "Type", &kinds, query.kind.kind().1)}
            {choice("sort", "Order", &orders, query.sort.sort().1)}
            <button class="cw-button">"Show"</button>
        </form>
        <p class="cw-admin-links">{as_table("/admin/access.csv", raw.as_deref())}</p>
        {lines_of(lines)}
        {pager("/admin/access", raw.as_deref(), next)}
    };
    Ok(page(&admin, Tab::Access, StatusCode::OK, "Sessions and API keys", content))
}

/// `GET /admin/access.csv`
pub(crate) async fn export(
    admin: Admin,
    State(state): State<AppState>,
    Query(mut query): Query<AccessQuery>,
) -> Result<Response, PageError> {
    state.composition.store.enter_audit(admin.entry("export_access", "", Value::Null)).await?;
    let mut file = Csv::new("id,kind,user,userName,mode,name,scopes,made,expires,used");
    loop {
        query.after = file.add_page(found(&state, &query).await?, cells);
        if query.after.is_none() {
            return Ok(file.file("access.csv"));
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
        csv::time(access.created_at),
        access.expires_at.map(csv::time).unwrap_or_default(),
        access.used_at.map(csv::time).unwrap_or_default(),
    ]
}

fn lines_of(lines: Vec<AdminAccess>) -> AnyView {
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
            <form method="post" action=format!("/admin/access/{}/{}/revoke", access.kind.name(), encoded(&access.id))>
                <button class="cw-button" aria-label=label>"Revoke"</button>
            </form>
        };
        [
            text(access.name.clone()),
            text(what(&access)),
            link(format!("?user={}", encoded(&access.user_id)), owner),
            text(access.scopes.join(", ")),
            text(minute(access.created_at)),
            text(access.expires_at.map(until).unwrap_or_default()),
            text(access.used_at.map(minute).unwrap_or_default()),
            revoke.into_any(),
        ]
    };
    table(columns, lines.into_iter().map(line), "No sessions or keys match.")
}

fn what(access: &AdminAccess) -> String {
    match (access.kind, &access.mode) {
        (AccessKind::Session, _) => "Session".to_owned(),
        (AccessKind::Key, _) => "Key".to_owned(),
        (AccessKind::Outside, mode) => format!("Key ({})", mode.as_deref().unwrap_or_default()),
    }
}

fn until(at: i64) -> String {
    let expired = if at <= now() { " (expired)" } else { "" };
    minute(at) + expired
}

/// `POST /admin/access/{kind}/{id}/revoke`
pub(crate) async fn revoke(
    admin: Admin,
    State(state): State<AppState>,
    Path((kind, id)): Path<(AccessKind, String)>,
) -> Result<Response, PageError> {
    take_away(&state, &admin, (kind, &id)).await?;
    Ok(see_other("/admin/access", None))
}
