//! The API for a skill. The list is in `list`, and the upload in `upload`.

use super::{SkillChange, SkillDetail};
use crate::console;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::NoContent;
use capability::Context;
use web::admin::{ADMINISTRATION, Admin};
use web::openapi::ApiRouter;
use web::{HttpError, SentJson, valid_json};

pub(super) fn routes() -> ApiRouter<Context> {
    ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/skills/{name}", show, "Get an installed skill with its files and findings")
        .put("/api/admin/skills/{name}", change, "Enable or disable a skill")
        .delete("/api/admin/skills/{name}", remove, "Delete a skill")
}

/// `GET /api/admin/skills/{name}`
async fn show(
    _: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
) -> Result<Json<SkillDetail>, HttpError> {
    Ok(Json(console::detail(&context, &name).await?))
}

/// `PUT /api/admin/skills/{name}`
async fn change(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    sent: SentJson<SkillChange>,
) -> Result<Json<SkillDetail>, HttpError> {
    let sent = valid_json(sent)?;
    console::change(&context, &admin, &name, sent).await?;
    Ok(Json(console::detail(&context, &name).await?))
}

/// `DELETE /api/admin/skills/{name}`
async fn remove(
    admin: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
) -> Result<NoContent, HttpError> {
    console::delete(&context, &admin, &name).await?;
    Ok(NoContent)
}
