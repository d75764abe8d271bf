//! The two halves joined over HTTP.

use super::{PROVIDER, request, stream};
use crate::{Settings, http};
use contract::{Model, ModelError, ModelId, PartStream, Request};
use futures::future::BoxFuture;
use reqwest::RequestBuilder;
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

const BASE_URL: &str = "https://api.openai.com/v1";

/// A model behind the Responses API.
#[derive(Debug)]
pub struct OpenAiResponses {
    id: ModelId,
    settings: Settings,
}

impl OpenAiResponses {
    /// A model behind these settings; without a base URL, OpenAI's own.
    pub fn new(settings: Settings) -> Self {
        Self { id: ModelId { provider: PROVIDER.to_owned(), model: settings.model.clone() }, settings }
    }

    fn post(&self, request: &Request) -> Result<RequestBuilder, ModelError> {
        let base = self.settings.base_url.as_deref().unwrap_or(BASE_URL).trim_end_matches('/');
        let mut ask = http::client()?.post(format!("{base}/responses"));
        if let Some(key) = &self.settings.api_key {
            ask = ask.header("authorization", http::secret_header(&format!("Bearer {}", key.expose_secret()))?);
        }
        Ok(ask.json(&request::body(&self.id.model, request)))
    }
}

impl Model for OpenAiResponses {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let write = |request: &Request| self.post(request);
        Box::pin(async move { http::stream::<stream::Reader>(write, &request, &self.settings, cancel).await })
    }
}
