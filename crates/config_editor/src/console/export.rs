//! Drafts and published versions as files, to be kept with the files of the config.

use super::access::Editor;
use crate::service;
use crate::store;
use axum::extract::{Path, State};
use axum::response::Response;
use capability::Context;
use serde_json::json;
use web::admin::{Admin, PageError, from_store_error};
use web::download;
use wire::UserError;

/// `GET /admin/config/draft/changes.yaml`
pub(super) async fn draft(Editor(admin): Editor, State(context): State<Context>) -> Result<Response, PageError> {
    let draft = service::own_draft(&context, &admin).await?;
    file(&context, &admin, None, "config-draft.yaml", draft.text).await
}

/// `GET /admin/config/versions/{version}/changes.yaml`
pub(super) async fn version(
    Editor(admin): Editor,
    State(context): State<Context>,
    Path(version): Path<i64>,
) -> Result<Response, PageError> {
    let stored = store::find(&context.store, version).await.map_err(from_store_error)?;
    let stored = stored.ok_or_else(UserError::not_found)?;
    file(&context, &admin, Some(version), &format!("config-version-{version}.yaml"), stored.text).await
}

async fn file(
    context: &Context,
    admin: &Admin,
    version: Option<i64>,
    name: &str,
    text: String,
) -> Result<Response, PageError> {
    admin.record(&context.store, "export_config", "", json!({ "version": version })).await?;
    Ok(download("text/yaml; charset=utf-8", name, text))
}
