//! The list of the audit log.

use super::row::AuditItem;
use super::{chain_head, gates_text, verify_chain};
use crate::state::ConsoleState;
use auth::AccountAction;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use store::{AuditFilter, AuditKind, MAX_AUDIT_ROWS, Store};
use web::admin::filters::{
    Choice, day_end, day_start, field, field_with_suggestions, non_empty, period_fields, select_field,
};
use web::admin::list::{Cell, Column, List, ListPage, ListView, PageRequest};
use web::admin::{UserNames, folded_text, from_store_error, user_view};
use web::html::{link, text};
use wire::UserError;
use wire::hidden_characters::escaped_json;

/// The actions of administrators, as the log names them, without those of capabilities.
const ADMIN_ACTIONS: [&str; 37] = [
    "admin:add_group",
    "admin:add_user",
    "admin:apply_retention",
    "admin:ask_agent",
    "admin:cancel_job",
    "admin:change_group",
    "admin:change_user",
    "admin:delete_conversation",
    "admin:delete_group",
    "admin:delete_user",
    "admin:disable_user",
    "admin:enable_user",
    "admin:end_sessions",
    "admin:export_access",
    "admin:export_agent_runs",
    "admin:export_agents",
    "admin:export_approvals",
    "admin:export_audit",
    "admin:export_conversation",
    "admin:export_conversations",
    "admin:export_feedback",
    "admin:export_groups",
    "admin:export_jobs",
    "admin:export_tools",
    "admin:export_users",
    "admin:invite_user",
    "admin:read_conversation",
    "admin:reset_password",
    "admin:reset_second_factor",
    "admin:retry_job",
    "admin:revoke_access",
    "admin:revoke_approval",
    "admin:revoke_invitation",
    "admin:set_provisioned",
    "admin:set_roles",
    "admin:try_tool",
    "admin:unlink_identity",
];

pub(super) struct AuditList;

type AuditColumn = Column<AuditItem>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct AuditQuery {
    /// Only rows of this user (id or name).
    user: Option<String>,
    /// `any`, `tools`, `accounts` or `administration`.
    #[serde(default)]
    kind: AuditKindQuery,
    /// The tool or action.
    tool: Option<String>,
    /// Only rows of this agent.
    agent: Option<String>,
    /// Only rows of this conversation.
    conversation: Option<String>,
    /// `any`, `ok`, `error`, `denied`, `refused` or `interrupted`.
    #[serde(default)]
    outcome: OutcomeQuery,
    /// A day, such as 2026-11-21.
    from: Option<String>,
    /// A day.
    to: Option<String>,
    #[schemars(skip)]
    verify: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OutcomeQuery {
    #[default]
    Any,
    Ok,
    Error,
    Denied,
    Refused,
    Interrupted,
}

impl OutcomeQuery {
    /// Returns the outcome as it is stored.
    fn outcome(self) -> Option<&'static str> {
        match self {
            Self::Any => None,
            Self::Ok => Some("ok"),
            Self::Error => Some("error"),
            Self::Denied => Some("denied"),
            Self::Refused => Some("refused"),
            Self::Interrupted => Some("interrupted"),
        }
    }
}

impl Choice for OutcomeQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Any, "any", "Any"),
        (Self::Ok, "ok", "Ok"),
        (Self::Error, "error", "Error"),
        (Self::Denied, "denied", "Denied"),
        (Self::Refused, "refused", "Refused"),
        (Self::Interrupted, "interrupted", "Interrupted"),
    ];
}

/// The kind of rows to show.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum AuditKindQuery {
    #[default]
    Any,
    Tools,
    Accounts,
    Administration,
}

impl AuditKindQuery {
    fn kind(self) -> Option<AuditKind> {
        match self {
            Self::Any => None,
            Self::Tools => Some(AuditKind::Tools),
            Self::Accounts => Some(AuditKind::Accounts),
            Self::Administration => Some(AuditKind::Administration),
        }
    }
}

impl Choice for AuditKindQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Any, "any", "All"),
        (Self::Tools, "tools", "Tool calls"),
        (Self::Accounts, "accounts", "Sign-ins and accounts"),
        (Self::Administration, "administration", "Administration"),
    ];
}

impl List for AuditList {
    type State = ConsoleState;
    type Query = AuditQuery;
    type Row = AuditItem;

