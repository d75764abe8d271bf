//! Models for searches: those that compute vectors, and one that orders passages.

mod api;
mod connection;
mod embeddings;
#[cfg(feature = "static-embeddings")]
mod folder;
mod rerank;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub(crate) use connection::{Embeddings, Rerank};
pub(crate) use rerank::Reranker;

use crate::section::{EmbeddingSource, KnowledgeSettings};
use config::Config;
use contract::{ModelId, ModelUse, ReplyUsage, Usage};
use egress::ServiceFailure;
use embeddings::ApiEmbedder;
use futures::future::BoxFuture;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Instant;

/// Whether this program can use a folder of static embeddings.
pub(crate) const HAS_FOLDERS: bool = cfg!(feature = "static-embeddings");

/// The purpose of a text: some models embed passages and questions differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Document,
    Query,
}

/// Why there are no vectors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EmbeddingFailure {
    #[error("the embeddings service cannot be used: {0}")]
    Api(ServiceFailure),
    #[cfg_attr(not(feature = "static-embeddings"), expect(dead_code, reason = "only folders have models to read"))]
    #[error("the folder of static embeddings cannot be used: {0}")]
    Model(String),
    /// The user may use no more models.
    #[error("{0}")]
    Refused(String),
}

/// The vectors of texts, in their order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Embedded {
    pub(crate) vectors: Vec<Vec<f32>>,
    pub(crate) usage: Usage,
    /// The cost in US dollars, if the price is known.
    pub(crate) cost_usd: Option<f64>,
}

/// A model that computes vectors.
pub(crate) trait Embedder: Send + Sync + 'static {
    /// Returns what stands with each vector: the name of the model and, after `#`, what else its vectors
    /// depend on. Vectors with different keys cannot be compared.
    fn key(&self) -> &str;

    /// Returns how many texts are best given at once.
    fn round(&self) -> usize;

    /// Returns the model for the usage, and whether its price is known; `None` if it runs in this process.
    fn bill(&self) -> Option<(ModelId, bool)>;

    /// Computes the vectors of texts.
    fn embed<'a>(&'a self, texts: &'a [String], purpose: Purpose) -> BoxFuture<'a, Result<Embedded, EmbeddingFailure>>;
}

/// Returns the key of a model with this name, whose vectors depend on these settings, too.
fn model_key(name: &str, settings: &[&str]) -> String {
    if settings.is_empty() {
        return name.to_owned();
    }
    let hash = Sha256::digest(settings.join("\u{0}"));
    let hash: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{name}#{hash}")
}

/// Returns the name of a model by its key.
pub(crate) fn model_name(key: &str) -> &str {
    key.rsplit_once('#').map_or(key, |(name, _)| name)
}

/// The models of a config.
#[derive(Clone, Default)]
pub(crate) struct Models {
    /// The one whose vectors all libraries get.
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    /// The one before, for libraries that do not have the new vectors yet.
    pub(crate) previous: Option<Arc<dyn Embedder>>,
    pub(crate) reranker: Option<Arc<Reranker>>,
}

impl Models {
    /// Creates the models of a config. `before` are those in use: without another one in the config, their
    /// model becomes the previous one.
    pub(crate) fn new(config: &Config, settings: &KnowledgeSettings, before: &Self) -> Self {
        let read = |source: &Option<EmbeddingSource>| {
            let embedder = embedder(config, source.as_ref()?);
            embedder.inspect_err(|error| tracing::error!(error, "`knowledge`: the embeddings cannot be used")).ok()
        };
        let embedder = read(&settings.embedding);
        let is_other = |one: &&Arc<dyn Embedder>| embedder.as_ref().is_some_and(|new| new.key() != one.key());
        let kept = || before.embedder.as_ref().filter(is_other).or(before.previous.as_ref().filter(is_other)).cloned();
        let previous = read(&settings.previous_embedding).or_else(kept);
        let reranker = settings.reranking.as_ref().and_then(|reranking| {
            let connection = config.connections.get(&reranking.connection_id)?.properties::<Rerank>()?;
            let reranker = Reranker::new(connection.clone(), reranking.candidates);
            reranker.inspect_err(|error| tracing::error!(error, "`knowledge.reranking` cannot be used")).ok()
        });
        Self { embedder, previous, reranker: reranker.map(Arc::new) }
    }

    /// Returns the model with this key.
    pub(crate) fn with_key(&self, key: &str) -> Option<&Arc<dyn Embedder>> {
        [&self.embedder, &self.previous].into_iter().flatten().find(|embedder| embedder.key() == key)
    }
}

fn embedder(config: &Config, source: &EmbeddingSource) -> Result<Arc<dyn Embedder>, String> {
    if let Some(id) = &source.connection_id {
        let connection = config.connections.get(id).and_then(|connection| connection.properties::<Embeddings>());
        let connection = connection.ok_or_else(|| format!("`{id}` is not a connection of the type Embeddings"))?;
        return Ok(Arc::new(ApiEmbedder::new(connection.clone())?));
    }
    let folder = source.folder.as_ref().ok_or("neither `connectionId` nor `folder` is set")?;
    let folder = config.folder.clone().unwrap_or_default().join(&folder.0);
    #[cfg(feature = "static-embeddings")]
    return Ok(Arc::new(folder::FolderEmbedder::new(folder)?));
    #[cfg(not(feature = "static-embeddings"))]
    Err(format!("this program cannot read {}: it was built without `static-embeddings`", folder.display()))
}

/// Computes the vector of a question, as part of the usage of whoever searches.
pub(crate) async fn embed_query(
    embedder: &dyn Embedder,
    query: &str,
    models: &ModelUse,
) -> Result<Vec<f32>, EmbeddingFailure> {
    let bill = embedder.bill();
    if let Some((id, is_priced)) = &bill {
        models.admit(id, *is_priced).await.map_err(EmbeddingFailure::Refused)?;
    }
    let begun = Instant::now();
    let embedded = embedder.embed(&[query.to_owned()], Purpose::Query).await?;
    if let Some((id, _)) = bill {
        models.record_reply(ReplyUsage::of_request(id, embedded.usage, embedded.cost_usd, begun.elapsed())).await;
    }
    embedded.vectors.into_iter().next().ok_or(EmbeddingFailure::Api(ServiceFailure::Malformed))
}

/// Reads answers as the clients do; for fuzzing.
#[cfg(any(test, feature = "fuzz"))]
#[cfg_attr(not(feature = "fuzz"), expect(unreachable_pub, reason = "only fuzz targets reach it"))]
pub fn fuzz_answer(body: &[u8]) {
    for count in 1..4 {
        let _ = embeddings::read(body, count);
        if let Some(order) = rerank::read(body, count) {
            assert!(order.iter().all(|(index, _)| *index < count));
        }
    }
}
