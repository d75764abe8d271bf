//! The tool pages: MCP servers, statistics of the last calls, and test runs of a tool.

use crate::agents::{self, LiveTool};
use crate::state::ConsoleState;
use ::tools::mcp::McpStatus;
use axum::Form;
use axum::extract::{Path, Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use chat::{TrialRequest, TrialResult};
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::cmp::Reverse;
use store::{ListCursor, MAX_RECENT_CALLS, ToolHealth};
use web::admin::csv::{self, Csv};
use web::admin::lists::{csv_link, field, non_empty, pager, paginate, select_field, sort_options, split_page};
use web::admin::page;
use web::admin::{Admin, PageError, from_store_error};
use web::html::Column::{Number, Text};
use web::html::error_message;
use web::html::{facts, link, table, text};
use web::html::{number, seconds};
use web::query_encoded;
use web::times::minute;
use wire::{ErrorCode, UserError};

/// The state of MCP servers and tools.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ToolsHealth {
    /// The MCP servers.
    servers: Vec<McpStatus>,
    /// Statistics of the last calls, by agent and tool.
    calls: Vec<ToolHealth>,
    /// The cursor for `after`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(crate) struct ToolQuery {
    /// Part of the tool's name.
    text: Option<String>,
    /// Only those of this agent.
    agent: Option<String>,
    /// `errors`, `calls`, `slowest`, `newest` or `name`.
    #[serde(default)]
    sort: ToolSortQuery,
    /// `next` of the previous page.
    after: Option<String>,
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

impl ToolSortQuery {
    /// Each order with its name in a URL and its label.
    const ALL: [(Self, &'static str, &'static str); 5] = [
        (Self::Errors, "errors", "Most errors first"),
        (Self::Calls, "calls", "Most calls first"),
        (Self::Slowest, "slowest", "Slowest first"),
        (Self::Newest, "newest", "Last called first"),
        (Self::Name, "name", "By name"),
    ];

    /// Sorts stably: tools that compare as equal stay sorted by errors.
    fn sort(self, lines: &mut [ToolHealth]) {
        let time = |of: &ToolHealth| of.average_ms.unwrap_or(-1.0);
        match self {
            Self::Errors => {}
            Self::Calls => lines.sort_by_key(|of| Reverse(of.calls)),
            Self::Slowest => lines.sort_by(|a, b| time(b).total_cmp(&time(a))),
            Self::Newest => lines.sort_by_key(|of| Reverse(of.last_at)),
            Self::Name => lines.sort_by(|a, b| (&a.tool, &a.agent_id).cmp(&(&b.tool, &b.agent_id))),
        }
    }
}

pub(crate) async fn health(state: &ConsoleState, query: &ToolQuery) -> Result<ToolsHealth, UserError> {
    let (calls, next) = split_page(fetch_page(state, query).await?);
    Ok(ToolsHealth { servers: state.host.mcp(), calls, next })
}

async fn fetch_page(state: &ConsoleState, query: &ToolQuery) -> Result<Vec<(ToolHealth, ListCursor)>, UserError> {
    let (text, agent) = (non_empty(query.text.as_deref()), non_empty(query.agent.as_deref()));
    let mut calls = state.store.tool_health().await.map_err(from_store_error)?;
    calls.retain(|of| {
        text.as_ref().is_none_or(|text| of.tool.contains(text))
            && agent.as_ref().is_none_or(|agent| of.agent_id == *agent)
    });
    query.sort.sort(&mut calls);
    paginate(calls, query.after.as_deref())
}

/// Runs a tool as a test. The administrator's action and the call each have a row in the audit log.
pub(crate) async fn run_trial(
    state: &ConsoleState,
    admin: &Admin,
    request: TrialRequest,
) -> Result<TrialResult, UserError> {
    let about = json!({ "agentId": request.agent_id, "tool": request.tool });
    state.store.record_audit(admin.audit_entry("try_tool", "", about)).await.map_err(from_store_error)?;
    state.chat.try_tool(&admin.caller, request).await
}

/// `GET /admin/tools`
pub(crate) async fn list(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<ToolQuery>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    let ToolsHealth { servers, calls, next } = health(&state, &query).await?;
    let (orders, chosen) = sort_options(&ToolSortQuery::ALL, &query.sort);
    let content = view! {
        <section class="cw-account-part" aria-labelledby="servers">
            <h2 id="servers">"MCP servers"</h2>
            {servers_table(servers)}
        </section>
        <section class="cw-account-part" aria-labelledby="calls">
            <h2 id="calls">"Last calls"</h2>
            <p class="cw-account-note">{format!("From the last {} rows of the audit log.", number(MAX_RECENT_CALLS as f64))}</p>
            <form class="cw-admin-filter" method="get" role="search" aria-label="Tools">
                {field("text", "Tool", "search", query.text.as_deref())}
                {field("agent", "Agent", "text", query.agent.as_deref())}
                {select_field("sort", "Order", &orders, chosen)}
                <button class="cw-button">"Show"</button>
            </form>
            <p class="cw-admin-links">{csv_link("/admin/tools.csv", raw.as_deref())}</p>
            {calls_table(calls)}
            {pager("/admin/tools", raw.as_deref(), next)}
        </section>
    };
    Ok(page(&admin, "/admin/tools", StatusCode::OK, "Tools", content))
}

/// `GET /admin/tools.csv`
pub(crate) async fn export(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(mut query): Query<ToolQuery>,
) -> Result<Response, PageError> {
    state.store.record_audit(admin.audit_entry("export_tools", "", Value::Null)).await?;
    let mut file = Csv::new("tool,agent,calls,errors,notAllowed,averageMs,last");
    loop {
        query.after = file.add_page(fetch_page(&state, &query).await?, cells);
        if query.after.is_none() {
            return Ok(file.into_file("tools.csv"));
        }
    }
}

fn cells(of: &ToolHealth) -> [String; 7] {
    [
        csv::cell(&of.tool),
        csv::cell(&of.agent_id),
        of.calls.to_string(),
        of.errors.to_string(),
        of.refused.to_string(),
        of.average_ms.map(|time| format!("{time:.0}")).unwrap_or_default(),
        csv::time_cell(of.last_at),
    ]
}

fn servers_table(servers: Vec<McpStatus>) -> AnyView {
    let columns =
        [Text("Server"), Text("Transport"), Number("Users"), Number("Connected"), Text("Tools"), Text("State")];
    let line = |server: McpStatus| {
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
fn server_tools_text(server: &McpStatus) -> String {
    let left_out = server.left_out.iter().map(|tool| format!("{} (left out: {})", tool.name, tool.reason));
    server.tools.iter().cloned().chain(left_out).collect::<Vec<_>>().join(", ")
}

fn calls_table(calls: Vec<ToolHealth>) -> AnyView {
    let columns = [
        Text("Tool"),
        Text("Agent"),
        Number("Calls"),
        Number("Errors"),
        Number("Not allowed"),
        Number("Average time"),
        Text("Last call (UTC)"),
    ];
    let line = |of: ToolHealth| {
        let log = |outcome: &str| {
            format!(
                "/admin/audit?agent={}&tool={}&outcome={outcome}",
                query_encoded(&of.agent_id),
                query_encoded(&of.tool)
            )
        };
        [
            link(
                format!("/admin/agents/{}/tools/{}", query_encoded(&of.agent_id), query_encoded(&of.tool)),
                of.tool.clone(),
            ),
            text(of.agent_id.clone()),
            link(log("any"), number(of.calls as f64)),
            link(log("error"), number(of.errors as f64)),
            text(number(of.refused as f64)),
            text(of.average_ms.map(seconds).unwrap_or_default()),
            text(minute(of.last_at)),
        ]
    };
    table(columns, calls.into_iter().map(line), "No matching tool has been called yet.")
}

/// The form of a test run.
#[derive(Default, Deserialize)]
pub(crate) struct TrialForm {
    #[serde(default)]
    arguments: String,
    approved: Option<String>,
}

/// `GET /admin/agents/{id}/tools/{tool}`
pub(crate) async fn show(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path((agent_id, tool)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let tool = find_tool(&state, &admin, &agent_id, &tool).await?;
    let form = TrialForm { arguments: example_arguments(&tool.input_schema), approved: None };
    Ok(render(&admin, &agent_id, tool, form, None))
}

/// `POST /admin/agents/{id}/tools/{tool}`
pub(crate) async fn call(
    admin: Admin,
    State(state): State<ConsoleState>,
    Path((agent_id, tool)): Path<(String, String)>,
    Form(sent): Form<TrialForm>,
) -> Result<Response, PageError> {
    let tool = find_tool(&state, &admin, &agent_id, &tool).await?;
    let request = TrialRequest {
        agent_id: agent_id.clone(),
        tool: tool.name.clone(),
        arguments: sent.arguments.clone(),
        approved: sent.approved.is_some(),
    };
    let came = run_trial(&state, &admin, request).await;
    if let Err(error) = &came
        && matches!(error.code, ErrorCode::NotFound | ErrorCode::Unavailable)
    {
        return Err(error.clone().into());
    }
    Ok(render(&admin, &agent_id, tool, sent, Some(came)))
}

async fn find_tool(state: &ConsoleState, admin: &Admin, agent_id: &str, name: &str) -> Result<LiveTool, UserError> {
    let (tools, problems) = agents::tools(state, admin, agent_id).await?;
    let found = tools.into_iter().find(|tool| tool.name == name);
    found.ok_or_else(|| match problems.into_iter().next() {
        Some(problem) => UserError::new(ErrorCode::Unavailable, problem),
        None => UserError::not_found(),
    })
}

/// Returns initial arguments for the form: the required properties, empty.
fn example_arguments(schema: &Value) -> String {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| match schema["properties"][name]["type"].as_str() {
        Some("integer" | "number") => json!(0),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!(""),
    };
    let arguments: serde_json::Map<_, _> = required.map(|name| (name.to_owned(), value(name))).collect();
    serde_json::to_string_pretty(&arguments).unwrap_or_default()
}

fn render(
    admin: &Admin,
    agent_id: &str,
    tool: LiveTool,
    sent: TrialForm,
    came: Option<Result<TrialResult, UserError>>,
) -> Response {
    let status = match &came {
        Some(Err(error)) => StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY),
        _ => StatusCode::OK,
    };
    let asks = if tool.asks { "yes" } else { "only if the policy says so" };
    let about = [
        ("Agent", link(format!("/admin/agents/{}", query_encoded(agent_id)), agent_id)),
        ("Source", text(tool.source.unwrap_or_else(|| "config".to_owned()))),
        ("Asks for approval", text(asks)),
    ];
    let path = format!("/admin/agents/{}/tools/{}", query_encoded(agent_id), query_encoded(&tool.name));
    let schema = serde_json::to_string_pretty(&tool.input_schema).unwrap_or_default();
    let content = view! {
        {came.map(result_view)}
        <section class="cw-account-part" aria-label="About">
            {facts(about)}
            <p class="cw-admin-text">{tool.description}</p>
            <details class="cw-admin-call">
                <summary>"Input schema"</summary>
                <pre tabindex="0" aria-label="Input schema">{schema}</pre>
            </details>
        </section>
        <section class="cw-account-part" aria-labelledby="try">
            <h2 id="try">"Test the tool"</h2>
            <p class="cw-account-note">
                "The call runs for real, with your rights and under the agent's policy, and is recorded in the audit log."
            </p>
            <form class="cw-account-form" method="post" action=path>
                <label class="cw-account-field">
                    <span>"Arguments (JSON)"</span>
                    <textarea class="cw-admin-code" name="arguments" rows="6" spellcheck="false" autocomplete="off">{sent.arguments}</textarea>
                </label>
                <label class="cw-admin-check">
                    <input type="checkbox" name="approved" value="1" checked=sent.approved.is_some() />
                    "I approve the call if it needs approval"
                </label>
                <button class="cw-button">"Run the tool"</button>
            </form>
        </section>
    };
    page(admin, "/admin/tools", status, &tool.name, content)
}

fn result_view(came: Result<TrialResult, UserError>) -> AnyView {
    let trial = match came {
        Ok(trial) => trial,
        Err(error) => return error_message(Some(error.message)).into_any(),
    };
    let gates = serde_json::to_string(&trial.gates).unwrap_or_default();
    let about = [
        ("Outcome", text(trial.outcome.name())),
        ("Gates", text(crate::audit::gates_text(&gates))),
        ("Time", text(trial.duration_ms.map(|ms| seconds(ms as f64)).unwrap_or_default())),
    ];
    let output = trial.output.map(|output| serde_json::to_string_pretty(&output).unwrap_or_default());
    view! {
        <section class="cw-account-part" aria-labelledby="came">
            <h2 id="came">"Result"</h2>
            <div role="status">{facts(about)}</div>
            <pre class="cw-admin-pre" tabindex="0" aria-label="Result">{output.or(trial.error)}</pre>
        </section>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn example_arguments_contain_required_properties() {
        let schema = json!({
            "properties": { "n": { "type": "integer" }, "text": { "type": "string" }, "more": {} },
            "required": ["n", "text"],
        });
        assert_eq!(example_arguments(&schema), "{\n  \"n\": 0,\n  \"text\": \"\"\n}");
        assert_eq!(example_arguments(&json!({ "type": "object" })), "{}");
    }
}