    const PATH: &'static str = "/admin/audit";
    const SUMMARY: &'static str = "List the audit log, newest first";
    const TITLE: &'static str = "Audit log";
    const EMPTY: &'static str = "No rows match.";
    const NONE_YET: &'static str =
        "The audit log is empty. Tool calls, sign-ins and changes by administrators appear here.";
    const COLUMNS: &'static [AuditColumn] = &[
        AuditColumn::new("No.", "number", |item| Cell::count(item.row.number))
            .shown_as(|item| text(item.row.number.to_string())),
        AuditColumn::new("Time (UTC)", "time", |item| Cell::time(item.row.at)),
        AuditColumn::new("Tool or action", "tool", |item| Cell::text(&item.row.tool))
            .shown_as(|item| web::html::name(&item.row.tool)),
        AuditColumn::new("User", "user", |item| Cell::text(&item.row.user_id))
            .shown_as(|item| user_view(&item.row.user_id, item.user_name.as_deref())),
        AuditColumn::in_file("userName", |item| Cell::optional(item.user_name.as_deref())),
        AuditColumn::new("Agent", "agent", |item| Cell::text(&item.row.agent_id)),
        AuditColumn::in_file("message", |item| Cell::text(&item.row.message_id)),
        AuditColumn::in_file("run", |item| Cell::text(&item.row.run_id)),
        AuditColumn::in_file("call", |item| Cell::text(&item.row.call_id)),
        AuditColumn::new("Outcome", "outcome", |item| Cell::text(&item.row.outcome)),
        AuditColumn::new("Gates", "gates", |item| Cell::text(&item.row.gates))
            .shown_as(|item| text(gates_text(&item.row.gates))),
        AuditColumn::new("Arguments", "arguments", |item| Cell::text(&item.row.arguments))
            .shown_as(|item| folded_text("Arguments", escaped_json(&item.row.arguments))),
        AuditColumn::new("Conversation", "conversation", |item| Cell::text(&item.row.conversation_id)).shown_as(
            |item| match item.row.conversation_id.as_str() {
                "" => text(""),
                id => link(format!("/admin/conversations/{id}"), "Open"),
            },
        ),
        AuditColumn::in_file("durationMs", |item| Cell::Number(item.row.duration_ms.map(|ms| ms as f64))),
    ];
    const FILE_ORDER: &'static [&'static str] = &[
        "number",
        "time",
        "user",
        "userName",
        "agent",
        "conversation",
        "message",
        "run",
        "call",
        "tool",
        "arguments",
        "gates",
        "outcome",
        "durationMs",
    ];
    /// One less than the store returns at once.
    const FILE_PAGE: u32 = MAX_AUDIT_ROWS - 1;
    /// `chatwright audit export` has no limit.
    const MAX_FILE_ROWS: usize = 50_000;

    fn store(state: &ConsoleState) -> &Store {
        &state.store
    }

    /// The cursor is the number of the last row.
    async fn fetch(
        state: &ConsoleState,
        query: &AuditQuery,
        page: &PageRequest,
    ) -> Result<ListPage<AuditItem>, UserError> {
        let filter = AuditFilter {
            user: non_empty(query.user.as_deref()),
            kind: query.kind.kind(),
            tool: non_empty(query.tool.as_deref()),
            agent_id: non_empty(query.agent.as_deref()),
            conversation_id: non_empty(query.conversation.as_deref()),
            outcome: query.outcome.outcome().map(str::to_owned),
            from: day_start(query.from.as_deref())?,
            to: day_end(query.to.as_deref())?,
        };
        let found = state.store.audit_list(filter, page.limit(), page.number()?).await.map_err(from_store_error)?;
        let page = page.page_by(found, |row| row.number.to_string());
        let names = UserNames::load(&state.store, page.items.iter().map(|row| row.user_id.as_str())).await?;
        Ok(page.map(|row| AuditItem { user_name: names.get(&row.user_id).map(str::to_owned), row }))
    }

    fn filters(state: &ConsoleState, query: &AuditQuery) -> Option<AnyView> {
        Some(
            view! {
                {field("user", "User (name or id)", "text", query.user.as_deref())}
                {select_field("kind", "About", query.kind)}
                {field_with_suggestions("tool", "Tool or action", query.tool.as_deref(), suggestions(state))}
                {field("agent", "Agent", "text", query.agent.as_deref())}
                {field("conversation", "Conversation (id)", "text", query.conversation.as_deref())}
                {select_field("outcome", "Outcome", query.outcome)}
                {period_fields(query.from.as_deref(), query.to.as_deref())}
            }
            .into_any(),
        )
    }

    async fn content(state: &ConsoleState, query: &AuditQuery, list: ListView) -> Result<AnyView, UserError> {
        let verdict = match query.verify {
            Some(_) => Some(verdict_view(verify_chain(state).await?)),
            None => None,
        };
        let head = chain_head(state).await?.map(|head| {
            let text = format!("Head {head}: keep a copy where nobody who can write to the database can change it.");
            view! { <p class="cw-account-note cw-admin-head">{text}</p> }
        });
        let links = view! {
            {list.links}
            <a href="/admin/audit?verify=1">"Verify the chain"</a>
        };
        let table = view! {
            {head}
            {verdict}
            {list.table}
        };
        Ok(ListView { links: links.into_any(), table: table.into_any(), ..list }.into_any())
    }
}

/// Returns the actions of users and administrators, as suggestions for the filter. Tools are not
/// among them.
fn suggestions(state: &ConsoleState) -> Vec<String> {
    let mut of_admins: Vec<_> =
        ADMIN_ACTIONS.map(str::to_owned).into_iter().chain(state.actions.iter().cloned()).collect();
    of_admins.sort_unstable();
    AccountAction::ALL.into_iter().map(|(_, name)| name.to_owned()).chain(of_admins).collect()
}

fn verdict_view(verdict: Result<(u64, String), String>) -> AnyView {
    match verdict {
        Ok((rows, head)) => {
            let text = format!("The chain is intact: {rows} rows. Head {head}");
            view! { <p class="cw-account-done cw-admin-head" role="status">{text}</p> }.into_any()
        }
        Err(fault) => {
            let text = format!("The chain is broken: {fault}");
            view! { <p class="cw-account-problem" role="alert">{text}</p> }.into_any()
        }
    }
}
