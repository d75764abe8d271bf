//! Documents.

use crate::service::{Access, Knowledge, failed};
use crate::store::{self, DocumentFilter, DocumentRow, DocumentState, PartRow};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, NoContent, Response};
use axum::{Extension, Json};
use chat::{Caller, Viewer};
use documents::{Place, Warning, WarningCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use web::openapi::{Description, RouteOutput};
use web::{HttpError, SentQuery, content_disposition, valid_query};
use wire::UserError;

/// The most documents of a page.
const PAGE: u32 = 100;
/// The most parts of a text that are returned at once.
const PARTS: u32 = 50;

/// A document.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentItem {
    /// Its id.
    pub(super) id: String,
    /// Its library.
    library_id: String,
    /// The name of its file.
    pub(super) file_name: String,
    /// The media type of its file.
    media_type: String,
    /// The size of its file.
    bytes: i64,
    /// The metadata with which it was added.
    metadata: Map<String, Value>,
    /// The number of its pages, sheets or sections.
    pages: i64,
    /// The number of its chunks.
    chunks: i64,
    /// Its state.
    pub(super) state: DocumentState,
    /// The current step: `reading`, `splitting` or `indexing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<String>,
    /// How far reading is, from 0 to 1.
    progress: f64,
    /// Why it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<DocumentError>,
    /// The parts that are missing in the searched text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<DocumentWarning>,
    /// When it was added; Unix time in milliseconds.
    created_at: i64,
    /// When its state changed; Unix time in milliseconds.
    updated_at: i64,
}

/// Why a document could not be read.
#[derive(Serialize, JsonSchema)]
struct DocumentError {
    /// The reason, for programs.
    code: String,
    /// The reason for the user.
    message: String,
}

/// Something that was left out of a text, or that its reader should know.
#[derive(Serialize, JsonSchema)]
struct DocumentWarning {
    /// The subject of the warning, for programs.
    code: WarningCode,
    /// A sentence for the user.
    message: String,
}

impl From<Warning> for DocumentWarning {
    fn from(Warning { code, message }: Warning) -> Self {
        Self { code, message }
    }
}

/// Documents in the order in which they were added, or in the reverse order.
#[derive(Serialize, JsonSchema)]
pub(super) struct DocumentItems {
    items: Vec<DocumentItem>,
    /// The cursor of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct ListQuery {
    /// Only documents of this state.
    #[serde(default)]
    state: Option<DocumentState>,
    /// The cursor of the page before.
    #[serde(default)]
    cursor: Option<String>,
    /// Only documents with this file name.
    #[serde(default)]
    name: Option<String>,
    /// The order.
    #[serde(default)]
    order: ListOrder,
}

/// The order of documents.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum ListOrder {
    /// As they were added.
    #[default]
    Oldest,
    /// The last one first.
    Newest,
}

/// The query of a document.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentQuery {
    /// A conversation of the caller in which the document was cited. It lets visitors open what agents cite to them.
    #[serde(default)]
    conversation_id: Option<String>,
}

/// The query of the text.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextQuery {
    /// The number of the part with which the text begins, from 1: of a page, a sheet or a section.
    #[serde(default)]
    page: Option<u32>,
    /// The `chunkId` of a result or of a citation: the text begins with the part before that in which the chunk
    /// begins. Without effect if `page` is given, or if the document has a newer version.
    #[serde(default)]
    chunk: Option<String>,
    /// As for the document itself.
    #[serde(default)]
    conversation_id: Option<String>,
}

/// The query of the chunks.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct ChunksQuery {
    /// The number of the first chunk, from 1.
    #[serde(default)]
    from: Option<u32>,
}

/// A text by its parts, or chunks.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextParts {
    /// The parts in reading order.
    parts: Vec<DocumentPart>,
    /// The number of the part with which the text continues; absent at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<i64>,
    /// The number of the part in which the chunk of the query begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk_part: Option<u32>,
}

impl TextParts {
    /// Makes a page of rows, of which the last one may be the first of the next page.
    fn new(mut rows: Vec<PartRow>) -> Self {
        let next = rows.get(PARTS as usize).map(|first| first.no + 1);
        rows.truncate(PARTS as usize);
        let part = |PartRow { no, place, heading, text }| DocumentPart { no: no + 1, place, heading, text };
        Self { parts: rows.into_iter().map(part).collect(), next, chunk_part: None }
    }
}

/// A part of a text.
#[derive(Serialize, JsonSchema)]
struct DocumentPart {
    /// Its number, from 1.
    no: i64,
    /// The location in the file.
    place: Place,
    /// The headings above it.
    heading: String,
    /// The text.
    text: String,
}

