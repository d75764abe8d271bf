//! The list of tools with statistics of their last calls, and the MCP servers.

use crate::state::ConsoleState;
use axum::Json;
use axum::extract::State;
use capability::ToolServerStatus;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use store::{MAX_RECENT_CALLS, Store, ToolHealth};
use web::admin::filters::{Choice, field, non_empty, select_field};
use web::admin::list::{self, After, Cell, Column, List, ListPage, ListView, PageRequest};
use web::admin::{ADMINISTRATION, Admin, from_store_error};
use web::html::Heading::{Number, Text};
use web::html::{account_part, link, number, seconds, table, text};
use web::openapi::ApiRouter;
use web::times::minute;
use web::{HttpError, SentQuery, query_encoded, valid_query};
use wire::UserError;

pub(super) fn routes() -> ApiRouter<ConsoleState> {
    let api = ApiRouter::new(&ADMINISTRATION).get("/api/admin/tools", health, ToolList::SUMMARY);
    api.with_pages(list::pages::<ToolList>())
}

struct ToolList;

type ToolColumn = Column<ToolHealth>;

/// The state of MCP servers and tools.
#[derive(Serialize, JsonSchema)]
struct ToolsHealth {
    /// The MCP servers.
    servers: Vec<ToolServerStatus>,
    /// Statistics of the last calls, by agent and tool.
    calls: Vec<ToolHealth>,
    /// The cursor for `after`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
struct ToolQuery {
    /// Part of the tool's name.
    text: Option<String>,
    /// Only those of this agent.
    agent: Option<String>,
    /// `errors`, `calls`, `slowest`, `newest` or `name`.
    #[serde(default)]
    sort: ToolSortQuery,
}

/// The order of the list.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ToolSortQuery {
    #[default]
    Errors,
    Calls,
    Slowest,
    Newest,
    Name,
}

impl Choice for ToolSortQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Errors, "errors", "Most errors first"),
        (Self::Calls, "calls", "Most calls first"),
        (Self::Slowest, "slowest", "Slowest first"),
        (Self::Newest, "newest", "Last called first"),
        (Self::Name, "name", "By name"),
    ];
}

impl ToolSortQuery {
    /// Sorts stably: tools that compare as equal stay sorted by errors.
    fn sort(self, rows: &mut [ToolHealth]) {
        let time = |row: &ToolHealth| row.average_ms.unwrap_or(-1.0);
        match self {
            Self::Errors => {}
            Self::Calls => rows.sort_by_key(|row| Reverse(row.calls)),
            Self::Slowest => rows.sort_by(|a, b| time(b).total_cmp(&time(a))),
            Self::Newest => rows.sort_by_key(|row| Reverse(row.last_at)),
            Self::Name => rows.sort_by(|a, b| (&a.tool, &a.agent_id).cmp(&(&b.tool, &b.agent_id))),
        }
    }
}

impl List for ToolList {
    type State = ConsoleState;
    type Query = ToolQuery;
    type Row = ToolHealth;

