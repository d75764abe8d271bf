//! Searches: rights first, then rankings in memory, then the texts of the best from the database.

use super::rank::{Candidate, Ranked, Scale, Searched, rank_all};
use super::{Access, Knowledge, failed, passage};
use crate::models::{EmbeddingFailure, Models, Reranker, embed_query};
use crate::store::{self, ChunkRow};
use chat::Viewer;
use contract::{ModelUse, ReplyUsage, Usage};
use retrieval::Shingles;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::{ErrorCode, UserError};

/// The most results.
pub(crate) const MAX_LIMIT: u32 = 50;
/// The longest query in bytes.
const MAX_QUERY: usize = 8 * 1024;
/// The most libraries of a search.
pub(super) const MAX_LIBRARIES: usize = 20;
/// The most conditions of a filter.
const MAX_CONDITIONS: usize = 20;
/// The overlap from which on a text counts as a duplicate of one that was shown.
const SAME_TEXT: f32 = 0.9;
/// Why a semantic search is not possible.
const NO_VECTORS: &str = "These libraries cannot be searched by meaning: `knowledge.embedding` is not configured, and they have fewer than 200 chunks, or their index is still being computed. Use the mode `keyword` or `hybrid`.";
/// The maximum time for which a search waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// How chunks are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum SearchMode {
    /// By words and by meaning.
    #[default]
    Hybrid,
    /// By words only.
    Keyword,
    /// By meaning only.
    Semantic,
}

/// Conditions that the documents of results fulfil, all of them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Filter {
    /// The name of the file; `*` stands for any characters.
    #[serde(default)]
    pub(crate) file_name: Option<String>,
    /// Values of the metadata. An array means one of its values.
    #[serde(default)]
    pub(crate) metadata: Map<String, Value>,
}

/// A search.
#[derive(Clone, Debug)]
pub(crate) struct SearchRequest {
    pub(crate) libraries: Vec<String>,
    pub(crate) query: String,
    pub(crate) limit: u32,
    pub(crate) mode: SearchMode,
    pub(crate) filter: Filter,
}

/// A chunk that was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) chunk: ChunkRow,
    pub(crate) library_id: String,
    pub(crate) score: f32,
    pub(crate) keyword_rank: Option<u32>,
    pub(crate) semantic_rank: Option<u32>,
    /// The rank by the model that has ordered the best results.
    pub(crate) rerank_rank: Option<u32>,
}

/// The result of a search, best first.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchOutcome {
    pub(crate) found: Vec<Found>,
    pub(crate) keyword: Duration,
    pub(crate) semantic: Duration,
    pub(crate) fuse: Duration,
    /// If results were ordered by a model.
    pub(crate) rerank: Option<Duration>,
}

impl Knowledge {
    /// Searches libraries. The cost of models is counted by `meter`.
    ///
    /// # Errors
    /// 404 for a library that the viewer may not read, 422 for an invalid query, 409 for a semantic search
    /// of libraries that have no vectors, 503 if too many searches run, or if the model of a semantic search
    /// cannot be reached.
    pub(crate) async fn search(
        &self,
        viewer: &Viewer,
        request: SearchRequest,
        meter: &ModelUse,
    ) -> Result<SearchOutcome, UserError> {
        check(&request)?;
        let mut libraries = Vec::new();
        for id in &request.libraries {
            libraries.push(self.library(viewer, id, Access::Read).await?);
        }
        let settings = self.settings();
        let models = self.models();
        let mut searched = Vec::new();
        for library in libraries {
            let stored = library.embedding.as_ref().map(|(key, _)| key.as_str());
            let usable = stored.filter(|key| models.with_key(key).is_some());
            let loaded = self.0.indexes.get(&library, usable, settings.memory_bytes).await.map_err(failed)?;
            if request.mode != SearchMode::Keyword {
                self.0.indexes.first_vectors(&loaded).await;
            }
            searched.push(Searched { id: library.id, library: loaded, vector: None });
        }
        if request.mode != SearchMode::Keyword {
            embed(&models, &request, &mut searched, meter).await?;
        }
        let permit = tokio::time::timeout(PATIENCE, self.0.searches.acquire()).await;
        let Ok(Ok(permit)) = permit else {
            return Err(UserError::new(
                ErrorCode::Unavailable,
                "Too many searches are running. Try again in a moment.",
            ));
        };
        let request = Arc::new(request);
        let (asked, weight) = (request.clone(), settings.semantic_weight);
        let ranked = tokio::task::spawn_blocking(move || rank_all(&searched, &asked, weight)).await;
        drop(permit);
        let ranked = ranked.map_err(|_| UserError::new(ErrorCode::Internal, "The search failed."))?;
        if request.mode == SearchMode::Semantic && !ranked.iter().any(|(_, ranked)| ranked.has_vectors) {
            return Err(UserError::new(ErrorCode::Conflict, NO_VECTORS));
        }
        self.outcome(ranked, &request, models.reranker.as_deref(), meter).await
    }

