//! The audit log, newest first: filtered, as CSV, and with a verification of its hash chain.

use crate::state::ConsoleState;
use crate::users::names::{self as user_names, UserNames};
use auth::AccountAction;
use axum::extract::{Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{AuditFilter, AuditKind, AuditRow, GateDecision, MAX_AUDIT_ROWS};
use web::admin::csv::{self, Csv};
use web::admin::lists::{
    PAGE_SIZE, csv_link, day_end, day_start, field, field_with_suggestions, non_empty, pager, select_field,
};
use web::admin::page;
use web::admin::{Admin, PageError, from_store_error};
use web::html::Column::Text;
use web::html::{link, table, text};
use web::times::minute;
use wire::{ErrorCode, UserError};

/// The maximum number of rows in the CSV file. `chatwright audit export` has no limit.
const MAX_CSV_ROWS: usize = 50_000;

/// The actions of administrators, as the log names them.
const ADMIN_ACTIONS: [&str; 27] = [
    "admin:add_agent",
    "admin:add_user",
    "admin:apply_retention",
    "admin:ask_agent",
    "admin:change_agent",
    "admin:delete_agent",
    "admin:delete_conversation",
    "admin:delete_user",
    "admin:disable_user",
    "admin:enable_user",
    "admin:end_sessions",
    "admin:export_access",
    "admin:export_agents",
    "admin:export_approvals",
    "admin:export_audit",
    "admin:export_conversation",
    "admin:export_conversations",
    "admin:export_custom_agents",
    "admin:export_feedback",
    "admin:export_tools",
    "admin:export_users",
    "admin:read_conversation",
    "admin:reset_password",
    "admin:revoke_access",
    "admin:revoke_approval",
    "admin:set_roles",
    "admin:try_tool",
];

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(crate) struct AuditQuery {
    /// A user's id or name.
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
    /// `next` of the previous page.
    after: Option<String>,
    /// Ignored; only the page reads it.
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
    /// Each kind with its name in a URL and its label.
    const ALL: [(&'static str, &'static str); 4] = [
        ("any", "All"),
        ("tools", "Tool calls"),
        ("accounts", "Sign-ins and accounts"),
        ("administration", "Administration"),
    ];

    fn kind(self) -> (Option<AuditKind>, &'static str) {
        match self {
            Self::Any => (None, "any"),
            Self::Tools => (Some(AuditKind::Tools), "tools"),
            Self::Accounts => (Some(AuditKind::Accounts), "accounts"),
            Self::Administration => (Some(AuditKind::Administration), "administration"),
        }
    }
}

impl OutcomeQuery {
    fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
            Self::Refused => "refused",
            Self::Interrupted => "interrupted",
        }
    }
}

fn filter(query: &AuditQuery) -> Result<AuditFilter, UserError> {
    Ok(AuditFilter {
        user: non_empty(query.user.as_deref()),
        kind: query.kind.kind().0,
        tool: non_empty(query.tool.as_deref()),
        agent_id: non_empty(query.agent.as_deref()),
        conversation_id: non_empty(query.conversation.as_deref()),
        outcome: (query.outcome != OutcomeQuery::Any).then(|| query.outcome.name().to_owned()),
        from: day_start(query.from.as_deref())?,
        to: day_end(query.to.as_deref())?,
    })
}

/// Returns a page of rows, and the row number that the next page continues before.
pub(crate) async fn fetch_page(
    state: &ConsoleState,
    query: &AuditQuery,
) -> Result<(Vec<AuditRow>, Option<String>), UserError> {
    let foreign =
        || UserError::new(ErrorCode::Malformed, "The cursor in `after` is not valid. Use `next` of the previous page.");
    let before = non_empty(query.after.as_deref()).map(|after| after.parse().map_err(|_| foreign())).transpose()?;
    let rows = state.store.audit_list(filter(query)?, PAGE_SIZE + 1, before).await;
    let mut rows = rows.map_err(from_store_error)?;
    let more = rows.len() > PAGE_SIZE as usize;
    rows.truncate(PAGE_SIZE as usize);
    let next = rows.last().filter(|_| more).map(|row| row.number.to_string());
    Ok((rows, next))
}

/// Returns the number and hash of the last row; none for an empty log.
async fn chain_head(state: &ConsoleState) -> Result<Option<String>, UserError> {
    let last = state.store.audit_list(AuditFilter::default(), 1, None).await.map_err(from_store_error)?;
    Ok(last.first().map(|row| format!("{}:{}", row.number, row.hash)))
}

