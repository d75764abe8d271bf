//! The order of passages by an API in the form of `/rerank`.

use super::api::{Api, ApiSettings};
use super::connection::Rerank;
use contract::ModelId;
use egress::ServiceFailure;
use metrics::counter;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// The largest answer in bytes. Some services repeat the texts.
const MAX_ANSWER: usize = 4 << 20;

/// A model that orders passages.
pub(crate) struct Reranker {
    settings: Rerank,
    api: Api,
    /// The number of the best passages that are reranked.
    pub(crate) candidates: usize,
}

impl Reranker {
    /// # Errors
    /// A message for the operator.
    pub(super) fn new(settings: Rerank, candidates: u32) -> Result<Self, String> {
        let api = Api::new(&ApiSettings {
            url: &settings.url,
            path: "rerank",
            api_key: settings.api_key.as_ref(),
            allow_private: settings.allow_private,
            timeout: Duration::from_millis(settings.timeout_ms),
            max_bytes: MAX_ANSWER,
        })?;
        Ok(Self { settings, api, candidates: usize::try_from(candidates).unwrap_or_default() })
    }

    /// Returns the model, and what a request costs.
    pub(crate) fn bill(&self) -> (ModelId, Option<f64>) {
        let id = ModelId { provider: "rerank".to_owned(), model: self.settings.model.clone() };
        (id, self.settings.cost_usd)
    }

    /// Returns the positions of the passages with their scores, best first. It is asked once: somebody
    /// waits.
    pub(crate) async fn order(&self, query: &str, passages: &[String]) -> Result<Vec<(usize, f32)>, ServiceFailure> {
        let body = json!({
            "model": self.settings.model,
            "query": query,
            "documents": passages,
            "top_n": passages.len(),
            "return_documents": false,
        });
        let ordered = self.api.post(&body, 1, |answer| read(answer, passages.len())).await;
        let outcome = if ordered.is_ok() { "ok" } else { "failed" };
        counter!("chatwright_rerank_requests_total", "outcome" => outcome).increment(1);
        ordered
    }
}

#[derive(Deserialize)]
struct Body {
    results: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    relevance_score: f32,
}

/// Reads an answer about `count` passages; `None` if it names others, or one twice.
pub(super) fn read(body: &[u8], count: usize) -> Option<Vec<(usize, f32)>> {
    let Body { results } = serde_json::from_slice(body).ok()?;
    let mut seen = vec![false; count];
    for Item { index, relevance_score } in &results {
        let seen = seen.get_mut(*index)?;
        if std::mem::replace(seen, true) || !relevance_score.is_finite() {
            return None;
        }
    }
    let mut ordered: Vec<_> = results.into_iter().map(|item| (item.index, item.relevance_score)).collect();
    ordered.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    Some(ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_best_first() {
        let check = |body: &str, expected: Option<&[(usize, f32)]>| {
            assert_eq!(read(body.as_bytes(), 3).as_deref(), expected, "{body}");
        };
        let good = r#"{"id":"x","results":[{"index":2,"relevance_score":0.1},{"index":0,"relevance_score":0.9,"document":{"text":"t"}}]}"#;
        check(good, Some(&[(0, 0.9), (2, 0.1)]));
        check(r#"{"results":[]}"#, Some(&[]));
        check(r#"{"results":[{"index":3,"relevance_score":1}]}"#, None);
        check(r#"{"results":[{"index":1,"relevance_score":1},{"index":1,"relevance_score":2}]}"#, None);
        check("[]", None);
    }
}
