//! Connects the request and the codec over HTTP.

use super::{PROVIDER, betas, request, stream};
use crate::{ModelSettings, http};
use contract::{Model, ModelError, ModelId, PartStream, Request};
use futures::future::BoxFuture;
use reqwest::RequestBuilder;
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

const BASE_URL: &str = "https://api.anthropic.com/v1";
/// The version of the API.
const VERSION: &str = "2023-06-01";

/// A Claude model.
#[derive(Debug)]
pub struct Anthropic {
    id: ModelId,
    settings: ModelSettings,
}

impl Anthropic {
    /// Creates a model; without a base URL, Anthropic's is used.
    pub fn new(settings: ModelSettings) -> Self {
        Self { id: ModelId { provider: PROVIDER.to_owned(), model: settings.model.clone() }, settings }
    }

    fn post(&self, request: &Request) -> Result<RequestBuilder, ModelError> {
        let base = self.settings.base_url.as_deref().unwrap_or(BASE_URL).trim_end_matches('/');
        let mut ask = http::post(&self.settings, &format!("{base}/messages"))?.header("anthropic-version", VERSION);
        if let Some(key) = &self.settings.api_key {
            ask = ask.header("x-api-key", http::secret_header(key.expose_secret())?);
        }
        let body = request::body(&self.id.model, request);
        if let Some(betas) = betas::header(request, &body) {
            ask = ask.header("anthropic-beta", betas);
        }
        Ok(ask.json(&body))
    }
}

impl Model for Anthropic {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let write = |request: &Request| self.post(request);
        let codec = stream::MessagesCodec::default();
        Box::pin(async move { http::stream(write, &request, &self.settings, codec, cancel).await })
    }
}
