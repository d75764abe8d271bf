//! The standing approvals of all users, which can be revoked.

use crate::state::ConsoleState;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::{NoContent, Response};
use axum::routing::post;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use store::{AdminGrant, GrantFilter, GrantSort, Store};
use web::admin::filters::{Choice, field, non_empty, select_field, user_id};
use web::admin::list::{self, Cell, Column, List, ListPage, ListView, PageRequest};
use web::admin::{Admin, PageError, from_store_error};
use web::html::{link, row_button, text};
use web::openapi::ApiRouter;
use web::{HttpError, query_encoded, see_other};
use wire::UserError;

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    list::routes::<ApprovalList>()
        .delete("/api/admin/approvals/{id}", revoke_api, "Revoke a standing approval")
        .with_pages(Router::new().route("/admin/approvals/{id}/revoke", post(revoke)))
}

struct ApprovalList;

type ApprovalColumn = Column<AdminGrant>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
struct ApprovalQuery {
    /// Only those of this user (id).
    user: Option<String>,
    /// Only those for this agent.
    agent: Option<String>,
    /// Only those for this tool.
    tool: Option<String>,
    /// `newest`, `oldest` or `tool`.
    #[serde(default)]
    sort: ApprovalSortQuery,
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
    fn sort(self) -> GrantSort {
        match self {
            Self::Newest => GrantSort::Newest,
            Self::Oldest => GrantSort::Oldest,
            Self::Tool => GrantSort::Tool,
        }
    }
}

impl Choice for ApprovalSortQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Newest, "newest", "Newest first"),
        (Self::Oldest, "oldest", "Oldest first"),
        (Self::Tool, "tool", "By tool"),
    ];
}

impl List for ApprovalList {
    type State = ConsoleState;
    type Query = ApprovalQuery;
    type Row = AdminGrant;

    const PATH: &'static str = "/admin/approvals";
    const SUMMARY: &'static str = "List the standing approvals of all users";
    const TITLE: &'static str = "Standing approvals";
    const EMPTY: &'static str = "No standing approvals match.";
    const NONE_YET: &'static str =
        "There are no standing approvals. They appear here when users approve a tool for longer than one call.";
    const COLUMNS: &'static [ApprovalColumn] = &[
        ApprovalColumn::in_file("id", |grant| Cell::text(&grant.id)),
        ApprovalColumn::new("Tool", "tool", |grant| Cell::text(&grant.tool)),
        ApprovalColumn::new("Agent", "agent", |grant| Cell::text(&grant.agent_id)),
        ApprovalColumn::new("User", "user", |grant| Cell::text(&grant.owner))
            .shown_as(|grant| link(format!("?user={}", query_encoded(&grant.owner)), owner(grant))),
        ApprovalColumn::in_file("userName", |grant| Cell::optional(grant.owner_name.as_deref())),
        ApprovalColumn::new("Applies to", "conversation", |grant| Cell::optional(grant.conversation_id.as_deref()))
            .shown_as(|grant| match &grant.conversation_id {
                Some(id) => link(format!("/admin/conversations/{id}"), grant.title.as_ref().unwrap_or(id)),
                None => text("All conversations"),
            }),
        ApprovalColumn::new("Granted (UTC)", "granted", |grant| Cell::time(grant.created_at)),
        ApprovalColumn::in_table("Action", |grant| {
            let path = format!("/admin/approvals/{}/revoke", grant.id);
            row_button(path, "Revoke", format!("Revoke {} of {}", grant.tool, owner(grant)))
        }),
    ];
    const FILE_ORDER: &'static [&'static str] = &["id", "user", "userName", "agent", "tool", "conversation", "granted"];

    fn store(state: &ConsoleState) -> &Store {
        &state.store
    }

    async fn fetch(
        state: &ConsoleState,
        query: &ApprovalQuery,
        page: &PageRequest,
    ) -> Result<ListPage<AdminGrant>, UserError> {
        let filter = GrantFilter {
            owner: user_id(&state.store, query.user.as_deref()).await?,
            agent_id: non_empty(query.agent.as_deref()),
            tool: non_empty(query.tool.as_deref()),
            id: None,
        };
        let found = state.store.all_grants(filter, query.sort.sort(), page.limit(), page.cursor()?).await;
        Ok(page.page(found.map_err(from_store_error)?))
    }

    fn filters(_: &ConsoleState, query: &ApprovalQuery) -> Option<AnyView> {
        Some(
            view! {
                {field("user", "User (name or id)", "text", query.user.as_deref())}
                {field("agent", "Agent", "text", query.agent.as_deref())}
                {field("tool", "Tool", "text", query.tool.as_deref())}
                {select_field("sort", "Order", query.sort)}
            }
            .into_any(),
        )
    }

    async fn content(_: &ConsoleState, _: &ApprovalQuery, list: ListView) -> Result<AnyView, UserError> {
        Ok(view! {
            <p class="cw-account-note">
                "Tool calls that users have approved for the future. After you revoke one, its user is asked again before the next call."
            </p>
            {list.into_any()}
        }
        .into_any())
    }
}

fn owner(grant: &AdminGrant) -> &str {
    grant.owner_name.as_ref().unwrap_or(&grant.owner)
}

/// Revokes a standing approval, so that its user is asked again before the next call.
async fn revoke_approval(state: &ConsoleState, admin: &Admin, id: &str) -> Result<(), UserError> {
    let store = &state.store;
    let filter = GrantFilter { id: Some(id.to_owned()), ..GrantFilter::default() };
    let found = store.all_grants(filter, GrantSort::default(), 1, None).await.map_err(from_store_error)?;
    let (grant, _) = found.into_iter().next().ok_or_else(UserError::not_found)?;
    let about = json!({ "userId": grant.owner, "agentId": grant.agent_id, "tool": grant.tool });
    let entry = admin.audit_entry("revoke_approval", grant.conversation_id.as_deref().unwrap_or_default(), about);
    if store.revoke_any_grant(id, entry).await.map_err(from_store_error)? {
        Ok(())
    } else {
        Err(UserError::not_found())
    }
}

/// `POST /admin/approvals/{id}/revoke`
async fn revoke(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    revoke_approval(&state, &admin, &id).await?;
    Ok(see_other(ApprovalList::PATH, None))
}

/// `DELETE /api/admin/approvals/{id}`
async fn revoke_api(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    revoke_approval(&state, &admin, &id).await?;
    Ok(NoContent)
}
