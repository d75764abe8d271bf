//! The standing approvals of all users, and how one is revoked.

use super::csv::{self, Csv};
use super::layout::{Tab, page};
use super::lists::{PAGE, as_table, choice, field, filled, paged, pager, place};
use super::table::Column::Text;
use super::table::{link, table, text};
use super::{Admin, PageError, of_store};
use crate::router::AppState;
use crate::routes::accounts::{encoded, see_other};
use crate::routes::times::minute;
use axum::extract::{Path, Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{AdminGrant, GrantFilter, GrantSort, Place};
use wire::UserError;

/// Which standing approvals, in an address.
#[derive(Default, Deserialize)]
pub(crate) struct ApprovalQuery {
    user: Option<String>,
    agent: Option<String>,
    tool: Option<String>,
    #[serde(default)]
    sort: SortQuery,
    after: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SortQuery {
    #[default]
    Newest,
    Oldest,
    Tool,
}

impl SortQuery {
    fn sort(self) -> (GrantSort, &'static str) {
        match self {
            Self::Newest => (GrantSort::Newest, "newest"),
            Self::Oldest => (GrantSort::Oldest, "oldest"),
            Self::Tool => (GrantSort::Tool, "tool"),
        }
    }
}

pub(super) async fn found(state: &AppState, query: &ApprovalQuery) -> Result<Vec<(AdminGrant, Place)>, UserError> {
    let filter = GrantFilter {
        owner: filled(query.user.as_deref()),
        agent_id: filled(query.agent.as_deref()),
        tool: filled(query.tool.as_deref()),
        id: None,
    };
    let after = place(query.after.as_deref())?;
    state.composition.store.all_grants(filter, query.sort.sort().0, PAGE + 1, after).await.map_err(of_store)
}

/// Revokes a standing approval: its user is asked again before the next call.
pub(super) async fn take_back(state: &AppState, admin: &Admin, id: &str) -> Result<(), UserError> {
    let store = &state.composition.store;
    let filter = GrantFilter { id: Some(id.to_owned()), ..GrantFilter::default() };
    let found = store.all_grants(filter, GrantSort::default(), 1, None).await.map_err(of_store)?;
    let (grant, _) = found.into_iter().next().ok_or_else(UserError::not_found)?;
    let about = json!({ "userId": grant.owner, "agentId": grant.agent_id, "tool": grant.tool });
    let entry = admin.entry("revoke_approval", grant.conversation_id.as_deref().unwrap_or_default(), about);
    match store.revoke_any_grant(id, entry).await.map_err(of_store)? {
        true => Ok(()),
        false => Err(UserError::not_found()),
    }
}

/// `GET /admin/approvals`
pub(crate) async fn list(
    admin: Admin,
    State(state): State<AppState>,
    Query(query): Query<ApprovalQuery>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    let (lines, next) = paged(found(&state, &query).await?);
    let orders = [("newest", "Newest first"), ("oldest", "Oldest first"), ("tool", "By tool")];
    let content = view! {
        <p class="cw-account-note">
            "Tool calls that users have approved for the future. After you revoke one, its user is asked again before the next call."
        </p>
        <form class="cw-admin-filter" method="get" role="search" aria-label="Standing approvals">
            {field("user", "User (id)", "text", query.user.as_deref())}
            {field("agent", "Agent", "text", query.agent.as_deref())}
            {field("tool", "Tool", "text", query.tool.as_deref())}
            {choice("sort", "Order", &orders, query.sort.sort().1)}
            <button class="cw-button">"Show"</button>
        </form>
        <p class="cw-admin-links">{as_table("/admin/approvals.csv", raw.as_deref())}</p>
        {lines_of(lines)}
        {pager("/admin/approvals", raw.as_deref(), next)}
    };
    Ok(page(&admin, Tab::Approvals, StatusCode::OK, "Standing approvals", content))
}

/// `GET /admin/approvals.csv`
pub(crate) async fn export(
    admin: Admin,
    State(state): State<AppState>,
    Query(mut query): Query<ApprovalQuery>,
) -> Result<Response, PageError> {
    state.composition.store.enter_audit(admin.entry("export_approvals", "", Value::Null)).await?;
    let mut file = Csv::new("id,user,userName,agent,tool,conversation,given");
    loop {
        query.after = file.add_page(found(&state, &query).await?, cells);
        if query.after.is_none() {
            return Ok(file.file("approvals.csv"));
        }
    }
}

fn cells(grant: &AdminGrant) -> [String; 7] {
    [
        csv::cell(&grant.id),
        csv::cell(&grant.owner),
        csv::cell(grant.owner_name.as_deref().unwrap_or_default()),
        csv::cell(&grant.agent_id),
        csv::cell(&grant.tool),
        csv::cell(grant.conversation_id.as_deref().unwrap_or_default()),
        csv::time(grant.created_at),
    ]
}

fn lines_of(lines: Vec<AdminGrant>) -> AnyView {
    let columns = [Text("Tool"), Text("Agent"), Text("User"), Text("Applies to"), Text("Given (UTC)"), Text("Action")];
    let line = |grant: AdminGrant| {
        let owner = grant.owner_name.unwrap_or_else(|| grant.owner.clone());
        let label = format!("Revoke {} of {owner}", grant.tool);
        let place = match (grant.conversation_id, grant.title) {
            (Some(id), title) => link(format!("/admin/conversations/{id}"), title.unwrap_or(id)),
            (None, _) => text("All conversations"),
        };
        let revoke = view! {
            <form method="post" action=format!("/admin/approvals/{}/revoke", grant.id)>
                <button class="cw-button" aria-label=label>"Revoke"</button>
            </form>
        };
        [
            text(grant.tool),
            text(grant.agent_id),
            link(format!("?user={}", encoded(&grant.owner)), owner),
            place,
            text(minute(grant.created_at)),
            revoke.into_any(),
        ]
    };
    table(columns, lines.into_iter().map(line), "No standing approvals match.")
}

/// `POST /admin/approvals/{id}/revoke`
pub(crate) async fn revoke(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    take_back(&state, &admin, &id).await?;
    Ok(see_other("/admin/approvals", None))
}