    /// Combines the rankings of all libraries, reads the texts of the best, and orders them anew if the
    /// config says so.
    async fn outcome(
        &self,
        ranked: Vec<(String, Ranked)>,
        request: &SearchRequest,
        reranker: Option<&Reranker>,
        meter: &ModelUse,
    ) -> Result<SearchOutcome, UserError> {
        let start = Instant::now();
        let limit = request.limit.min(MAX_LIMIT) as usize;
        let mut outcome = SearchOutcome::default();
        let mut fused = Vec::new();
        let scale = Scale::new(&ranked);
        for (library, ranked) in ranked {
            outcome.keyword += ranked.keyword;
            outcome.semantic += ranked.semantic;
            for (version, no, candidate) in ranked.candidates {
                let score = scale.score(&ranked.model, &candidate);
                fused.push((score, library.clone(), version, no, candidate));
            }
        }
        fused.sort_unstable_by(|one, other| {
            other.0.total_cmp(&one.0).then_with(|| (&one.2, one.3).cmp(&(&other.2, other.3)))
        });
        // A few more, in place of those that are deleted or say the same.
        let most = (limit + limit / 2 + 5).max(reranker.map_or(0, |reranker| reranker.candidates));
        fused.truncate(most);
        let mut texts = self.texts(&fused).await?;
        let found = fused.into_iter().filter_map(|(score, library_id, version, no, candidate)| {
            let chunk = texts.remove(&(version, no))?;
            let (keyword_rank, semantic_rank) =
                (candidate.keyword.map(|(rank, _)| rank), candidate.semantic.map(|(rank, _)| rank));
            Some(Found { chunk, library_id, score, keyword_rank, semantic_rank, rerank_rank: None })
        });
        let mut found: Vec<_> = found.collect();
        outcome.fuse = start.elapsed();
        if let Some(reranker) = reranker {
            let begun = Instant::now();
            found = reranked(reranker, &request.query, found, meter).await;
            outcome.rerank = Some(begun.elapsed());
        }
        let mut shown: Vec<Shingles> = Vec::new();
        found.retain(|one| {
            let shingles = Shingles::new(&one.chunk.text);
            let is_new = shown.len() < limit && shown.iter().all(|other| shingles.overlap(other) < SAME_TEXT);
            if is_new {
                shown.push(shingles);
            }
            is_new
        });
        outcome.found = found;
        Ok(outcome)
    }

    /// Reads the texts of chunks; those of deleted documents are left out.
    async fn texts(
        &self,
        fused: &[(f32, String, String, u32, Candidate)],
    ) -> Result<HashMap<(String, u32), ChunkRow>, UserError> {
        let mut numbers = HashMap::<&str, Vec<u32>>::new();
        for (_, _, version, no, _) in fused {
            numbers.entry(version).or_default().push(*no);
        }
        let read = numbers.into_iter().map(|(version, numbers)| store::found_chunks(self.store(), version, numbers));
        let rows = futures::future::try_join_all(read).await.map_err(failed)?;
        Ok(rows.into_iter().flatten().map(|row| ((row.version_id.clone(), row.no), row)).collect())
    }
}

