//! Vectors by an API in the form of `/v1/embeddings`.

use super::api::{Api, ApiSettings};
use super::connection::Embeddings;
use super::{Embedded, Embedder, EmbeddingFailure, Purpose, model_key};
use contract::{ModelId, Usage, estimated_tokens};
use egress::{EgressError, ServiceFailure};
use futures::future::{BoxFuture, try_join_all};
use metrics::counter;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The largest answer in bytes: 512 vectors of 4,096 numbers with 12 characters each have less.
const MAX_ANSWER: usize = 32 << 20;
/// The longest vector.
const MAX_DIMENSIONS: usize = 4_096;
/// The number of attempts of a request for documents. A request for a question has one attempt, since a user
/// waits for it.
const ATTEMPTS: u32 = 4;
/// The maximum time for which a search waits for the vector of its question.
const PATIENCE: Duration = Duration::from_secs(5);

/// A model behind an API.
pub(super) struct ApiEmbedder {
    key: String,
    settings: Embeddings,
    api: Api,
    /// One permit for each open request for documents.
    open: Semaphore,
}

impl ApiEmbedder {
    /// # Errors
    /// A message for the operator.
    pub(super) fn new(settings: Embeddings) -> Result<Self, String> {
        let api = Api::new(&ApiSettings {
            url: &settings.url,
            path: "embeddings",
            api_key: settings.api_key.as_ref(),
            allow_private: settings.allow_private,
            timeout: Duration::from_millis(settings.timeout_ms),
            max_bytes: MAX_ANSWER,
        })?;
        let dimensions = settings.dimensions.map(|dimensions| dimensions.to_string()).unwrap_or_default();
        let differences = [dimensions.as_str(), settings.document_prefix.as_str()];
        let is_plain = differences.iter().all(|text| text.is_empty());
        let key = model_key(&settings.model, if is_plain { &[] } else { &differences });
        let open = Semaphore::new(usize::try_from(settings.parallel).unwrap_or(1).max(1));
        Ok(Self { key, settings, api, open })
    }

    async fn request(&self, texts: &[String], prefix: &str, attempts: u32) -> Result<Answer, ServiceFailure> {
        let input: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let mut body = json!({ "model": self.settings.model, "input": input });
        if let Some(dimensions) = self.settings.dimensions {
            body["dimensions"] = dimensions.into();
        }
        let answer = self.api.post(&body, attempts, |answer| read(answer, texts.len())).await;
        let outcome = if answer.is_ok() { "ok" } else { "failed" };
        counter!("chatwright_embedding_requests_total", "outcome" => outcome).increment(1);
        let mut answer = answer?;
        if answer.tokens == 0 {
            answer.tokens = estimated_tokens(input.iter().map(String::len).sum());
        }
        counter!("chatwright_embedding_tokens_total").increment(answer.tokens);
        Ok(answer)
    }

    async fn documents(&self, texts: &[String]) -> Result<Vec<Answer>, ServiceFailure> {
        let size = usize::try_from(self.settings.batch_size).unwrap_or(1).max(1);
        let batches = texts.chunks(size).map(|texts| async move {
            let _permit = self.open.acquire().await;
            self.request(texts, &self.settings.document_prefix, ATTEMPTS).await
        });
        try_join_all(batches).await
    }

    async fn query(&self, texts: &[String]) -> Result<Vec<Answer>, ServiceFailure> {
        let request = self.request(texts, &self.settings.query_prefix, 1);
        let in_time = tokio::time::timeout(PATIENCE, request).await;
        let answer = in_time.unwrap_or(Err(ServiceFailure::Egress(EgressError::TimedOut(PATIENCE))));
        Ok(vec![answer?])
    }
}

impl Embedder for ApiEmbedder {
    fn key(&self) -> &str {
        &self.key
    }

    fn round(&self) -> usize {
        usize::try_from(self.settings.batch_size * self.settings.parallel).unwrap_or(1).max(1)
    }

    fn bill(&self) -> Option<(ModelId, bool)> {
        let id = ModelId { provider: "embeddings".to_owned(), model: self.settings.model.clone() };
        Some((id, self.settings.cost_usd_per_million_tokens.is_some()))
    }

    fn embed<'a>(&'a self, texts: &'a [String], purpose: Purpose) -> BoxFuture<'a, Result<Embedded, EmbeddingFailure>> {
        Box::pin(async move {
            let answers = match purpose {
                Purpose::Document => self.documents(texts).await,
                Purpose::Query => self.query(texts).await,
            };
            let answers = answers.map_err(EmbeddingFailure::Api)?;
            let tokens: u64 = answers.iter().map(|answer| answer.tokens).sum();
            let price = self.settings.cost_usd_per_million_tokens;
            let vectors: Vec<Vec<f32>> = answers.into_iter().flat_map(|answer| answer.vectors).collect();
            let length = vectors.first().map_or(0, Vec::len);
            if vectors.iter().any(|vector| vector.len() != length) {
                return Err(EmbeddingFailure::Api(ServiceFailure::Malformed));
            }
            Ok(Embedded {
                vectors,
                usage: Usage { input_tokens: tokens, ..Usage::default() },
                cost_usd: price.map(|price| price * tokens as f64 / 1e6),
            })
        })
    }
}

/// The vectors of a request in the order of its texts.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    vectors: Vec<Vec<f32>>,
    /// 0 if the answer does not say it.
    tokens: u64,
}

#[derive(Deserialize)]
struct Body {
    data: Vec<Item>,
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    total_tokens: u64,
}

/// Reads an answer with `count` vectors of one length; `None` if it is something else.
pub(super) fn read(body: &[u8], count: usize) -> Option<Answer> {
    let Body { data, usage } = serde_json::from_slice(body).ok()?;
    let mut vectors = vec![Vec::new(); count];
    for (place, Item { index, embedding }) in data.into_iter().enumerate() {
        *vectors.get_mut(index.unwrap_or(place))? = embedding;
    }
    let length = vectors.first()?.len();
    let is_valid = |vector: &Vec<f32>| vector.len() == length && vector.iter().all(|number| number.is_finite());
    if !(1..=MAX_DIMENSIONS).contains(&length) || !vectors.iter().all(is_valid) {
        return None;
    }
    let tokens = usage.map_or(0, |usage| usage.prompt_tokens.max(usage.total_tokens));
    Some(Answer { vectors, tokens })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_in_the_order_of_the_texts() {
        let check = |body: &str, count, expected: Option<(&[&[f32]], u64)>| {
            let expected = expected.map(|(vectors, tokens)| Answer {
                vectors: vectors.iter().map(|vector| vector.to_vec()).collect(),
                tokens,
            });
            assert_eq!(read(body.as_bytes(), count), expected, "{body}");
        };
        let two = r#"{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":7,"total_tokens":7}}"#;
        check(two, 2, Some((&[&[1.0, 2.0], &[3.0, 4.0]], 7)));
        check(r#"{"data":[{"embedding":[1]}]}"#, 1, Some((&[&[1.0]], 0)));
        check(two, 1, None);
        check(two, 3, None);
        check(r#"{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]}"#, 2, None);
        check(r#"{"data":[{"index":0,"embedding":[]}]}"#, 1, None);
        check(r#"{"data":[{"index":0,"embedding":[1e99]}]}"#, 1, None);
        check(r#"{"error":"no"}"#, 1, None);
        check("", 1, None);
    }
}
