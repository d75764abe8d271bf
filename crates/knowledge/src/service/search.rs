//! Searches: rights first, then rankings in memory, then the texts of the best from the database.

use super::loaded::{LoadedLibrary, State};
use super::{Access, Knowledge, Viewer, failed};
use crate::store::{self, ChunkRow, LibraryRow};
use retrieval::{Expansion, Hit, Mask, Query, Shingles};
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
const MAX_LIBRARIES: usize = 20;
/// The most conditions of a filter.
const MAX_CONDITIONS: usize = 20;
/// How many chunks of each ranking are combined.
const CANDIDATES: usize = 100;
/// From which overlap on a text counts as one that was shown already.
const SAME_TEXT: f32 = 0.9;
/// How long a search waits for its turn.
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
}

/// The result of a search, best first.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchOutcome {
    pub(crate) found: Vec<Found>,
    pub(crate) keyword: Duration,
    pub(crate) semantic: Duration,
    pub(crate) fuse: Duration,
}

/// What both rankings of a library say of a chunk.
#[derive(Clone, Copy, Default)]
struct Candidate {
    keyword: Option<(u32, f32)>,
    semantic: Option<(u32, f32)>,
    /// How much the semantic ranking counts.
    weight: f32,
}

/// The candidates of a library.
struct Ranked {
    candidates: Vec<(String, u32, Candidate)>,
    has_vectors: bool,
    keyword: Duration,
    semantic: Duration,
}

impl Knowledge {
    /// Searches libraries.
    ///
    /// # Errors
    /// 404 for a library that the viewer may not read, 422 for an invalid query, 409 for a semantic search
    /// of libraries that have no vectors, 503 if too many searches run.
    pub(crate) async fn search(&self, viewer: &Viewer, request: SearchRequest) -> Result<SearchOutcome, UserError> {
        check(&request)?;
        let mut libraries = Vec::new();
        for id in &request.libraries {
            libraries.push(self.library(viewer, id, Access::Read).await?);
        }
        let mut loaded = Vec::new();
        let budget = self.settings().memory_bytes;
        for LibraryRow { id, generation, .. } in &libraries {
            let library = self.0.indexes.get(id, *generation, budget).await.map_err(failed)?;
            if request.mode != SearchMode::Keyword {
                self.0.indexes.first_vectors(&library).await;
            }
            loaded.push((id.clone(), library));
        }
        let permit = tokio::time::timeout(PATIENCE, self.0.searches.acquire()).await;
        let Ok(Ok(_permit)) = permit else {
            return Err(UserError::new(
                ErrorCode::Unavailable,
                "Too many searches are running. Try again in a moment.",
            ));
        };
        let limit = request.limit.min(MAX_LIMIT) as usize;
        let mode = request.mode;
        let work = move || rank_all(&loaded, &request);
        let ranked = tokio::task::spawn_blocking(work).await;
        let ranked = ranked.map_err(|_| UserError::new(ErrorCode::Internal, "The search failed."))?;
        if mode == SearchMode::Semantic && !ranked.iter().any(|(_, ranked)| ranked.has_vectors) {
            let message = "These libraries cannot be searched by meaning: they have fewer than 200 chunks, or their index is still being computed. Use the mode `keyword` or `hybrid`.";
            return Err(UserError::new(ErrorCode::Conflict, message));
        }
        self.outcome(ranked, limit).await
    }