impl From<DocumentRow> for DocumentItem {
    fn from(row: DocumentRow) -> Self {
        Self {
            id: row.id,
            library_id: row.library_id,
            file_name: row.file_name,
            media_type: row.media_type,
            bytes: row.bytes,
            metadata: row.metadata,
            pages: row.pages,
            chunks: row.chunks,
            state: row.state,
            step: row.step,
            progress: row.progress,
            error: row.error.map(|(code, message)| DocumentError { code, message }),
            warnings: row.warnings.into_iter().map(DocumentWarning::from).collect(),
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

pub(super) async fn list(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: SentQuery<ListQuery>,
) -> Result<Json<DocumentItems>, HttpError> {
    let ListQuery { state, cursor, name, order } = valid_query(query)?;
    let library = knowledge.library(&Viewer::from(&caller), &id, Access::Read).await?;
    let (after, newest_first) = (cursor.unwrap_or_default(), order == ListOrder::Newest);
    let filter = DocumentFilter { state, file_name: name, after, newest_first };
    let found = store::listed_documents(knowledge.store(), &library.id, filter, PAGE + 1).await;
    let mut rows = found.map_err(failed)?;
    let has_more = rows.len() > PAGE as usize;
    rows.truncate(PAGE as usize);
    let cursor = rows.last().filter(|_| has_more).map(|last| last.id.clone());
    Ok(Json(DocumentItems { items: rows.into_iter().map(DocumentItem::from).collect(), cursor }))
}

pub(super) async fn show(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: SentQuery<DocumentQuery>,
) -> Result<Json<DocumentItem>, HttpError> {
    let DocumentQuery { conversation_id } = valid_query(query)?;
    Ok(Json(knowledge.readable_document(&caller, conversation_id.as_deref(), &id).await?.into()))
}

pub(super) async fn delete(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    knowledge.delete_document(&Viewer::from(&caller), &id).await?;
    Ok(NoContent)
}

pub(super) async fn retry(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<DocumentItem>, HttpError> {
    Ok(Json(knowledge.retry(&Viewer::from(&caller), &id).await?.into()))
}

pub(super) async fn cancel(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<DocumentItem>, HttpError> {
    Ok(Json(knowledge.cancel(&Viewer::from(&caller), &id).await?.into()))
}

pub(super) async fn chunks(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: SentQuery<ChunksQuery>,
) -> Result<Json<TextParts>, HttpError> {
    let from = valid_query(query)?.from.unwrap_or(1).saturating_sub(1);
    let document = knowledge.document(&Viewer::from(&caller), &id, Access::Read).await?;
    let Some(version) = document.version_id else { return Ok(Json(TextParts::new(Vec::new()))) };
    let rows = store::chunks(knowledge.store(), &version, from, PARTS + 1).await.map_err(failed)?;
    Ok(Json(TextParts::new(rows)))
}

pub(super) async fn text(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: SentQuery<TextQuery>,
) -> Result<Json<TextParts>, HttpError> {
    let TextQuery { page, chunk, conversation_id } = valid_query(query)?;
    let document = knowledge.readable_document(&caller, conversation_id.as_deref(), &id).await?;
    let Some(version) = document.version_id else { return Ok(Json(TextParts::new(Vec::new()))) };
    let of_version = |id: &str| id.strip_prefix(&version)?.strip_prefix('.')?.parse().ok();
    let part = match (page, chunk.as_deref().and_then(of_version)) {
        (None, Some(no)) => store::part_of_chunk(knowledge.store(), &version, no).await.map_err(failed)?,
        _ => None,
    };
    // The part before that of the chunk shows what it follows. Parts are counted from 0, pages from 1.
    let from = part.or(page).unwrap_or_default().saturating_sub(1);
    let rows = store::parts(knowledge.store(), &version, from, PARTS + 1).await.map_err(failed)?;
    Ok(Json(TextParts { chunk_part: part.map(|part| part + 1), ..TextParts::new(rows) }))
}

/// The file of a document.
pub(super) struct DocumentFile(Response);

impl IntoResponse for DocumentFile {
    fn into_response(self) -> Response {
        self.0
    }
}

impl RouteOutput for DocumentFile {
    fn describe(description: &mut Description<'_>) {
        description.response(200, "application/octet-stream", &json!({}));
    }
}

/// Keeps a file that a browser displays from running or loading anything. Browsers show PDF with it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

pub(super) async fn file(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: SentQuery<DocumentQuery>,
) -> Result<DocumentFile, HttpError> {
    let DocumentQuery { conversation_id } = valid_query(query)?;
    let document = knowledge.readable_document(&caller, conversation_id.as_deref(), &id).await?;
    let version = document.version_id.or(document.next_id).ok_or_else(UserError::not_found)?;
    let is_pdf = document.media_type == "application/pdf";
    let shown = if is_pdf { "inline" } else { "attachment" };
    let media_type = if is_pdf { "application/pdf" } else { "application/octet-stream" };
    let name = document.file_name.rsplit('/').next().unwrap_or_default();
    let headers = [
        (header::CONTENT_TYPE, media_type.to_owned()),
        (header::CONTENT_DISPOSITION, content_disposition(shown, name)),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (header::CACHE_CONTROL, "private, no-cache".to_owned()),
    ];
    let body = Body::from_stream(store::whole_file(knowledge.store().clone(), version));
    Ok(DocumentFile((headers, body).into_response()))
}
