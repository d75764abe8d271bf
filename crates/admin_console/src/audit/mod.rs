//! The audit log, newest first: filtered, as CSV, and with a verification of its hash chain.

mod list;
mod row;

pub use row::AuditLine;

pub(crate) use row::gates_text;

use crate::state::ConsoleState;
use axum::Json;
use axum::extract::State;
use list::AuditList;
use schemars::JsonSchema;
use serde::Serialize;
use store::AuditFilter;
use web::HttpError;
use web::admin::{Admin, from_store_error};
use web::openapi::ApiRouter;
use wire::UserError;

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    web::admin::list::routes::<AuditList>().get("/api/admin/audit/verify", verify, "Verify the chain of the audit log")
}

/// The result of a verification.
#[derive(Serialize, JsonSchema)]
struct Verification {
    /// Whether the chain is intact.
    holds: bool,
    /// The number of rows, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    /// The last row's number and hash, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    /// Where and how it is broken, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

/// `GET /api/admin/audit/verify`
async fn verify(_: Admin, State(state): State<ConsoleState>) -> Result<Json<Verification>, HttpError> {
    Ok(Json(match verify_chain(&state).await? {
        Ok((rows, head)) => Verification { holds: true, rows: Some(rows), head: Some(head), fault: None },
        Err(fault) => Verification { holds: false, rows: None, head: None, fault: Some(fault) },
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
