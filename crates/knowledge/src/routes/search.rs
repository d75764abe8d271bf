//! Searches.

use crate::service::{Filter, Found, Knowledge, Marker, SearchMode, SearchOutcome, SearchRequest};
use axum::extract::{Path, State};
use axum::{Extension, Json};
use chat::{Caller, Viewer};
use documents::Place;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use web::{HttpError, SentJson, valid_json};

/// How many results a search has by default.
const DEFAULT_LIMIT: u32 = 5;

/// A search of a library.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchOne {
    /// A question, or words. Any of them counts.
    query: String,
    /// The most results.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
    /// How chunks are found.
    #[serde(default)]
    mode: SearchMode,
    /// Conditions that the documents fulfil.
    #[serde(default)]
    filter: Filter,
}

/// A search of several libraries.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchSeveral {
    /// The ids of the libraries.
    #[schemars(length(min = 1, max = 20))]
    libraries: Vec<String>,
    /// A question, or words. Any of them counts.
    query: String,
    /// The most results.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
    /// How chunks are found.
    #[serde(default)]
    mode: SearchMode,
    /// Conditions that the documents fulfil.
    #[serde(default)]
    filter: Filter,
}

fn default_limit() -> u32 {
    DEFAULT_LIMIT
}

/// The results, best first.
#[derive(Serialize, JsonSchema)]
pub(super) struct Results {
    results: Vec<ResultItem>,
    took: Took,
}

/// A chunk that was found.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ResultItem {
    /// The id of the chunk, which stands for this text for ever.
    chunk_id: String,
    /// The document.
    document_id: String,
    /// The library.
    library_id: String,
    /// The name of the file.
    file_name: String,
    /// The page or slide.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u32>,
    /// The first line, or the first row of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// The sheet of a workbook.
    #[serde(skip_serializing_if = "Option::is_none")]
    sheet: Option<String>,
    /// The location of the text in the file.
    place: Place,
    /// The title of the document and the headings above the text.
    heading: String,
    /// The text.
    text: String,
    /// The matches of words of the query in the text: of each the first character and the one after the last,
    /// counted in Unicode characters.
    marks: Vec<[u32; 2]>,
    /// The score: higher is better. Without a model that orders the results, from 0 to 1.
    score: f32,
    /// The rank in each ranking that has found it.
    ranks: Ranks,
}

/// The ranks of a chunk, from 1.
#[derive(Serialize, JsonSchema)]
struct Ranks {
    #[serde(skip_serializing_if = "Option::is_none")]
    keyword: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    semantic: Option<u32>,
    /// By the model that orders the best results, if the config names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    rerank: Option<u32>,
}

/// How long the parts of the search took, in milliseconds.
#[derive(Serialize, JsonSchema)]
struct Took {
    keyword: f64,
    semantic: f64,
    fuse: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rerank: Option<f64>,
}

impl Results {
    fn new(outcome: SearchOutcome, marker: &Marker) -> Self {
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        let (keyword, semantic, fuse) = (millis(outcome.keyword), millis(outcome.semantic), millis(outcome.fuse));
        let rerank = outcome.rerank.map(millis);
        let results = outcome.found.into_iter().map(|found| ResultItem::new(found, marker)).collect();
        Self { results, took: Took { keyword, semantic, fuse, rerank } }
    }
}

impl ResultItem {
    fn new(found: Found, marker: &Marker) -> Self {
        let chunk = found.chunk;
        let (page, line, sheet) = match &chunk.place {
            Place::Page { page } => (Some(*page), None, None),
            Place::Slide { slide } => (Some(*slide), None, None),
            Place::Lines { first, .. } => (None, Some(*first), None),
            Place::Rows { sheet, first, .. } => (None, Some(*first), sheet.clone()),
            Place::Chapter { .. } | Place::Section { .. } => (None, None, None),
        };
        Self {
            chunk_id: chunk.id(),
            document_id: chunk.document_id,
            library_id: found.library_id,
            file_name: chunk.file_name,
            page,
            line,
            sheet,
            place: chunk.place,
            heading: chunk.heading,
            marks: marker.marks(&chunk.text),
            text: chunk.text,
            score: found.score,
            ranks: Ranks { keyword: found.keyword_rank, semantic: found.semantic_rank, rerank: found.rerank_rank },
        }
    }
}

pub(super) async fn search_one(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    request: SentJson<SearchOne>,
) -> Result<Json<Results>, HttpError> {
    let SearchOne { query, limit, mode, filter } = valid_json(request)?;
    let request = SearchRequest { libraries: vec![id], query, limit, mode, filter };
    let marker = Marker::new(&request.query);
    let meter = knowledge.search_meter(&caller);
    let outcome = knowledge.ask(&Viewer::from(&caller), None, request, &meter).await?;
    Ok(Json(Results::new(outcome, &marker)))
}

pub(super) async fn search_several(
    State(knowledge): State<Knowledge>,
    Extension(caller): Extension<Caller>,
    request: SentJson<SearchSeveral>,
) -> Result<Json<Results>, HttpError> {
    let request = valid_json(request)?;
    let SearchSeveral { libraries, query, limit, mode, filter } = request;
    let request = SearchRequest { libraries, query, limit, mode, filter };
    let marker = Marker::new(&request.query);
    let meter = knowledge.search_meter(&caller);
    let outcome = knowledge.ask(&Viewer::from(&caller), None, request, &meter).await?;
    Ok(Json(Results::new(outcome, &marker)))
}
