//! The audit log, newest first: filtered, as CSV, and with a verification of its hash chain.

mod list;
mod row;

pub use row::row_json;

pub(crate) use row::gates_text;

use crate::state::ConsoleState;
use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use list::AuditList;
use serde_json::{Value, json};
use store::AuditFilter;
use web::HttpError;
use web::admin::{Admin, from_store_error};
use wire::UserError;

pub(crate) fn routes() -> Router<ConsoleState> {
    web::admin::list::routes::<AuditList>().route("/api/admin/audit/verify", get(verify))
}

/// `GET /api/admin/audit/verify`
async fn verify(_: Admin, State(state): State<ConsoleState>) -> Result<Json<Value>, HttpError> {
    Ok(Json(match verify_chain(&state).await? {
        Ok((rows, head)) => json!({ "holds": true, "rows": rows, "head": head }),
        Err(fault) => json!({ "holds": false, "fault": fault }),
    }))
}

/// Returns the number and hash of the last row; none for an empty log.
async fn chain_head(state: &ConsoleState) -> Result<Option<String>, UserError> {
    let last = state.store.audit_list(AuditFilter::default(), 1, None).await.map_err(from_store_error)?;
    Ok(last.first().map(|row| format!("{}:{}", row.number, row.hash)))
}

/// Verifies the chain. Returns the number of rows and the head, or the fault.
async fn verify_chain(state: &ConsoleState) -> Result<Result<(u64, String), String>, UserError> {
    let report = state.store.verify_audit(None).await.map_err(from_store_error)?;
    Ok(report.map(|report| (report.rows, report.head.to_string())).map_err(|fault| fault.to_string()))
}
