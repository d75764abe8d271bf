//! The types of connections to services that compute vectors and that order passages.

use config::{ConnectionProperties, PathStep, SecretText, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;

/// A service that computes vectors of texts, with the API that OpenAI, vLLM, Ollama, Mistral, Jina and
/// others have: `POST /embeddings` below the URL.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Embeddings {
    /// The base URL.
    #[serde(default = "Embeddings::default_url")]
    pub(crate) url: String,
    /// The key, best as `{ _secret: NAME_OF_A_VARIABLE }`. Without it, none is sent.
    #[serde(default)]
    pub(crate) api_key: Option<SecretText>,
    /// The model.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) model: String,
    /// The length of the vectors, for models that can shorten them. Default: that of the model.
    #[serde(default)]
    #[schemars(range(min = 8, max = 4_096))]
    pub(crate) dimensions: Option<u32>,
    /// The prefix of each passage, for models that need one, such as `passage: `.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub(crate) document_prefix: String,
    /// The prefix of each question, such as `query: `.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub(crate) query_prefix: String,
    /// The maximum number of texts of a request.
    #[serde(default = "default_batch")]
    #[schemars(range(min = 1, max = 512))]
    pub(crate) batch_size: u32,
    /// The maximum number of open requests for documents. Questions do not wait for them.
    #[serde(default = "default_parallel")]
    #[schemars(range(min = 1, max = 16))]
    pub(crate) parallel: u32,
    /// The price of a million tokens, in US dollars. Without it, tokens are counted, but no costs.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000))]
    pub(crate) cost_usd_per_million_tokens: Option<f64>,
    /// The timeout of one request in milliseconds.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 100, max = 300_000))]
    pub(crate) timeout_ms: u64,
    /// Allows an address of this machine or a private network.
    #[serde(default)]
    pub(crate) allow_private: bool,
}

/// A service that orders passages by how well they answer a question, with the API that Cohere, Jina and
/// vLLM have: `POST /rerank` below the URL.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Rerank {
    /// The base URL, such as `https://api.cohere.com/v2` or `https://api.jina.ai/v1`.
    pub(crate) url: String,
    /// The key, best as `{ _secret: NAME_OF_A_VARIABLE }`. Without it, none is sent.
    #[serde(default)]
    pub(crate) api_key: Option<SecretText>,
    /// The model.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) model: String,
    /// The price of a request, in US dollars. Without it, costs are not counted.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100))]
    pub(crate) cost_usd: Option<f64>,
    /// The time limit of reranking, in milliseconds. After that, results are in the order of the search.
    #[serde(default = "default_patience")]
    #[schemars(range(min = 50, max = 30_000))]
    pub(crate) timeout_ms: u64,
    /// Allows an address of this machine or a private network.
    #[serde(default)]
    pub(crate) allow_private: bool,
}

impl Embeddings {
    fn default_url() -> String {
        "https://api.openai.com/v1".to_owned()
    }
}

fn default_batch() -> u32 {
    64
}

fn default_parallel() -> u32 {
    2
}

fn default_timeout() -> u64 {
    30_000
}

fn default_patience() -> u64 {
    2_000
}

impl ConnectionProperties for Embeddings {
    const TYPE: &'static str = "Embeddings";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let words = ("texts", "https://api.example.com/v1");
        problems.check_base_url(&[PathStep::Key("url")], &self.url, self.allow_private, words);
    }
}

impl ConnectionProperties for Rerank {
    const TYPE: &'static str = "Rerank";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let words = ("texts", "https://api.example.com/v1");
        problems.check_base_url(&[PathStep::Key("url")], &self.url, self.allow_private, words);
    }
}
