//! Pages of shared versions of files, which anyone with the link can read.

use crate::routes::conversations::sharing::rendered;
use crate::state::AppState;
use app::SharedFileContent;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use web::HttpError;
use web::frame::artifact_frame;
use wire::UserError;
use workspace::SharedFile;

/// Returns the routes. Their frame is not that of callers, which refuses a browser whose session has ended.
pub(crate) fn routes() -> Router<AppState> {
    Router::new()
        .route("/shared/frame", get(async || artifact_frame()))
        .route("/shared/files/{id}", get(page))
        .route("/shared/files/{id}/content", get(content))
}

/// `GET /shared/files/{id}`
async fn page(State(state): State<AppState>, Path(id): Path<String>) -> Result<Response, HttpError> {
    let texts = state.composition.current.texts();
    let found = SharedFile::find(&state.composition.store, &id).await?;
    let status = if found.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let shown = match found {
        Some(file) => Some(shown(&id, &file).await?),
        None => None,
    };
    Ok(rendered(status, app::FILE_POLICY, move || app::shared_file_page(shown.as_ref(), texts)).await)
}

async fn shown(id: &str, file: &SharedFile) -> Result<SharedFileContent, HttpError> {
    let text = match app::file_has_text(file.name(), file.media_type(), file.size()) {
        Some(most) => Some(file.text(most).await?),
        None => None,
    };
    Ok(SharedFileContent {
        url: format!("/shared/files/{id}"),
        name: file.name().to_owned(),
        media_type: file.media_type().to_owned(),
        size: file.size(),
        text,
        shared_by: file.shared_by().map(str::to_owned),
        shared_at: file.shared_at(),
    })
}

/// How a file is read.
#[derive(Deserialize)]
struct ContentQuery {
    /// Whether a browser saves the file instead of showing it.
    #[serde(default)]
    download: bool,
}

/// `GET /shared/files/{id}/content`
async fn content(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(query): Query<ContentQuery>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let file = SharedFile::find(&state.composition.store, &id).await?.ok_or_else(UserError::not_found)?;
    let mut response = file.send(&headers, query.download).into_response();
    response.headers_mut().insert(header::HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex"));
    Ok(response)
}
