//! Export and import of conversations, and shared links to copies of them.

use crate::routes::tags::CONVERSATIONS;
use crate::state::AppState;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, NoContent, Response};
use axum::{Extension, Json};
use chat::{Caller, ExportedConversation, SharedSnapshot};
use offload::Pool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::LazyLock;
use web::openapi::{ApiRouter, Created, Description, RouteOutput};
use web::{HttpError, SentJson, conversation_file_name, download, valid_json};
use wire::organize::{Share, ShareList};
use wire::{ErrorCode, ErrorReason, UserError};

/// The stack size of a rendering thread, in bytes.
const STACK_BYTES: usize = 8 << 20;
/// The maximum number of pages that are rendered or wait for it.
const MAX_QUEUED_PAGES: usize = 32;

/// Renders pages outside the async workers.
static RENDER_POOL: LazyLock<Pool> = LazyLock::new(|| Pool::new("pages", STACK_BYTES, MAX_QUEUED_PAGES));

/// Returns the routes for callers.
pub(crate) fn routes() -> ApiRouter<AppState> {
    ApiRouter::new(&CONVERSATIONS)
        .post("/api/conversations", import, "Import a conversation")
        .get("/api/conversations/{id}/export", export, "Export a conversation")
        .get("/api/conversations/{id}/shares", shares, "List the shared links of a conversation")
        .post("/api/conversations/{id}/shares", share, "Create a shared link")
        .delete("/api/shares/{id}", unshare, "Delete a shared link")
}

/// The format of an export.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ExportFormat {
    /// For an import.
    #[default]
    Json,
    /// For reading.
    Markdown,
    /// A readable page without scripts.
    Html,
}

/// The query of an export.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ExportQuery {
    /// `json`, `markdown` or `html`.
    #[serde(default)]
    format: ExportFormat,
}

/// An exported conversation in one of the formats.
pub(crate) struct ExportResponse(Response);

impl IntoResponse for ExportResponse {
    fn into_response(self) -> Response {
        self.0
    }
}

impl RouteOutput for ExportResponse {
    fn describe(description: &mut Description<'_>) {
        description.json::<ExportedConversation>(200);
        for media in ["text/markdown", "text/html"] {
            description.response(200, media, &json!({ "type": "string" }));
        }
    }
}

/// `GET /api/conversations/{id}/export?format=json|markdown|html`
pub(crate) async fn export(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Query(export): Query<ExportQuery>,
) -> Result<ExportResponse, HttpError> {
    let chat = &state.composition.chat;
    let (kind, name, body) = match export.format {
        ExportFormat::Json => {
            let exported = chat.export(&caller, &id).await?;
            let name = conversation_file_name(&exported.title, exported.created_at, "json");
            let body = serde_json::to_vec_pretty(&exported);
            let body = body
                .map_err(|_| HttpError(UserError::new(ErrorCode::Internal, "The conversation cannot be exported.")))?;
            ("application/json", name, body)
        }
        ExportFormat::Markdown => {
            let (summary, text) = chat.markdown(&caller, &id).await?;
            let name = conversation_file_name(&summary.title, summary.created_at, "md");
            ("text/markdown; charset=utf-8", name, text.into_bytes())
        }
        ExportFormat::Html => {
            let page = readable_page(&state, StatusCode::OK, Some(chat.to_read(&caller, &id).await?)).await;
            return Ok(ExportResponse(page));
        }
    };
    Ok(ExportResponse(download(kind, &name, body)))
}

/// The id of a new conversation.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ImportedConversation {
    id: String,
}

/// `POST /api/conversations` with the file that `export?format=json` returned.
pub(crate) async fn import(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    file: SentJson<ExportedConversation>,
) -> Result<Created<ImportedConversation>, HttpError> {
    let file = valid_json(file)?;
    let id = state.composition.chat.import(&caller, file).await?;
    Ok(Created(ImportedConversation { id }))
}

/// The options of a shared link.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ShareRequest {
    /// Whether the link shows the results of tool calls.
    #[serde(default)]
    tool_results: bool,
}

/// `POST /api/conversations/{id}/shares` with `{toolResults?}`
pub(crate) async fn share(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    share: SentJson<ShareRequest>,
) -> Result<Created<Share>, HttpError> {
    let share = valid_json(share)?;
    Ok(Created(state.composition.chat.share(&caller, &id, share.tool_results).await?))
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
) -> Result<NoContent, HttpError> {
    state.composition.chat.unshare(&caller, &id).await?;
    Ok(NoContent)
}

/// `GET /shared/{id}`: public for everyone with the link.
pub(crate) async fn shared(State(state): State<AppState>, Path(id): Path<String>) -> Response {
    let (status, copy) = match state.composition.chat.shared(&id).await {
        Ok(copy) => (StatusCode::OK, Some(copy)),
        Err(error) if error.code == ErrorCode::NotFound => (StatusCode::NOT_FOUND, None),
        Err(error) => return HttpError(error).into_response(),
    };
    readable_page(&state, status, copy).await
}

/// Renders a copy as a self-contained page.
async fn readable_page(state: &AppState, status: StatusCode, copy: Option<SharedSnapshot>) -> Response {
    let texts = state.composition.current.texts();
    rendered(status, app::CONVERSATION_POLICY, move || app::shared_page(copy.as_ref(), texts)).await
}

/// Renders a page with this policy. Its Markdown may be long, and anyone with the link may request it, so it is rendered
/// outside the async workers.
pub(crate) async fn rendered(
    status: StatusCode,
    policy: &'static str,
    page: impl FnOnce() -> String + Send + 'static,
) -> Response {
    let Ok(page) = RENDER_POOL.run(move |_| page()).await else {
        let message = "Too many pages are being rendered. Try again in a moment.";
        let error = UserError::new(ErrorCode::Unavailable, message).because(ErrorReason::ServerBusy);
        return HttpError(UserError { retry_after: Some(5), ..error }).into_response();
    };
    let mut response = (status, Html(page)).into_response();
    // A deleted link must stop working at once, so no cache and no search engine may keep the page.
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("x-robots-tag"), "noindex, nofollow"),
        (header::CONTENT_SECURITY_POLICY, policy),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
