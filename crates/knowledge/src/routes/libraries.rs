//! Libraries.

use crate::models::{Models, model_name};
use crate::service::{Access, Knowledge, LibraryChange, LibraryRequest, failed};
use crate::store::{self, EmbeddingProgress, LibraryCounts, LibraryRow};
use axum::extract::{Path, State};
use axum::response::NoContent;
use axum::{Extension, Json};
use chat::{Caller, Viewer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use web::openapi::Created;
use web::{HttpError, SentJson, SentQuery, valid_json, valid_query};
use wire::UserError;

/// A library.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LibraryItem {
    /// Its id.
    id: String,
    /// Its name.
    name: String,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// The roles whose users may read it.
    readers: Vec<String>,
    /// The roles whose users may add and delete documents.
    writers: Vec<String>,
    /// The access of the caller.
    access: Access,
    /// Whether the config declares it. Its documents are the files of a folder.
    declared: bool,
    /// Why its folder cannot be followed, for administrators; absent if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder_problem: Option<String>,
    /// The number of documents by state.
    documents: DocumentCounts,
    /// The number of chunks.
    chunks: i64,
    /// The bytes of all files.
    bytes: i64,
    /// The model whose vectors a semantic search uses; `null` if there are none.
    embedding: Option<Embedding>,
    /// How far the vectors of the configured model are; absent once all are there. Until then, searches use
    /// those of `embedding`.
    #[serde(skip_serializing_if = "Option::is_none")]
    embedding_progress: Option<Progress>,
    /// Whether entities and relations are extracted from its documents; absent if the config does not offer it.
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<bool>,
    /// Whether the caller can list the questions that were asked of it.
    questions: bool,
    /// When something was last added, changed or deleted; Unix time in milliseconds.
    updated_at: i64,
}

/// The number of documents by state.
#[derive(Serialize, JsonSchema)]
struct DocumentCounts {
    queued: i64,
    processing: i64,
    ready: i64,
    failed: i64,
}

/// The model of the vectors.
#[derive(Serialize, JsonSchema)]
struct Embedding {
    /// Its name. `latent` means vectors that are computed from the library itself.
    model: String,
    /// The length of the vectors.
    dimensions: u32,
}

/// How far the vectors of a model are.
#[derive(Serialize, JsonSchema)]
struct Progress {
    /// The model.
    model: String,
    /// The number of chunks that have their vectors.
    embedded: i64,
    /// The number of all chunks that can be found.
    chunks: i64,
}

/// The libraries.
#[derive(Serialize, JsonSchema)]
pub(super) struct LibraryItems {
    items: Vec<LibraryItem>,
}

/// Returns the model by which a library is searched: the configured one, or the library's own vectors.
fn embedding(library: &LibraryRow, chunks: i64, models: &Models) -> Option<Embedding> {
    let stored = library.embedding.as_ref().filter(|(key, _)| models.with_key(key).is_some());
    if let Some((key, dimensions)) = stored {
        return Some(Embedding { model: model_name(key).to_owned(), dimensions: *dimensions as u32 });
    }
    let has_vectors = chunks >= retrieval::Latent::LEAST_CHUNKS as i64;
    let dimensions = retrieval::LatentOptions::default().dimensions as u32;
    has_vectors.then(|| Embedding { model: "latent".to_owned(), dimensions })
}

fn item(
    knowledge: &Knowledge,
    viewer: &Viewer,
    library: LibraryRow,
    access: Access,
    counts: &HashMap<String, LibraryCounts>,
    models: &Models,
) -> LibraryItem {
    let counts = counts.get(&library.id).copied().unwrap_or_default();
    let LibraryCounts { queued, processing, ready, failed, chunks, bytes } = counts;
    LibraryItem {
        questions: knowledge.keeps_questions() && knowledge.may_see_questions(viewer, &library),
        access,
        declared: library.owner.is_empty(),
        embedding: embedding(&library, chunks, models),
        embedding_progress: None,
        folder_problem: knowledge.folder_problem(viewer, &library),
        graph: knowledge.graph_switch(&library),
        id: library.id,
        name: library.name,
        description: library.description,
        readers: library.readers,
        writers: library.writers,
        documents: DocumentCounts { queued, processing, ready, failed },
        chunks,
        bytes,
        updated_at: library.updated_at,
    }
}

/// Describes a library for a viewer.
pub(super) async fn one(knowledge: &Knowledge, viewer: &Viewer, library: LibraryRow) -> Result<LibraryItem, HttpError> {
    let counts = store::counts(knowledge.store(), vec![library.id.clone()]).await.map_err(failed)?;
    let models = knowledge.models();
    let access = knowledge.access(viewer, &library).ok_or_else(UserError::not_found)?;
    let mut item = item(knowledge, viewer, library, access, &counts, &models);
    if let Some(embedder) = &models.embedder {
        let progress = store::embedding_progress(knowledge.store(), &item.id, embedder.key()).await.map_err(failed)?;
        let EmbeddingProgress { embedded, chunks } = progress;
        let model = model_name(embedder.key()).to_owned();
        item.embedding_progress = (embedded < chunks).then_some(Progress { model, embedded, chunks });
    }
    Ok(item)
}

/// The filter of a list of libraries.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LibrariesQuery {
    /// Lists those among which the caller may choose for answers of this agent, instead of all.
    agent_id: Option<String>,
}

pub(super) async fn list(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    query: SentQuery<LibrariesQuery>,
) -> Result<Json<LibraryItems>, HttpError> {
    let LibrariesQuery { agent_id } = valid_query(query)?;
    let viewer = Viewer::from(&caller).through_agent(agent_id.is_some());
    let libraries = match agent_id {
        Some(agent_id) => knowledge.choices(&caller, &agent_id).await?,
        None => knowledge.libraries(&viewer).await?,
    };
    let ids = libraries.iter().map(|library| library.id.clone()).collect();
    let counts = store::counts(knowledge.store(), ids).await.map_err(failed)?;
    let models = knowledge.models();
    let described = libraries.into_iter().filter_map(|library| {
        let access = knowledge.access(&viewer, &library)?;
        Some(item(&knowledge, &viewer, library, access, &counts, &models))
    });
    Ok(Json(LibraryItems { items: described.collect() }))
}

pub(super) async fn create(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    request: SentJson<LibraryRequest>,
) -> Result<Created<LibraryItem>, HttpError> {
    let request = valid_json(request)?;
    let viewer = Viewer::from(&caller);
    let library = knowledge.create(&viewer, request).await?;
    Ok(Created(one(&knowledge, &viewer, library).await?))
}

pub(super) async fn show(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<LibraryItem>, HttpError> {
    let viewer = Viewer::from(&caller);
    let library = knowledge.library(&viewer, &id, Access::Read).await?;
    Ok(Json(one(&knowledge, &viewer, library).await?))
}

pub(super) async fn change(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    request: SentJson<LibraryChange>,
) -> Result<Json<LibraryItem>, HttpError> {
    let change = valid_json(request)?;
    let viewer = Viewer::from(&caller);
    let library = knowledge.change(&viewer, &id, change).await?;
    Ok(Json(one(&knowledge, &viewer, library).await?))
}

/// The roles that the config names.
#[derive(Serialize, JsonSchema)]
pub(super) struct KnownRoles {
    /// In alphabetical order.
    roles: Vec<String>,
}

pub(super) async fn roles(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<KnownRoles>, HttpError> {
    Ok(Json(KnownRoles { roles: knowledge.known_roles(&Viewer::from(&caller))? }))
}

pub(super) async fn delete(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    knowledge.delete(&Viewer::from(&caller), &id).await?;
    Ok(NoContent)
}