/// Computes the vector of the question for each model that libraries need. Without it, a hybrid search continues
/// with keywords.
async fn embed(
    models: &Models,
    request: &SearchRequest,
    searched: &mut [Searched],
    meter: &ModelUse,
) -> Result<(), UserError> {
    let mut vectors = HashMap::<String, Option<Arc<(String, Vec<f32>)>>>::new();
    for one in searched {
        let key = one.library.read(|state| state.model.as_ref().map(|model| model.key.clone()));
        let Some((key, embedder)) = key.and_then(|key| Some((key.clone(), models.with_key(&key)?))) else { continue };
        one.vector = match vectors.get(&key) {
            Some(known) => known.clone(),
            None => {
                let vector = match embed_query(&**embedder, &request.query, meter).await {
                    Ok(vector) => Some(Arc::new((key.clone(), vector))),
                    Err(failure) if request.mode == SearchMode::Semantic => return Err(unavailable(failure)),
                    Err(failure) => {
                        tracing::warn!(%failure, "a search goes on without vectors");
                        None
                    }
                };
                vectors.insert(key, vector.clone());
                vector
            }
        };
    }
    Ok(())
}

fn unavailable(failure: EmbeddingFailure) -> UserError {
    match failure {
        EmbeddingFailure::Refused(reason) => UserError::new(ErrorCode::RateLimited, reason),
        failure => {
            tracing::warn!(%failure, "a semantic search failed");
            UserError::new(
                ErrorCode::Unavailable,
                "The model for searches by meaning cannot be reached. Try again later, or use the mode `keyword`.",
            )
        }
    }
}

/// Orders the best results by a model. If it fails, takes too long or the user may use no more, they stay as
/// they are; those that it does not name follow the others.
async fn reranked(reranker: &Reranker, query: &str, mut found: Vec<Found>, meter: &ModelUse) -> Vec<Found> {
    let rest = found.split_off(found.len().min(reranker.candidates));
    let passages: Vec<String> = found.iter().map(|one| passage(&one.chunk.heading, &one.chunk.text)).collect();
    let (model, cost) = reranker.bill();
    let is_admitted = found.len() > 1 && meter.admit(&model, cost.is_some()).await.is_ok();
    let begun = Instant::now();
    let order = if is_admitted { reranker.order(query, &passages).await } else { Ok(Vec::new()) };
    let order = order.unwrap_or_else(|failure| {
        tracing::warn!(%failure, "results stay in the order of the search");
        Vec::new()
    });
    if !order.is_empty() {
        meter.record_reply(ReplyUsage::of_request(model, Usage::default(), cost, begun.elapsed())).await;
    }
    let mut left: Vec<Option<Found>> = found.into_iter().map(Some).collect();
    let named = (1..).zip(order).filter_map(|(rank, (at, score))| {
        let found = left.get_mut(at)?.take()?;
        Some(Found { score, rerank_rank: Some(rank), ..found })
    });
    let named: Vec<_> = named.collect();
    named.into_iter().chain(left.into_iter().flatten()).chain(rest).collect()
}

fn check(request: &SearchRequest) -> Result<(), UserError> {
    if request.query.trim().is_empty() || request.query.len() > MAX_QUERY {
        return Err(UserError::invalid("/query", format!("A query has 1 to {MAX_QUERY} bytes.")));
    }
    if !(1..=MAX_LIMIT).contains(&request.limit) {
        return Err(UserError::invalid("/limit", format!("The limit is 1 to {MAX_LIMIT}.")));
    }
    if request.libraries.is_empty() || request.libraries.len() > MAX_LIBRARIES {
        return Err(UserError::invalid("/libraries", format!("Name 1 to {MAX_LIBRARIES} libraries.")));
    }
    if request.filter.metadata.len() > MAX_CONDITIONS {
        return Err(UserError::invalid("/filter", format!("A filter has at most {MAX_CONDITIONS} conditions.")));
    }
    Ok(())
}
