//! Conversations as files, and links to copies of them.

use super::agent::unreadable;
use super::download::disposition;
use crate::error::HttpError;
use crate::router::AppState;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::{Extension, Json};
use chat::{Caller, Exported, SharedCopy};
use offload::Pool;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::LazyLock;
use wire::order::{Share, ShareList};
use wire::{ErrorCode, ErrorReason, UserError};

/// The stack of a thread that draws pages, in bytes.
const STACK: usize = 8 << 20;
/// Pages that wait or are drawn.
const MAX_WAITING: usize = 32;

/// Draws pages outside of the async workers.
static PAGES: LazyLock<Pool> = LazyLock::new(|| Pool::new("pages", STACK, MAX_WAITING));

/// As what a conversation is exported.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Json,
    Markdown,
    /// A page to read, without scripts of ours: also where the chat's own cannot show it.
    Html,
}

/// How to export.
#[derive(Deserialize)]
pub(crate) struct Export {
    #[serde(default)]
    format: Format,
}

/// `GET /api/conversations/{id}/export?format=json|markdown|html`
pub(crate) async fn export(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Query(export): Query<Export>,
) -> Result<Response, HttpError> {
    let chat = &state.composition.chat;
    let (kind, name, body) = match export.format {
        Format::Json => {
            let exported = chat.export(&caller, &id).await?;
            let name = disposition(&exported.title, exported.created_at, "json");
            let body = serde_json::to_vec_pretty(&exported);
            let body = body
                .map_err(|_| HttpError(UserError::new(ErrorCode::Internal, "The conversation cannot be exported.")))?;
            ("application/json", name, body)
        }
        Format::Markdown => {
            let (summary, text) = chat.markdown(&caller, &id).await?;
            let name = disposition(&summary.title, summary.created_at, "md");
            ("text/markdown; charset=utf-8", name, text.into_bytes())
        }
        Format::Html => return Ok(to_read(&state, StatusCode::OK, Some(chat.to_read(&caller, &id).await?)).await),
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_DISPOSITION, name),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, body).into_response())
}

/// `POST /api/conversations` with what `export?format=json` gave.
pub(crate) async fn import(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    file: Result<Json<Exported>, JsonRejection>,
) -> Result<(StatusCode, Json<Value>), HttpError> {
    let Json(file) = file.map_err(|rejection| unreadable(&rejection))?;
    let id = state.composition.chat.import(&caller, file).await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id }))))
}

/// What is shared.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewShare {
    #[serde(default)]
    tool_results: bool,
}

/// `POST /api/conversations/{id}/shares` with `{toolResults?}`
pub(crate) async fn share(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    share: Result<Json<NewShare>, JsonRejection>,
) -> Result<(StatusCode, Json<Share>), HttpError> {
    let Json(share) = share.map_err(|rejection| unreadable(&rejection))?;
    Ok((StatusCode::CREATED, Json(state.composition.chat.share(&caller, &id, share.tool_results).await?)))
}

/// `GET /api/conversations/{id}/shares`
pub(crate) async fn shares(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<ShareList>, HttpError> {
    Ok(Json(state.composition.chat.shares(&caller, &id).await?))
}

/// `DELETE /api/shares/{id}`
pub(crate) async fn unshare(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    state.composition.chat.unshare(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /shared/{id}`: for whoever has the link, whoever it is.
pub(crate) async fn shared(State(state): State<AppState>, Path(id): Path<String>) -> Response {
    let (status, copy) = match state.composition.chat.shared(&id).await {
        Ok(copy) => (StatusCode::OK, Some(copy)),
        Err(error) if error.code == ErrorCode::NotFound => (StatusCode::NOT_FOUND, None),
        Err(error) => return HttpError(error).into_response(),
    };
    to_read(&state, status, copy).await
}

/// A copy as a page that stands for itself. Its Markdown may be long, and anyone with the link may ask for it, so it is drawn outside of the
/// async workers.
async fn to_read(state: &AppState, status: StatusCode, copy: Option<SharedCopy>) -> Response {
    let texts = state.composition.current.texts();
    let Ok(page) = PAGES.run(move |_| app::shared_page(copy.as_ref(), texts)).await else {
        let message = "Too many pages are being drawn. Try again in a moment.";
        let error = UserError::new(ErrorCode::Unavailable, message).because(ErrorReason::ServerBusy);
        return HttpError(UserError { retry_after: Some(5), ..error }).into_response();
    };
    let mut response = (status, Html(page)).into_response();
    // Taken away is taken away: no cache and no search engine keeps it.
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("x-robots-tag"), "noindex, nofollow"),
        (header::CONTENT_SECURITY_POLICY, app::SHARED_POLICY),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
