//! The page of the standing approvals of all users, which can be revoked there.

use crate::state::ConsoleState;
use axum::extract::{Path, Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{AdminGrant, GrantFilter, GrantSort, ListCursor};
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
pub(crate) struct ApprovalQuery {
    /// Only those of this user (id).
    user: Option<String>,
    /// Only those for this agent.
    agent: Option<String>,
    /// Only those for this tool.
    tool: Option<String>,
    /// `newest`, `oldest` or `tool`.
    #[serde(default)]
    sort: ApprovalSortQuery,
    /// `next` of the previous page.
    after: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ApprovalSortQuery {
    #[default]
    Newest,
    Oldest,
    Tool,
}

impl ApprovalSortQuery {
    fn sort(self) -> (GrantSort, &'static str) {
        match self {
            Self::Newest => (GrantSort::Newest, "newest"),
            Self::Oldest => (GrantSort::Oldest, "oldest"),
            Self::Tool => (GrantSort::Tool, "tool"),
        }
    }
}

pub(crate) async fn fetch_page(
    state: &ConsoleState,
    query: &ApprovalQuery,
) -> Result<Vec<(AdminGrant, ListCursor)>, UserError> {
    let filter = GrantFilter {
        owner: non_empty(query.user.as_deref()),
        agent_id: non_empty(query.agent.as_deref()),
        tool: non_empty(query.tool.as_deref()),
        id: None,
    };
    let after = parse_cursor(query.after.as_deref())?;
    state.store.all_grants(filter, query.sort.sort().0, PAGE_SIZE + 1, after).await.map_err(from_store_error)
}

/// Revokes a standing approval, so that its user is asked again before the next call.
pub(crate) async fn revoke_approval(state: &ConsoleState, admin: &Admin, id: &str) -> Result<(), UserError> {
    let store = &state.store;
    let filter = GrantFilter { id: Some(id.to_owned()), ..GrantFilter::default() };
    let found = store.all_grants(filter, GrantSort::default(), 1, None).await.map_err(from_store_error)?;
    let (grant, _) = found.into_iter().next().ok_or_else(UserError::not_found)?;
    let about = json!({ "userId": grant.owner, "agentId": grant.agent_id, "tool": grant.tool });
    let entry = admin.audit_entry("revoke_approval", grant.conversation_id.as_deref().unwrap_or_default(), about);
    match store.revoke_any_grant(id, entry).await.map_err(from_store_error)? {
        true => Ok(()),
        false => Err(UserError::not_found()),
    }
}

/// `GET /admin/approvals`
pub(crate) async fn list(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<ApprovalQuery>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    let (lines, next) = split_page(fetch_page(&state, &query).await?);
    let orders = [("newest", "Newest first"), ("oldest", "Oldest first"), ("tool", "By tool")];
    let content = view! {
        <p class="cw-account-note">
            "Tool calls that users have approved for the future. After you revoke one, its user is asked again before the next call."
        </p>
        <form class="cw-admin-filter" method="get" role="search" aria-label="Standing approvals">
            {field("user", "User (id)", "text", query.user.as_deref())}
            {field("agent", "Agent", "text", query.agent.as_deref())}
            {field("tool", "Tool", "text", query.tool.as_deref())}
            {select_field("sort", "Order", &orders, query.sort.sort().1)}
            <button class="cw-button">"Show"</button>
        </form>
        <p class="cw-admin-links">{csv_link("/admin/approvals.csv", raw.as_deref())}</p>
        {approvals_table(lines)}
        {pager("/admin/approvals", raw.as_deref(), next)}
    };
    Ok(page(&admin, "/admin/approvals", StatusCode::OK, "Standing approvals", content))
}

/// `GET /admin/approvals.csv`
pub(crate) async fn export(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(mut query): Query<ApprovalQuery>,
) -> Result<Response, PageError> {
    state.store.record_audit(admin.audit_entry("export_approvals", "", Value::Null)).await?;
    let mut file = Csv::new("id,user,userName,agent,tool,conversation,granted");
    loop {
        query.after = file.add_page(fetch_page(&state, &query).await?, cells);
        if query.after.is_none() {
            return Ok(file.into_file("approvals.csv"));
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
        csv::time_cell(grant.created_at),
    ]
}

fn approvals_table(lines: Vec<AdminGrant>) -> AnyView {
    let columns =
        [Text("Tool"), Text("Agent"), Text("User"), Text("Applies to"), Text("Granted (UTC)"), Text("Action")];
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
            link(format!("?user={}", query_encoded(&grant.owner)), owner),
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
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    revoke_approval(&state, &admin, &id).await?;
    Ok(see_other("/admin/approvals", None))
}
