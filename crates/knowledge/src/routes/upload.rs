//! Adding documents.

use crate::service::{AddedFile, Knowledge, NewFile, UploadOptions, read_metadata};
use crate::store::{DocumentRow, DocumentState};
use axum::extract::multipart::{Field, MultipartRejection};
use axum::extract::{FromRequest, Multipart, Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use chat::{Caller, Viewer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use web::openapi::{Description, RouteInput, RouteOutput};
use web::{HttpError, SentQuery, read_rest, valid_query};
use wire::{ErrorCode, UserError};

/// The most files of a request.
const MAX_FILES: usize = 100;
/// The most fields of a request that are no files.
const MAX_FIELDS: usize = 10;
/// The longest field that is no file, in bytes.
const MAX_FIELD: usize = 64 * 1024;

/// A body of files.
pub(super) struct Files(Multipart);

impl<S: Send + Sync> FromRequest<S> for Files {
    type Rejection = MultipartRejection;

    async fn from_request(request: Request, state: &S) -> Result<Self, MultipartRejection> {
        Multipart::from_request(request, state).await.map(Self)
    }
}

impl RouteInput for Files {
    fn describe(description: &mut Description<'_>) {
        let file = json!({ "type": "string", "format": "binary" });
        let metadata = json!({ "type": "string", "description": "A JSON object that searches can filter by. It applies to all files of the request." });
        let properties = json!({ "file": { "type": "array", "items": file }, "metadata": metadata });
        let schema = json!({ "type": "object", "properties": properties, "required": ["file"] });
        description.body("multipart/form-data", &schema, true);
    }
}

/// The query of an upload.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct UploadQuery {
    /// Whether a file replaces the document with the same name. The old one is found until the new one is
    /// ready.
    #[serde(default)]
    replace: bool,
}

/// A document that was added.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AddedDocument {
    /// Its id.
    id: String,
    /// The name of its file.
    file_name: String,
    /// Its state.
    state: DocumentState,
    /// The name of the document that had the same bytes already, as which the file counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    already_as: Option<String>,
}

impl From<AddedFile> for AddedDocument {
    fn from(AddedFile { document, is_new }: AddedFile) -> Self {
        let DocumentRow { id, file_name, state, .. } = document;
        Self { id, already_as: (!is_new).then(|| file_name.clone()), file_name, state }
    }
}

/// A file that was not added.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RefusedFile {
    /// Its name.
    file_name: String,
    /// Why, for the user.
    message: String,
}

/// 202 with the documents, which are read in the background.
#[derive(Serialize, JsonSchema)]
pub(super) struct AddedDocuments {
    documents: Vec<AddedDocument>,
    /// The files that were not added, because they are empty. Without any other file, the answer is 422.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<RefusedFile>,
}

/// The content of a request.
#[derive(Default)]
struct Uploaded {
    added: Vec<AddedFile>,
    refused: Vec<RefusedFile>,
    /// The metadata that is for all of them.
    metadata: Option<Map<String, Value>>,
}

impl IntoResponse for AddedDocuments {
    fn into_response(self) -> Response {
        (StatusCode::ACCEPTED, Json(self)).into_response()
    }
}

impl RouteOutput for AddedDocuments {
    fn describe(description: &mut Description<'_>) {
        description.json::<Self>(202);
    }
}

pub(super) async fn upload(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    query: SentQuery<UploadQuery>,
    files: Result<Files, MultipartRejection>,
) -> Result<AddedDocuments, HttpError> {
    let viewer = Viewer::from(&caller);
    // Rights are checked before the body, so that users without them learn nothing about what a library accepts.
    knowledge.library_for_upload(&viewer, &id).await?;
    let UploadQuery { replace } = valid_query(query)?;
    let Files(mut body) = files.map_err(|_| HttpError::malformed("The request must be `multipart/form-data`."))?;
    let stored = store_all(&knowledge, &viewer, &id, replace, &mut body).await;
    if stored.is_err() {
        read_rest(&mut body).await;
    }
    let Uploaded { added, refused, metadata } = stored?;
    if added.is_empty() {
        let message = refused.into_iter().next().map_or("The request has no file.".to_owned(), |file| file.message);
        return Err(UserError::invalid("/file", message).into());
    }
    if let Some(metadata) = metadata {
        for AddedFile { document, .. } in &added {
            knowledge.set_metadata(document, metadata.clone()).await?;
        }
    }
    Ok(AddedDocuments { documents: added.into_iter().map(AddedDocument::from).collect(), refused })
}

/// Stores the documents as they arrive.
async fn store_all(
    knowledge: &Knowledge,
    viewer: &Viewer,
    library: &str,
    replace: bool,
    body: &mut Multipart,
) -> Result<Uploaded, HttpError> {
    let (mut uploaded, mut fields) = (Uploaded::default(), 0);
    while let Some(field) = body.next_field().await.map_err(|_| interrupted())? {
        match field.name() {
            Some("file") if uploaded.added.len() + uploaded.refused.len() == MAX_FILES => {
                return Err(UserError::invalid("/file", format!("A request has at most {MAX_FILES} files.")).into());
            }
            Some("file") => {
                let media_type = field.content_type().map(str::to_owned);
                let name = field.file_name().unwrap_or_default().to_owned();
                let file = NewFile { name: name.clone(), media_type, identity: None, stamp: None };
                let options = UploadOptions { replace, ..UploadOptions::default() };
                match knowledge.upload(viewer, library, file, options, field).await {
                    Ok(added) => uploaded.added.push(added),
                    // An empty file; the others are stored.
                    Err(error) if error.code == ErrorCode::Invalid => {
                        uploaded.refused.push(RefusedFile { file_name: name, message: error.message });
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            name => {
                fields += 1;
                let is_metadata = name == Some("metadata");
                let text = short_text(field).await?;
                if fields > MAX_FIELDS {
                    return Err(HttpError::malformed("The request has too many fields."));
                }
                if is_metadata {
                    uploaded.metadata = Some(read_metadata(&text)?);
                }
            }
        }
    }
    Ok(uploaded)
}

/// Reads a field of bounded length.
async fn short_text(mut field: Field<'_>) -> Result<String, HttpError> {
    let mut bytes = Vec::new();
    while let Some(more) = field.chunk().await.map_err(|_| interrupted())? {
        bytes.extend_from_slice(&more);
        if bytes.len() > MAX_FIELD {
            return Err(HttpError::malformed("A field of the request is too long."));
        }
    }
    String::from_utf8(bytes).map_err(|_| HttpError::malformed("A field of the request is not text."))
}

fn interrupted() -> HttpError {
    HttpError::malformed("The body is not valid `multipart/form-data`, or the upload was interrupted.")
}
