//! The rankings of a library, by words and by vectors.

use super::loaded::{LoadedLibrary, State};
use super::{Filter, SearchMode, SearchRequest};
use retrieval::{Expansion, Mask, Query};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many chunks of each ranking are combined.
const CANDIDATES: usize = 100;
/// The weight of a model's vectors, relative to words.
const MODEL_WEIGHT: f32 = 1.0;
/// The difference up to which scores of vectors count as equal.
const LEAST_RANGE: f32 = 1e-6;
/// The name of the vectors that are computed from a library itself.
pub(super) const LATENT: &str = "latent";

/// The ranks of a chunk in both rankings of a library.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Candidate {
    pub(super) keyword: Option<(u32, f32)>,
    pub(super) semantic: Option<(u32, f32)>,
    /// How much the semantic ranking counts.
    pub(super) weight: f32,
}

/// The candidates of a library.
pub(super) struct Ranked {
    pub(super) candidates: Vec<(String, u32, Candidate)>,
    /// The key of the model of the vectors. Only scores of the same one can be compared.
    pub(super) model: String,
    pub(super) has_vectors: bool,
    pub(super) keyword: Duration,
    pub(super) semantic: Duration,
}

/// A library to search.
pub(super) struct Searched {
    pub(super) id: String,
    pub(super) library: Arc<LoadedLibrary>,
    /// The key of the model and the vector of the question.
    pub(super) vector: Option<Arc<(String, Vec<f32>)>>,
}

/// The weight of vectors, if the config sets it.
pub(super) type Weight = Option<f32>;

pub(super) fn rank_all(searched: &[Searched], request: &SearchRequest, weight: Weight) -> Vec<(String, Ranked)> {
    let rank_one = |one: &Searched| {
        let ranked = one.library.read(|state| rank(state, request, one.vector.as_deref(), weight));
        (one.id.clone(), ranked)
    };
    searched.iter().map(rank_one).collect()
}

/// Ranks the chunks of a library.
fn rank(state: &State, request: &SearchRequest, vector: Option<&(String, Vec<f32>)>, weight: Weight) -> Ranked {
    let mask = mask(state, &request.filter);
    let start = Instant::now();
    let expansion = Expansion::for_index(&state.index);
    let keyword = match request.mode {
        SearchMode::Semantic => Vec::new(),
        _ => state.index.search(&Query::new(&state.index, &request.query), CANDIDATES, mask.as_ref(), Some(expansion)),
    };
    let between = Instant::now();
    let (semantic, weight, model) = match (&state.model, &state.semantic) {
        _ if request.mode == SearchMode::Keyword => (Vec::new(), 0.0, LATENT),
        (Some(model), _) => {
            // The model may have been changed since the question's vector was computed.
            let vector = vector.filter(|(key, _)| *key == model.key);
            let found = vector.map(|(_, vector)| model.vectors.search(vector, CANDIDATES, mask.as_ref()));
            (found.unwrap_or_default(), weight.unwrap_or(MODEL_WEIGHT), model.key.as_str())
        }
        (None, Some(own)) => {
            let vector = own.latent.query(&state.index, &request.query);
            let weight = weight.unwrap_or_else(|| retrieval::latent_weight(&state.index));
            (own.vectors.search(&vector, CANDIDATES, mask.as_ref()), weight, LATENT)
        }
        (None, None) => (Vec::new(), 0.0, LATENT),
    };
    let weight = if request.mode == SearchMode::Hybrid { weight } else { 1.0 };
    let mut candidates = HashMap::<u32, Candidate>::new();
    for (rank, hit) in (1..).zip(&keyword) {
        candidates.entry(hit.slot).or_default().keyword = Some((rank, hit.score));
    }
    for (rank, hit) in (1..).zip(&semantic) {
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
        model: model.to_owned(),
        has_vectors: state.semantic.is_some() || state.model.is_some(),
        keyword: between - start,
        semantic: between.elapsed(),
    }
}

/// Brings the scores of several libraries to the same scale, each relative to the best one of all.
pub(super) struct Scale {
    best_keyword: f32,
    /// The lowest and the highest score by model.
    semantic: HashMap<String, (f32, f32)>,
}

impl Scale {
    pub(super) fn new(ranked: &[(String, Ranked)]) -> Self {
        let mut scale = Self { best_keyword: f32::EPSILON, semantic: HashMap::new() };
        for (_, Ranked { candidates, model, .. }) in ranked {
            for (_, _, candidate) in candidates {
                if let Some((_, score)) = candidate.keyword {
                    scale.best_keyword = scale.best_keyword.max(score);
                }
                if let Some((_, score)) = candidate.semantic {
                    let (least, most) = scale.semantic.entry(model.clone()).or_insert((score, score));
                    (*least, *most) = (least.min(score), most.max(score));
                }
            }
        }
        // The angles of vectors of a model are often all small, so that only differences say something. Those
        // of a library's own begin at a right angle.
        if let Some((least, _)) = scale.semantic.get_mut(LATENT) {
            *least = 0.0;
        }
        scale
    }

    /// Returns the score of a candidate, from 0 to 1.
    pub(super) fn score(&self, model: &str, candidate: &Candidate) -> f32 {
        let keyword = candidate.keyword.map_or(0.0, |(_, score)| score / self.best_keyword);
        let (least, most) = self.semantic.get(model).copied().unwrap_or_default();
        // Equal angles say nothing, and only some of those that have them are candidates.
        let range = most - least;
        let relative = |score: f32| if range > LEAST_RANGE { (score - least) / range } else { 0.0 };
        let semantic = candidate.semantic.map_or(0.0, |(_, score)| relative(score));
        candidate.weight.mul_add(semantic, keyword) / (1.0 + candidate.weight)
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
    fn scores_of_models_are_relative_to_their_range() {
        let candidate = |keyword: Option<f32>, semantic: Option<f32>| Candidate {
            keyword: keyword.map(|score| (1, score)),
            semantic: semantic.map(|score| (1, score)),
            weight: 1.0,
        };
        let ranked = |model: &str, all: &[Candidate]| {
            let candidates = all.iter().map(|one| (String::new(), 0, *one)).collect();
            let (model, none) = (model.to_owned(), Duration::ZERO);
            (String::new(), Ranked { candidates, model, has_vectors: true, keyword: none, semantic: none })
        };
        let all = [candidate(Some(4.0), Some(0.9)), candidate(Some(2.0), Some(0.8)), candidate(None, Some(0.85))];
        let check = |model: &str, expected: [f32; 3]| {
            let scale = Scale::new(&[ranked(model, &all)]);
            let scores = all.map(|one| (scale.score(model, &one) * 1_000.0).round() / 1_000.0);
            assert_eq!(scores, expected, "{model}");
        };
        check("m", [1.0, 0.25, 0.25]);
        check(LATENT, [1.0, 0.694, 0.472]);
    }

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