/// Verifies the chain. Returns the number of rows and the head, or the fault.
pub(crate) async fn verify_chain(state: &ConsoleState) -> Result<Result<(u64, String), String>, UserError> {
    let report = state.store.verify_audit(None).await.map_err(from_store_error)?;
    Ok(report.map(|report| (report.rows, report.head.to_string())).map_err(|fault| fault.to_string()))
}

/// `GET /admin/audit`
pub(crate) async fn list(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<AuditQuery>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    let (rows, next) = fetch_page(&state, &query).await?;
    let verdict = match query.verify {
        Some(_) => Some(verify_chain(&state).await?),
        None => None,
    };
    let verdict = verdict.map(|verdict| match verdict {
        Ok((rows, head)) => {
            let text = format!("The chain is intact: {rows} rows. Head {head}");
            view! { <p class="cw-account-done cw-admin-head" role="status">{text}</p> }.into_any()
        }
        Err(fault) => {
            let text = format!("The chain is broken: {fault}");
            view! { <p class="cw-account-problem" role="alert">{text}</p> }.into_any()
        }
    });
    let (head, names) =
        (chain_head(&state).await?, user_names::load(&state, rows.iter().map(|row| row.user_id.as_str())).await?);
    let outcomes = [
        ("any", "Any"),
        ("ok", "Ok"),
        ("error", "Error"),
        ("denied", "Denied"),
        ("refused", "Refused"),
        ("interrupted", "Interrupted"),
    ];
    let content = view! {
        <form class="cw-admin-filter" method="get" role="search" aria-label="Audit log">
            {field("user", "User (name or id)", "text", query.user.as_deref())}
            {select_field("kind", "About", &AuditKindQuery::ALL, query.kind.kind().1)}
            {field_with_suggestions("tool", "Tool or action", query.tool.as_deref(), actions())}
            {field("agent", "Agent", "text", query.agent.as_deref())}
            {field("conversation", "Conversation (id)", "text", query.conversation.as_deref())}
            {select_field("outcome", "Outcome", &outcomes, query.outcome.name())}
            {field("from", "From", "date", query.from.as_deref())}
            {field("to", "To", "date", query.to.as_deref())}
            <button class="cw-button">"Show"</button>
        </form>
        <p class="cw-admin-links">
            {csv_link("/admin/audit.csv", raw.as_deref())}
            <a href="/admin/audit?verify=1">"Verify the chain"</a>
        </p>
        {head.map(|head| view! { <p class="cw-account-note cw-admin-head">{format!("Head {head}: keep a copy where nobody who can write to the database can change it.")}</p> })}
        {verdict}
        {audit_table(rows, &names)}
        {pager("/admin/audit", raw.as_deref(), next)}
    };
    Ok(page(&admin, "/admin/audit", StatusCode::OK, "Audit log", content))
}

/// Returns the actions of administrators and users, as suggestions for the filter. Tools are not
/// among them.
fn actions() -> Vec<&'static str> {
    AccountAction::ALL.into_iter().map(|(_, name)| name).chain(ADMIN_ACTIONS).collect()
}

fn audit_table(rows: Vec<AuditRow>, names: &UserNames) -> AnyView {
    let columns = [
        Text("No."),
        Text("Time (UTC)"),
        Text("Tool or action"),
        Text("User"),
        Text("Agent"),
        Text("Outcome"),
        Text("Gates"),
        Text("Arguments"),
        Text("Conversation"),
    ];
    let line = |row: AuditRow| {
        let conversation = match row.conversation_id.as_str() {
            "" => text(""),
            id => link(format!("/admin/conversations/{id}"), "Open"),
        };
        let arguments = view! {
            <details class="cw-admin-call">
                <summary>"Arguments"</summary>
                <pre tabindex="0" aria-label="Arguments">{row.arguments}</pre>
            </details>
        };
        [
            row.number.into_any(),
            text(minute(row.at)),
            text(row.tool),
            names.view(&row.user_id),
            text(row.agent_id),
            text(row.outcome),
            text(gates_text(&row.gates)),
            arguments.into_any(),
            conversation,
        ]
    };
    table(columns, rows.into_iter().map(line), "No rows match.")
}

/// Formats the decisions about a call in one line.
pub(crate) fn gates_text(gates: &str) -> String {
    let gates: Vec<Value> = serde_json::from_str(gates).unwrap_or_default();
    let decision = |gate: &Value| {
        let text = |name: &str| gate[name].as_str().unwrap_or_default().to_owned();
        let why = gate["reason"].as_str().map(|reason| format!(" ({reason})")).unwrap_or_default();
        format!("{} {}{why}", text("gate"), text("decision"))
    };
    match gates.is_empty() {
        true => "–".to_owned(),
        false => gates.iter().map(decision).collect::<Vec<_>>().join(", "),
    }
}

