//! Handlers and bodies that the APIs of all kinds of entries share.

use super::pages::{EntryPages, yaml};
use crate::kind::Entries;
use crate::service;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, NoContent};
use capability::Context;
use web::HttpError;
use web::admin::Admin;
use web::openapi::PlainText;

/// Deletes an entry: `DELETE /api/admin/…/{name}`
///
/// # Errors
/// 404 if there is no such entry.
pub async fn remove<E: Entries>(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
) -> Result<NoContent, HttpError> {
    service::delete::<E>(&context, &admin, &name, None).await?;
    Ok(NoContent)
}

/// Returns the added entries as YAML.
///
/// # Errors
/// The database is not available.
pub async fn export<P: EntryPages>(admin: Admin, State(context): State<Context>) -> Result<PlainText, HttpError> {
    Ok(PlainText(yaml::<P>(&context, &admin).await?.into_response()))
}
