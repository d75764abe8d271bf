//! The conversations of all users: the list, a single conversation, export and deletion. An
//! administrator's access to another user's conversation is recorded in the audit log before
//! anything is shown.

pub(crate) mod feedback;
pub(crate) mod page;

use crate::conversations::page as conversation_page;
use crate::state::ConsoleState;
use crate::users::names as user_names;
use axum::extract::{Path, Query, RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chat::{Caller, ConversationUsage};
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{AdminConversation, AuditFilter, AuditRow, ConversationFilter, ConversationSort, ListCursor, RatingFilter};
use web::admin::csv::{self, Csv};
use web::admin::lists::{
    PAGE_SIZE, csv_link, day_end, day_start, field, non_empty, pager, parse_cursor, select_field, split_page,
};
use web::admin::page;
use web::admin::{Admin, PageError, from_store_error};
use web::conversation_disposition;
use web::html::Column::{Number, Text};
use web::html::{dollars, number};
use web::html::{link, table, text};
use web::times::minute;
use web::{query_encoded, see_other};
use wire::api::ConversationView;
use wire::{ErrorCode, UserError};

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(crate) struct ConversationQuery {
    /// The text to search for.
    text: Option<String>,
    /// Only conversations of this user (id).
    owner: Option<String>,
    /// Only conversations with this agent.
    agent: Option<String>,
    /// A day, such as 2026-11-21.
    from: Option<String>,
    /// A day.
    to: Option<String>,
    /// `any`, `up` or `down`.
    #[serde(default)]
    judged: RatingQuery,
    /// `1` for conversations in which an answer failed.
    errors: Option<String>,
    /// Minimum cost in US dollars.
    cost: Option<String>,
    /// `newest`, `oldest` or `cost`.
    #[serde(default)]
    sort: ConversationSortQuery,
    /// `next` of the previous page.
    after: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RatingQuery {
    #[default]
    Any,
    Up,
    Down,
}

impl RatingQuery {
    pub(crate) fn filter(self) -> Option<RatingFilter> {
        match self {
            Self::Any => None,
            Self::Up => Some(RatingFilter::Up),
            Self::Down => Some(RatingFilter::Down),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ConversationSortQuery {
    #[default]
    Newest,
    Oldest,
    Cost,
}

impl ConversationSortQuery {
    fn sort(self) -> (ConversationSort, &'static str) {
        match self {
            Self::Newest => (ConversationSort::Newest, "newest"),
            Self::Oldest => (ConversationSort::Oldest, "oldest"),
            Self::Cost => (ConversationSort::Cost, "cost"),
        }
    }
}

/// A conversation with its messages, usage and tool calls.
pub(crate) struct ConversationDetail {
    pub(crate) conversation: AdminConversation,
    pub(crate) view: ConversationView,
    pub(crate) usage: ConversationUsage,
    pub(crate) calls: Vec<AuditRow>,
}

pub(crate) async fn fetch_page(
    state: &ConsoleState,
    query: &ConversationQuery,
) -> Result<Vec<(AdminConversation, ListCursor)>, UserError> {
    let cost = non_empty(query.cost.as_deref()).map(|cost| cost.parse::<f64>().ok().filter(|cost| cost.is_finite()));
    let min_cost = match cost {
        Some(None) => {
            return Err(UserError::new(ErrorCode::Malformed, "The cost must be a number of US dollars, such as 0.5."));
        }
        Some(cost) => cost,
        None => None,
    };
    let filter = ConversationFilter {
        text: query.text.clone().unwrap_or_default(),
        owner: non_empty(query.owner.as_deref()),
        agent_id: non_empty(query.agent.as_deref()),
        from: day_start(query.from.as_deref())?,
        to: day_end(query.to.as_deref())?,
        rating: query.judged.filter(),
        failed: query.errors.is_some(),
        min_cost,
    };
    let after = parse_cursor(query.after.as_deref())?;
    let list = state.store.all_conversations(filter, query.sort.sort().0, PAGE_SIZE + 1, after);
    list.await.map_err(from_store_error)
}

/// Reads a conversation. Access to another user's conversation is recorded before.
pub(crate) async fn open_conversation(
    state: &ConsoleState,
    admin: &Admin,
    id: &str,
    what: &str,
) -> Result<ConversationDetail, UserError> {
    let conversation = find_and_record(state, admin, id, what).await?;
    let owner = owner_as_caller(&conversation);
    let chat = &state.chat;
    let (view, usage) = (chat.conversation(&owner, id).await?, chat.usage(&owner, id).await?);
    let filter = AuditFilter { conversation_id: Some(id.to_owned()), ..AuditFilter::default() };
    let calls = state.store.audit_list(filter, store::MAX_AUDIT_ROWS, None).await.map_err(from_store_error)?;
    Ok(ConversationDetail { conversation, view, usage, calls })
}

/// Finds a conversation, and records the action `what` in the audit log if it belongs to another
/// user.
async fn find_and_record(
    state: &ConsoleState,
    admin: &Admin,
    id: &str,
    what: &str,
) -> Result<AdminConversation, UserError> {
    let store = &state.store;
    let found = store.any_conversation(id).await.map_err(from_store_error)?.ok_or_else(UserError::not_found)?;
    if found.owner != admin.caller.user_id {
        let entry = admin.audit_entry(what, id, json!({ "userId": found.owner }));
        store.record_audit(entry).await.map_err(from_store_error)?;
    }
    Ok(found)
}

pub(crate) async fn delete_conversation(state: &ConsoleState, admin: &Admin, id: &str) -> Result<(), UserError> {
    let conversation = find_and_record(state, admin, id, "delete_conversation").await?;
    state.chat.delete(&owner_as_caller(&conversation), id).await
}

/// Returns the owner as a caller, since the chat shows conversations only to their owner.
fn owner_as_caller(conversation: &AdminConversation) -> Caller {
    Caller::visitor(&conversation.owner)
}

/// `GET /admin/conversations`
pub(crate) async fn list(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<ConversationQuery>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    let (lines, next) = split_page(fetch_page(&state, &query).await?);
    let judged = [("any", "Any"), ("up", "Liked"), ("down", "Disliked")];
    let sorts = [("newest", "Newest first"), ("oldest", "Oldest first"), ("cost", "Most expensive first")];
    let errors = query.errors.is_some();
    let content = view! {
        <form class="cw-admin-filter" method="get" role="search" aria-label="Conversations">
            {field("text", "Search text", "search", query.text.as_deref())}
            {field("owner", "User (id)", "text", query.owner.as_deref())}
            {field("agent", "Agent", "text", query.agent.as_deref())}
            {field("from", "From", "date", query.from.as_deref())}
            {field("to", "To", "date", query.to.as_deref())}
            {field("cost", "Minimum cost ($)", "text", query.cost.as_deref())}
            {select_field("judged", "Feedback", &judged, query.judged.name())}
            {select_field("sort", "Order", &sorts, query.sort.sort().1)}
            <label class="cw-admin-check"><input type="checkbox" name="errors" value="1" checked=errors />"With errors"</label>
            <button class="cw-button">"Show"</button>
        </form>
        <p class="cw-admin-links">{csv_link("/admin/conversations.csv", raw.as_deref())}</p>
        {conversations_table(lines)}
        {pager("/admin/conversations", raw.as_deref(), next)}
    };
    Ok(page(&admin, "/admin/conversations", StatusCode::OK, "Conversations", content))
}

/// `GET /admin/conversations.csv`: the list, without messages.
pub(crate) async fn export_list(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(mut query): Query<ConversationQuery>,
) -> Result<Response, PageError> {
    state.store.record_audit(admin.audit_entry("export_conversations", "", Value::Null)).await?;
    let mut file = Csv::new("id,title,user,userName,agent,created,changed,tokens,costUsd,errors,liked,disliked");
    loop {
        query.after = file.add_page(fetch_page(&state, &query).await?, cells);
        if query.after.is_none() {
            return Ok(file.into_file("conversations.csv"));
        }
    }
}

fn cells(line: &AdminConversation) -> [String; 12] {
    [
        csv::cell(&line.id),
        csv::cell(&line.title),
        csv::cell(&line.owner),
        csv::cell(line.owner_name.as_deref().unwrap_or_default()),
        csv::cell(&line.agent_id),
        csv::time_cell(line.created_at),
        csv::time_cell(line.updated_at),
        line.tokens.to_string(),
        line.cost_usd.to_string(),
        line.failures.to_string(),
        line.liked.to_string(),
        line.disliked.to_string(),
    ]
}

fn conversations_table(lines: Vec<AdminConversation>) -> AnyView {
    let columns = [
        Text("Title"),
        Text("User"),
        Text("Agent"),
        Text("Changed (UTC)"),
        Number("Tokens"),
        Number("Cost"),
        Number("Errors"),
        Text("Feedback"),
    ];
    let line = |line: AdminConversation| {
        let owner = line.owner_name.unwrap_or_else(|| line.owner.clone());
        [
            link(format!("/admin/conversations/{}", line.id), line.title),
            link(format!("?owner={}", query_encoded(&line.owner)), owner),
            text(line.agent_id),
            text(minute(line.updated_at)),
            text(number(line.tokens)),
            text(dollars(line.cost_usd)),
            line.failures.into_any(),
            text(rating_text(line.liked, line.disliked)),
        ]
    };
    table(columns, lines.into_iter().map(line), "No conversations match.")
}

/// Formats the numbers of ratings.
pub(crate) fn rating_text(liked: i64, disliked: i64) -> String {
    if liked + disliked == 0 { "–".to_owned() } else { format!("{liked} liked, {disliked} disliked") }
}

/// `GET /admin/conversations/{id}`
pub(crate) async fn show(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let opened = open_conversation(&state, &admin, &id, "read_conversation").await?;
    let names = user_names::load(&state, opened.calls.iter().map(|row| row.user_id.as_str())).await?;
    Ok(conversation_page::show(&admin, opened, &names))
}

/// `GET /admin/conversations/{id}/export`
pub(crate) async fn export(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let conversation = find_and_record(&state, &admin, &id, "export_conversation").await?;
    let file = state.chat.export(&owner_as_caller(&conversation), &id).await?;
    let name = conversation_disposition(&file.title, file.created_at, "json");
    let file = serde_json::to_vec_pretty(&file);
    let file = file.map_err(|_| UserError::new(ErrorCode::Internal, "The conversation cannot be exported."))?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CONTENT_DISPOSITION, name),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, file).into_response())
}

/// `POST /admin/conversations/{id}/delete`
pub(crate) async fn delete(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    delete_conversation(&state, &admin, &id).await?;
    Ok(see_other("/admin/conversations", None))
}