/// A row of the audit log, as `chatwright audit export` prints it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditItem {
    /// The row's number: from 1 on, without gaps.
    number: i64,
    /// When the call ended, as in `2026-11-21T10:00:00Z`.
    #[schemars(with = "String")]
    time: Value,
    /// The user on whose behalf the call was made.
    user_id: String,
    /// The agent.
    agent_id: String,
    /// The conversation.
    conversation_id: String,
    /// The assistant message.
    message_id: String,
    /// The run.
    run_id: String,
    /// The call's id.
    call_id: String,
    /// The tool's name.
    tool: String,
    /// The arguments.
    arguments: Value,
    /// The decisions about the call; a text if the row was tampered with.
    #[schemars(with = "Recorded<Vec<GateDecision>>")]
    gates: Value,
    /// How the call ended.
    outcome: String,
    /// How long the tool ran, in milliseconds.
    duration_ms: Option<i64>,
    /// The hash of the previous row.
    previous: String,
    /// The hash of this row.
    hash: String,
}

/// A value of a row. Invalid JSON was tampered with; it is shown as plain text.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
#[expect(dead_code, reason = "only its schema is used")]
enum Recorded<T> {
    Json(T),
    Text(String),
}

impl From<&AuditRow> for AuditItem {
    fn from(row: &AuditRow) -> Self {
        let row = row.clone();
        let read = |text: String| serde_json::from_str(&text).unwrap_or(Value::String(text));
        let time = jiff::Timestamp::from_millisecond(row.at);
        Self {
            number: row.number,
            time: time.map_or_else(|_| row.at.into(), |time| Value::from(time.to_string())),
            user_id: row.user_id,
            agent_id: row.agent_id,
            conversation_id: row.conversation_id,
            message_id: row.message_id,
            run_id: row.run_id,
            call_id: row.call_id,
            tool: row.tool,
            arguments: read(row.arguments),
            gates: read(row.gates),
            outcome: row.outcome,
            duration_ms: row.duration_ms,
            previous: row.previous,
            hash: row.hash,
        }
    }
}

/// `GET /admin/audit.csv`
pub(crate) async fn export(
    admin: Admin,
    State(state): State<ConsoleState>,
    Query(query): Query<AuditQuery>,
) -> Result<Response, PageError> {
    let filter = filter(&query)?;
    let store = &state.store;
    store.record_audit(admin.audit_entry("export_audit", "", Value::Null)).await?;
    let mut file = Csv::new(
        "number,time,user,userName,agent,conversation,message,run,call,tool,arguments,gates,outcome,durationMs",
    );
    let (mut before, mut rows) = (None, 0);
    while rows < MAX_CSV_ROWS {
        let page = store.audit_list(filter.clone(), MAX_AUDIT_ROWS, before).await?;
        let Some(last) = page.last() else { break };
        before = Some(last.number);
        rows += page.len();
        let names = user_names::load(&state, page.iter().map(|row| row.user_id.as_str())).await?;
        page.iter().for_each(|row| file.add(cells(row, names.get(&row.user_id).unwrap_or_default())));
    }
    Ok(file.into_file("audit.csv"))
}

fn cells(row: &AuditRow, user_name: &str) -> Vec<String> {
    let texts = [
        row.user_id.as_str(),
        user_name,
        row.agent_id.as_str(),
        row.conversation_id.as_str(),
        row.message_id.as_str(),
        row.run_id.as_str(),
        row.call_id.as_str(),
        row.tool.as_str(),
        row.arguments.as_str(),
        row.gates.as_str(),
        row.outcome.as_str(),
    ];
    let duration = row.duration_ms.map(|ms| ms.to_string()).unwrap_or_default();
    let before = [row.number.to_string(), csv::time_cell(row.at)];
    before.into_iter().chain(texts.map(csv::cell)).chain([duration]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_formatted_in_one_line() {
        let check = |text: &str, expected: &str| assert_eq!(gates_text(text), expected, "{text}");
        check("[]", "–");
        check("not json", "–");
        let two = r#"[{"gate":"approval","decision":"asked"},{"gate":"approval","decision":"denied","by":"ada","reason":"No."}]"#;
        check(two, "approval asked, approval denied (No.)");
    }
}
