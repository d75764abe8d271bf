//! Skills as archives, which can be installed elsewhere or unpacked into a folder.

use super::pack::pack;
use super::{SkillOrigin, find};
use crate::archive::MAX_UNPACKED;
use crate::catalog::CatalogSkill;
use crate::console::folders;
use crate::folder::MAX_FILES;
use crate::store;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use capability::Context;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use web::admin::{ADMINISTRATION, Admin, PageError, from_store_error};
use web::openapi::{ApiRouter, Description, RouteOutput};
use web::{HttpError, SentQuery, valid_query};
use wire::{ErrorCode, UserError};

pub(super) fn routes() -> ApiRouter<Context> {
    ApiRouter::new(&ADMINISTRATION).get("/api/admin/skills/{name}/export", export, "Get a skill as an archive")
}

/// Selects one of two skills with the same name.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct ExportQuery {
    /// `installed` or `folder`. Default: the installed one, if there is one.
    origin: Option<SkillOrigin>,
}

/// An archive with a skill.
pub(super) struct SkillArchive {
    name: String,
    bytes: Vec<u8>,
}

impl IntoResponse for SkillArchive {
    fn into_response(self) -> Response {
        web::download("application/zip", &format!("{}.zip", self.name), self.bytes)
    }
}

impl RouteOutput for SkillArchive {
    fn describe(description: &mut Description<'_>) {
        description.response(200, "application/zip", &json!({ "type": "string", "format": "binary" }));
    }
}

/// `GET /api/admin/skills/{name}/export`
async fn export(
    _: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    query: SentQuery<ExportQuery>,
) -> Result<SkillArchive, HttpError> {
    Ok(archive(&context, &name, &valid_query(query)?).await?)
}

/// `GET /admin/skills/{name}/export`
pub(super) async fn download(
    _: Admin,
    State(context): State<Context>,
    Path(name): Path<String>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, PageError> {
    Ok(archive(&context, &name, &query).await?.into_response())
}

async fn archive(context: &Context, name: &str, query: &ExportQuery) -> Result<SkillArchive, UserError> {
    let is_installed = match query.origin {
        Some(origin) => origin == SkillOrigin::Installed,
        None => match find(context, name).await {
            Ok(_) => true,
            Err(error) if error.code == ErrorCode::NotFound => false,
            Err(error) => return Err(error),
        },
    };
    let files = if is_installed {
        installed_files(context, name).await?
    } else {
        folder_files(&folders::skill(context, name)?.0).await?
    };
    let (failed, folder) = (|| UserError::new(ErrorCode::Internal, "The skill cannot be packed."), name.to_owned());
    let packed = tokio::task::spawn_blocking(move || pack(&folder, &files)).await.map_err(|_| failed())?;
    let bytes = packed.map_err(|error| {
        tracing::error!(error, "a skill cannot be packed");
        failed()
    })?;
    Ok(SkillArchive { name: name.to_owned(), bytes })
}

/// Reads the files of an installed skill, as they were installed.
async fn installed_files(context: &Context, name: &str) -> Result<Vec<(String, Vec<u8>)>, UserError> {
    find(context, name).await?;
    let mut files = Vec::new();
    for file in store::files(&context.store, name).await.map_err(from_store_error)? {
        let read = store::read_file(&context.store, name, &file.path, &file.sha256).await.map_err(from_store_error)?;
        let changed = || UserError::new(ErrorCode::Conflict, format!("`{}` has another hash by now.", file.path));
        files.push((file.path.clone(), read.ok_or_else(changed)?));
    }
    Ok(files)
}

/// Reads the files of a skill of a folder.
async fn folder_files(skill: &CatalogSkill) -> Result<Vec<(String, Vec<u8>)>, UserError> {
    let paths = skill.folder_files().await.map_err(|reason| UserError::new(ErrorCode::Conflict, reason))?;
    // Of a folder with more, the others are not listed. Such an archive could not be installed either.
    if paths.len() > MAX_FILES {
        return Err(UserError::new(ErrorCode::TooLarge, format!("The skill has more than {MAX_FILES} files.")));
    }
    let (mut files, mut total) = (Vec::new(), 0);
    for path in paths {
        let name = path.to_string();
        let bytes = skill.read_file(path).await.map_err(|reason| UserError::new(ErrorCode::Conflict, reason))?;
        total += bytes.len() as u64;
        if total > MAX_UNPACKED {
            let message = format!("The files of the skill have more than {} MB.", MAX_UNPACKED >> 20);
            return Err(UserError::new(ErrorCode::TooLarge, message));
        }
        files.push((name, bytes));
    }
    Ok(files)
}