    const PATH: &'static str = "/admin/tools";
    const SUMMARY: &'static str = "List MCP servers and tools with their health";
    const TITLE: &'static str = "Tools";
    const EMPTY: &'static str = "No matching tool has been called yet.";
    const NONE_YET: &'static str = "No tool has been called yet. A tool appears here when an agent first calls it.";
    const COLUMNS: &'static [ToolColumn] = &[
        ToolColumn::new("Tool", "tool", |row| Cell::text(&row.tool)).shown_as(|row| {
            let path = format!("/admin/agents/{}/tools/{}", query_encoded(&row.agent_id), query_encoded(&row.tool));
            link(path, &row.tool)
        }),
        ToolColumn::new("Agent", "agent", |row| Cell::text(&row.agent_id)),
        ToolColumn::new("Calls", "calls", |row| Cell::count(row.calls))
            .aligned_right()
            .shown_as(|row| link(log_path(row, "any"), number(row.calls as f64))),
        ToolColumn::new("Errors", "errors", |row| Cell::count(row.errors))
            .aligned_right()
            .shown_as(|row| link(log_path(row, "error"), number(row.errors as f64))),
        ToolColumn::new("Not allowed", "notAllowed", |row| Cell::count(row.refused)).aligned_right(),
        ToolColumn::new("Average time", "averageMs", |row| Cell::Number(row.average_ms.map(f64::round_ties_even)))
            .aligned_right()
            .shown_as(|row| text(row.average_ms.map(seconds).unwrap_or_default())),
        ToolColumn::new("Last call (UTC)", "last", |row| Cell::time(row.last_at)),
    ];

    /// All at once, since each page reads all calls.
    const FILE_PAGE: u32 = 200;

    fn store(state: &ConsoleState) -> &Store {
        &state.store
    }

    async fn fetch(
        state: &ConsoleState,
        query: &ToolQuery,
        page: &PageRequest,
    ) -> Result<ListPage<ToolHealth>, UserError> {
        let (text, agent) = (non_empty(query.text.as_deref()), non_empty(query.agent.as_deref()));
        let mut rows = state.store.tool_health().await.map_err(from_store_error)?;
        rows.retain(|row| {
            text.as_ref().is_none_or(|text| row.tool.contains(text))
                && agent.as_ref().is_none_or(|agent| row.agent_id == *agent)
        });
        query.sort.sort(&mut rows);
        page.page_in(rows)
    }

    fn filters(_: &ConsoleState, query: &ToolQuery) -> Option<AnyView> {
        Some(
            view! {
                {field("text", "Tool", "search", query.text.as_deref())}
                {field("agent", "Agent", "text", query.agent.as_deref())}
                {select_field("sort", "Order", query.sort)}
            }
            .into_any(),
        )
    }

    async fn content(state: &ConsoleState, _: &ToolQuery, list: ListView) -> Result<AnyView, UserError> {
        Ok(view! {
            {account_part("servers", "MCP servers", servers_table(state.host.tool_servers()))}
            <section class="cw-account-part" aria-labelledby="calls">
                <h2 id="calls">"Last calls"</h2>
                <p class="cw-account-note">{format!("From the last {} rows of the audit log.", number(MAX_RECENT_CALLS as f64))}</p>
                {list.into_any()}
            </section>
        }
        .into_any())
    }
}

/// `GET /api/admin/tools`
async fn health(
    _: Admin,
    State(state): State<ConsoleState>,
    query: SentQuery<ToolQuery>,
    after: SentQuery<After>,
) -> Result<Json<ToolsHealth>, HttpError> {
    let (query, After { after }) = (valid_query(query)?, valid_query(after)?);
    let ListPage { items, next } = ToolList::fetch(&state, &query, &PageRequest::after(after)).await?;
    Ok(Json(ToolsHealth { servers: state.host.tool_servers(), calls: items, next }))
}

/// Returns the path of the audit log with the calls of a tool that have this outcome.
fn log_path(row: &ToolHealth, outcome: &str) -> String {
    let (agent, tool) = (query_encoded(&row.agent_id), query_encoded(&row.tool));
    format!("/admin/audit?agent={agent}&tool={tool}&outcome={outcome}")
}

fn servers_table(servers: Vec<ToolServerStatus>) -> AnyView {
    let columns =
        [Text("Server"), Text("Transport"), Number("Users"), Number("Connected"), Text("Tools"), Text("State")];
    let line = |server: ToolServerStatus| {
        let tools = server_tools_text(&server);
        let state = match (server.error, server.failed_at) {
            (Some(error), Some(at)) => format!("{error} ({} UTC)", minute(at)),
            (Some(error), None) => error,
            (None, _) if server.open > 0 => "Connected".to_owned(),
            (None, _) => "Not in use".to_owned(),
        };
        let users = if server.shared { "shared".to_owned() } else { server.users.to_string() };
        [
            text(server.name),
            text(format!("{} {}", server.transport, server.place)),
            text(users),
            server.open.into_any(),
            text(tools),
            text(state),
        ]
    };
    table(columns, servers.into_iter().map(line), "No agent uses an MCP server.")
}

/// Formats the tools of a server, with the reason for those that agents do not get.
fn server_tools_text(server: &ToolServerStatus) -> String {
    let left_out = server.left_out.iter().map(|tool| format!("{} (left out: {})", tool.name, tool.reason));
    server.tools.iter().cloned().chain(left_out).collect::<Vec<_>>().join(", ")
}
