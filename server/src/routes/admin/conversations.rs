//! The conversations of all users: the list, one of them, export and deletion. An administrator who opens another user's
//! leaves a row in the audit log before they see anything.

use super::csv::{self, Csv};
use super::layout::{Tab, dollars, number, page};
use super::lists::{PAGE, as_table, begin_of, choice, end_of, field, filled, paged, pager, place};
use super::table::Column::{Number, Text};
use super::table::{link, table, text};
use super::{Admin, PageError, conversation_page, names, of_store};
use crate::router::AppState;
use crate::routes::accounts::{encoded, see_other};
use crate::routes::download::disposition;
use crate::routes::times::minute;
use axum::extract::{Path, Query, RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chat::{Caller, ConversationUsage};
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{AdminConversation, AdminSort, AuditFilter, AuditRow, ConversationFilter, Judged, Place};
use wire::api::ConversationView;
use wire::{ErrorCode, UserError};

/// Which conversations, in an address.
#[derive(Default, Deserialize)]
pub(crate) struct ConversationQuery {
    text: Option<String>,
    owner: Option<String>,
    agent: Option<String>,
    from: Option<String>,
    to: Option<String>,
    #[serde(default)]
    judged: JudgedQuery,
    errors: Option<String>,
    cost: Option<String>,
    #[serde(default)]
    sort: SortQuery,
    after: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum JudgedQuery {
    #[default]
    Any,
    Up,
    Down,
}

impl JudgedQuery {
    pub(super) fn judged(self) -> Option<Judged> {
        match self {
            Self::Any => None,
            Self::Up => Some(Judged::Up),
            Self::Down => Some(Judged::Down),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SortQuery {
    #[default]
    Newest,
    Oldest,
    Cost,
}

impl SortQuery {
    fn sort(self) -> (AdminSort, &'static str) {
        match self {
            Self::Newest => (AdminSort::Newest, "newest"),
            Self::Oldest => (AdminSort::Oldest, "oldest"),
            Self::Cost => (AdminSort::Cost, "cost"),
        }
    }
}

/// A conversation with its whole run.
pub(super) struct Opened {
    pub(super) conversation: AdminConversation,
    pub(super) view: ConversationView,
    pub(super) usage: ConversationUsage,
    pub(super) calls: Vec<AuditRow>,
}

pub(super) async fn found(
    state: &AppState,
    query: &ConversationQuery,
) -> Result<Vec<(AdminConversation, Place)>, UserError> {
    let cost = filled(query.cost.as_deref()).map(|cost| cost.parse::<f64>().ok().filter(|cost| cost.is_finite()));
    let min_cost = match cost {
        Some(None) => return Err(UserError::new(ErrorCode::Malformed, "Write a cost as a number of US dollars.")),
        Some(cost) => cost,
        None => None,
    };
    let filter = ConversationFilter {
        text: query.text.clone().unwrap_or_default(),
        owner: filled(query.owner.as_deref()),
        agent_id: filled(query.agent.as_deref()),
        from: begin_of(query.from.as_deref())?,
        to: end_of(query.to.as_deref())?,
        judged: query.judged.judged(),
        failed: query.errors.is_some(),
        min_cost,
    };
    let after = place(query.after.as_deref())?;
    let list = state.composition.store.all_conversations(filter, query.sort.sort().0, PAGE + 1, after);
    list.await.map_err(of_store)
}

/// Opens one, for an administrator who has left a row by then if it is another's.
pub(super) async fn open(state: &AppState, admin: &Admin, id: &str, what: &str) -> Result<Opened, UserError> {
    let conversation = enter(state, admin, id, what).await?;
    let owner = owner(&conversation);
    let chat = &state.composition.chat;
    let (view, usage) = (chat.conversation(&owner, id).await?, chat.usage(&owner, id).await?);
    let filter = AuditFilter { conversation_id: Some(id.to_owned()), ..AuditFilter::default() };
    let calls = state.composition.store.audit_list(filter, store::MAX_AUDIT_ROWS, None).await.map_err(of_store)?;
    Ok(Opened { conversation, view, usage, calls })
}

/// Looks a conversation up, and enters what is about to be done with it.
async fn enter(state: &AppState, admin: &Admin, id: &str, what: &str) -> Result<AdminConversation, UserError> {
    let store = &state.composition.store;
    let found = store.any_conversation(id).await.map_err(of_store)?.ok_or_else(UserError::not_found)?;
    if found.owner != admin.0.user_id {
        let entry = admin.entry(what, id, json!({ "userId": found.owner }));
        store.enter_audit(entry).await.map_err(of_store)?;
    }
    Ok(found)
}

pub(super) async fn remove(state: &AppState, admin: &Admin, id: &str) -> Result<(), UserError> {
    let conversation = enter(state, admin, id, "delete_conversation").await?;
    state.composition.chat.delete(&owner(&conversation), id).await
}

/// Whose conversation it is, for the chat, which shows each his own.
fn owner(conversation: &AdminConversation) -> Caller {
    Caller::visitor(&conversation.owner)
}

/// `GET /admin/conversations`
pub(crate) async fn list(
    admin: Admin,
    State(state): State<AppState>,
    Query(query): Query<ConversationQuery>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    let (lines, next) = paged(found(&state, &query).await?);
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
            {choice("judged", "Feedback", &judged, query.judged.name())}
            {choice("sort", "Order", &sorts, query.sort.sort().1)}
            <label class="cw-admin-check"><input type="checkbox" name="errors" value="1" checked=errors />"With errors"</label>
            <button class="cw-button">"Show"</button>
        </form>
        <p class="cw-admin-links">{as_table("/admin/conversations.csv", raw.as_deref())}</p>
        {lines_of(lines)}
        {pager("/admin/conversations", raw.as_deref(), next)}
    };
    Ok(page(&admin, Tab::Conversations, StatusCode::OK, "Conversations", content))
}

/// `GET /admin/conversations.csv`: the list, without what was said.
pub(crate) async fn export_list(
    admin: Admin,
    State(state): State<AppState>,
    Query(mut query): Query<ConversationQuery>,
) -> Result<Response, PageError> {
    state.composition.store.enter_audit(admin.entry("export_conversations", "", Value::Null)).await?;
    let mut file = Csv::new("id,title,user,userName,agent,begun,changed,tokens,costUsd,errors,liked,disliked");
    loop {
        query.after = file.add_page(found(&state, &query).await?, cells);
        if query.after.is_none() {
            return Ok(file.file("conversations.csv"));
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
        csv::time(line.created_at),
        csv::time(line.updated_at),
        line.tokens.to_string(),
        line.cost_usd.to_string(),
        line.failures.to_string(),
        line.liked.to_string(),
        line.disliked.to_string(),
    ]
}

fn lines_of(lines: Vec<AdminConversation>) -> AnyView {
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
            link(format!("?owner={}", encoded(&line.owner)), owner),
            text(line.agent_id),
            text(minute(line.updated_at)),
            text(number(line.tokens)),
            text(dollars(line.cost_usd)),
            line.failures.into_any(),
            text(judged(line.liked, line.disliked)),
        ]
    };
    table(columns, lines.into_iter().map(line), "No conversations match.")
}

/// How many answers were liked.
pub(super) fn judged(liked: i64, disliked: i64) -> String {
    if liked + disliked == 0 { "–".to_owned() } else { format!("{liked} liked, {disliked} disliked") }
}

/// `GET /admin/conversations/{id}`
pub(crate) async fn show(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let opened = open(&state, &admin, &id, "read_conversation").await?;
    let names = names::of(&state, opened.calls.iter().map(|row| row.user_id.as_str())).await?;
    Ok(conversation_page::show(&admin, opened, &names))
}

/// `GET /admin/conversations/{id}/export`
pub(crate) async fn export(
    admin: Admin,
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let conversation = enter(&state, &admin, &id, "export_conversation").await?;
    let file = state.composition.chat.export(&owner(&conversation), &id).await?;
    let name = disposition(&file.title, file.created_at, "json");
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
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    remove(&state, &admin, &id).await?;
    Ok(see_other("/admin/conversations", None))
}