    /// Combines the rankings of all libraries and reads the texts of the best.
    async fn outcome(&self, ranked: Vec<(String, Ranked)>, limit: usize) -> Result<SearchOutcome, UserError> {
        let start = Instant::now();
        let mut outcome = SearchOutcome::default();
        let mut fused = Vec::new();
        // Scores of several libraries are relative to the best one of all.
        let best = |score: fn(&Candidate) -> Option<(u32, f32)>| {
            let all = ranked.iter().flat_map(|(_, ranked)| &ranked.candidates);
            all.filter_map(|(_, _, candidate)| score(candidate)).map(|(_, score)| score).fold(f32::EPSILON, f32::max)
        };
        let (best_keyword, best_semantic) = (best(|one| one.keyword), best(|one| one.semantic));
        for (library, ranked) in ranked {
            outcome.keyword += ranked.keyword;
            outcome.semantic += ranked.semantic;
            for (version, no, candidate) in ranked.candidates {
                let keyword = candidate.keyword.map_or(0.0, |(_, score)| score / best_keyword);
                let semantic = candidate.semantic.map_or(0.0, |(_, score)| score / best_semantic);
                let score = candidate.weight.mul_add(semantic, keyword) / (1.0 + candidate.weight);
                fused.push((score, library.clone(), version, no, candidate));
            }
        }
        fused.sort_unstable_by(|one, other| {
            other.0.total_cmp(&one.0).then_with(|| (&one.2, one.3).cmp(&(&other.2, other.3)))
        });
        // A few more, in place of those that are deleted or say the same.
        fused.truncate(limit + limit / 2 + 5);
        let mut texts = self.texts(&fused).await?;
        let mut shown: Vec<Shingles> = Vec::new();
        for (score, library_id, version, no, candidate) in fused {
            let Some(chunk) = texts.remove(&(version, no)) else { continue };
            let shingles = Shingles::new(&chunk.text);
            if outcome.found.len() == limit || shown.iter().any(|other| shingles.overlap(other) >= SAME_TEXT) {
                continue;
            }
            shown.push(shingles);
            let (keyword_rank, semantic_rank) =
                (candidate.keyword.map(|(rank, _)| rank), candidate.semantic.map(|(rank, _)| rank));
            outcome.found.push(Found { chunk, library_id, score, keyword_rank, semantic_rank });
        }
        outcome.fuse = start.elapsed();
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

fn rank_all(loaded: &[(String, Arc<LoadedLibrary>)], request: &SearchRequest) -> Vec<(String, Ranked)> {
    loaded.iter().map(|(id, library)| (id.clone(), library.read(|state| rank(state, request)))).collect()
}

/// Ranks the chunks of a library.
fn rank(state: &State, request: &SearchRequest) -> Ranked {
    let mask = mask(state, &request.filter);
    let start = Instant::now();
    let expansion = Expansion::for_index(&state.index);
    let keyword = match request.mode {
        SearchMode::Semantic => Vec::new(),
        _ => state.index.search(&Query::new(&state.index, &request.query), CANDIDATES, mask.as_ref(), Some(expansion)),
    };
    let between = Instant::now();
    let semantic = match &state.semantic {
        Some(own) if request.mode != SearchMode::Keyword => {
            own.vectors.search(&own.latent.query(&state.index, &request.query), CANDIDATES, mask.as_ref())
        }
        _ => Vec::new(),
    };
    let weight = if request.mode == SearchMode::Hybrid { retrieval::latent_weight(&state.index) } else { 1.0 };
    let mut candidates = HashMap::<u32, Candidate>::new();
    let ranks = |hits: &[Hit]| (1..).zip(hits.to_vec()).collect::<Vec<(u32, Hit)>>();
    for (rank, hit) in ranks(&keyword) {
        candidates.entry(hit.slot).or_default().keyword = Some((rank, hit.score));
    }
    for (rank, hit) in ranks(&semantic) {
        candidates.entry(hit.slot).or_default().semantic = Some((rank, hit.score));
    }
    // A library without vectors is as relevant as one with them.
    let weight = if semantic.is_empty() { 0.0 } else { weight };
    let named = candidates.into_iter().filter_map(|(slot, candidate)| {
        let (version, no) = state.index.chunk(slot)?;
        Some((version.to_owned(), no, Candidate { weight, ..candidate }))
    });
    Ranked {
        candidates: named.collect(),
        has_vectors: state.semantic.is_some(),
        keyword: between - start,
        semantic: between.elapsed(),
    }
}

/// Returns the chunks of the documents that fulfil a filter; `None` if all do.
fn mask(state: &State, filter: &Filter) -> Option<Mask> {
    if *filter == Filter::default() {
        return None;
    }
    Some(state.index.mask(|version| {
        let Some(document) = state.documents.get(version) else { return false };
        let is_named = filter.file_name.as_ref().is_none_or(|pattern| matches(pattern, &document.file_name));
        is_named && filter.metadata.iter().all(|(key, wanted)| fulfils(document.metadata.get(key), wanted))
    }))
}

fn fulfils(value: Option<&Value>, wanted: &Value) -> bool {
    match (value, wanted) {
        (Some(Value::Array(values)), wanted) if !wanted.is_array() => values.contains(wanted),
        (Some(value), Value::Array(any)) => any.contains(value) || value == wanted,
        (Some(value), wanted) => value == wanted,
        (None, wanted) => wanted.is_null(),
    }
}

/// Compares a name with a pattern in which `*` stands for any characters, without regard to case.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_lowercase(), name.to_lowercase());
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_match_patterns() {
        let check = |pattern: &str, name: &str, expected: bool| {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}")
        };
        check("a.md", "A.md", true);
        check("a.md", "ba.md", false);
        check("*.md", "x/a.md", true);
        check("*.md", "a.pdf", false);
        check("a*c*e", "abcde", true);
        check("a*c*e", "abde", false);
        check("*", "", true);
        check("a*a", "a", false);
    }

    #[test]
    fn metadata_fulfils_conditions() {
        let check = |value: Option<Value>, wanted: Value, expected: bool| {
            assert_eq!(fulfils(value.as_ref(), &wanted), expected, "{value:?} {wanted}");
        };
        check(Some(json!("a")), json!("a"), true);
        check(Some(json!("a")), json!("b"), false);
        check(Some(json!("a")), json!(["a", "b"]), true);
        check(Some(json!(["a", "b"])), json!("b"), true);
        check(None, json!("a"), false);
        check(None, json!(null), true);
    }
}
