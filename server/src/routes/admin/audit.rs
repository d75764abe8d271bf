//! The audit log, newest first: filtered, as a table for spreadsheets, and whether its chain holds.

use super::csv::{self, Csv};
use super::layout::{Tab, page};
use super::lists::{PAGE, as_table, begin_of, choice, end_of, field, filled, pager};
use super::table::Column::Text;
use super::table::{link, table, text};
use super::{Admin, PageError, of_store};
use crate::router::AppState;
use crate::routes::times::minute;
use axum::extract::{Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use store::{AuditFilter, AuditRow, MAX_AUDIT_ROWS};
use wire::{ErrorCode, UserError};

/// Rows of a table for spreadsheets. `chatwright audit export` has no bound.
const MAX_CSV: usize = 50_000;

/// Which rows, in an address.
#[derive(Default, Deserialize)]
pub(crate) struct AuditQuery {
    user: Option<String>,
    tool: Option<String>,
    agent: Option<String>,
    conversation: Option<String>,
    #[serde(default)]
    outcome: OutcomeQuery,
    from: Option<String>,
    to: Option<String>,
    after: Option<String>,
    verify: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
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
        user_id: filled(query.user.as_deref()),
        tool: filled(query.tool.as_deref()),
        agent_id: filled(query.agent.as_deref()),
        conversation_id: filled(query.conversation.as_deref()),
        outcome: (query.outcome != OutcomeQuery::Any).then(|| query.outcome.name().to_owned()),
        from: begin_of(query.from.as_deref())?,
        to: end_of(query.to.as_deref())?,
    })
}

/// A page of rows, and the number before which the next page begins.
pub(super) async fn found(state: &AppState, query: &AuditQuery) -> Result<(Vec<AuditRow>, Option<String>), UserError> {
    let foreign = || UserError::new(ErrorCode::Malformed, "The place in the list is not one of ours.");
    let before = filled(query.after.as_deref()).map(|after| after.parse().map_err(|_| foreign())).transpose()?;
    let rows = state.composition.store.audit_list(filter(query)?, PAGE + 1, before).await;
    let mut rows = rows.map_err(of_store)?;
    let more = rows.len() > PAGE as usize;
    rows.truncate(PAGE as usize);
    let next = rows.last().filter(|_| more).map(|row| row.number.to_string());
    Ok((rows, next))
}

/// The last row's number and hash; none of an empty log.
async fn head(state: &AppState) -> Result<Option<String>, UserError> {
    let last = state.composition.store.audit_list(AuditFilter::default(), 1, None).await.map_err(of_store)?;
    Ok(last.first().map(|row| format!("{}:{}", row.number, row.hash)))
}

/// Whether the chain holds, in words, and the head or the fault.
pub(super) async fn verified(state: &AppState) -> Result<Result<(u64, String), String>, UserError> {
    let report = state.composition.store.verify_audit(None).await.map_err(of_store)?;
    Ok(report.map(|report| (report.rows, report.head.to_string())).map_err(|fault| fault.to_string()))
}

/// `GET /admin/audit`
pub(crate) async fn list(
    admin: Admin,
    State(state): State<AppState>,
    Query(query): Query<AuditQuery>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    let (rows, next) = found(&state, &query).await?;
    let verdict = match query.verify {
        Some(_) => Some(verified(&state).await?),
        None => None,
    };
    let verdict = verdict.map(|verdict| match verdict {
        Ok((rows, head)) => {
            let text = format!("The chain holds: {rows} rows, each fits. Head {head}");
            view! { <p class="cw-account-done cw-admin-head" role="status">{text}</p> }.into_any()
        }
        Err(fault) => {
            let text = format!("The chain does not hold: {fault}");
            view! { <p class="cw-account-problem" role="alert">{text}</p> }.into_any()
        }
    });
    let head = head(&state).await?;
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
            {field("user", "User (id)", "text", query.user.as_deref())}
            {field("tool", "Tool", "text", query.tool.as_deref())}
            {field("agent", "Agent", "text", query.agent.as_deref())}
            {field("conversation", "Conversation (id)", "text", query.conversation.as_deref())}
            {choice("outcome", "Outcome", &outcomes, query.outcome.name())}
            {field("from", "From", "date", query.from.as_deref())}
            {field("to", "To", "date", query.to.as_deref())}
            <button class="cw-button">"Show"</button>
        </form>
        <p class="cw-admin-links">
            {as_table("/admin/audit.csv", raw.as_deref())}
            <a href="/admin/audit?verify=1">"Check the chain"</a>
        </p>
        {head.map(|head| view! { <p class="cw-account-note cw-admin-head">{format!("Head {head}: note it where whoever can write the database cannot write.")}</p> })}
        {verdict}
        {lines_of(rows)}
        {pager("/admin/audit", raw.as_deref(), next)}
    };
    Ok(page(&admin, Tab::Audit, StatusCode::OK, "Audit log", content))
}

fn lines_of(rows: Vec<AuditRow>) -> AnyView {
    let columns = [
        Text("No"),
        Text("Time (UTC)"),
        Text("Call"),
        Text("By"),
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
            view! { <span class="cw-admin-id">{row.user_id}</span> }.into_any(),
            text(row.agent_id),
            text(row.outcome),
            text(gates(&row.gates)),
            arguments.into_any(),
            conversation,
        ]
    };
    table(columns, rows.into_iter().map(line), "No row fits.")
}

/// What was decided about a call, in a line.
pub(super) fn gates(gates: &str) -> String {
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

/// `GET /admin/audit.csv`
pub(crate) async fn export(
    admin: Admin,
    State(state): State<AppState>,
    Query(query): Query<AuditQuery>,
) -> Result<Response, PageError> {
    let filter = filter(&query)?;
    let store = &state.composition.store;
    store.enter_audit(admin.entry("export_audit", "", Value::Null)).await?;
    let mut file =
        Csv::new("number,time,user,agent,conversation,message,run,call,tool,arguments,gates,outcome,durationMs");
    let (mut before, mut rows) = (None, 0);
    while rows < MAX_CSV {
        let page = store.audit_list(filter.clone(), MAX_AUDIT_ROWS, before).await?;
        let Some(last) = page.last() else { break };
        before = Some(last.number);
        rows += page.len();
        page.iter().for_each(|row| file.add(cells(row)));
    }
    Ok(file.file("audit.csv"))
}

fn cells(row: &AuditRow) -> Vec<String> {
    let texts = [
        &row.user_id,
        &row.agent_id,
        &row.conversation_id,
        &row.message_id,
        &row.run_id,
        &row.call_id,
        &row.tool,
        &row.arguments,
        &row.gates,
        &row.outcome,
    ];
    let duration = row.duration_ms.map(|ms| ms.to_string()).unwrap_or_default();
    let before = [row.number.to_string(), csv::time(row.at)];
    before.into_iter().chain(texts.map(|text| csv::cell(text))).chain([duration]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_in_a_line() {
        let check = |text: &str, expected: &str| assert_eq!(gates(text), expected, "{text}");
        check("[]", "–");
        check("not json", "–");
        let two = r#"[{"gate":"approval","decision":"asked"},{"gate":"approval","decision":"denied","by":"ada","reason":"No."}]"#;
        check(two, "approval asked, approval denied (No.)");
    }
}
