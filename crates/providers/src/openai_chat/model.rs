//! The two halves joined over HTTP.

use super::{PROVIDER, request, stream};
use crate::parallel::Expanding;
use crate::{Settings, http};
use contract::{Model, ModelError, ModelId, PartStream, Request};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

const BASE_URL: &str = "https://api.openai.com/v1";

/// A model behind a gateway that speaks Chat Completions.
#[derive(Debug)]
pub struct OpenAiChat {
    id: ModelId,
    settings: Settings,
}

impl OpenAiChat {
    /// A model behind these settings; without a base URL, OpenAI's own.
    pub fn new(settings: Settings) -> Self {
        Self { id: ModelId { provider: PROVIDER.to_owned(), model: settings.model.clone() }, settings }
    }
}

impl Model for OpenAiChat {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let write = |asked: &Request| {
            http::post(&self.settings, BASE_URL, "chat/completions", &request::body(&self.id.model, asked))
        };
        let codec = Expanding::new(stream::Reader::default(), &request.tools);
        Box::pin(async move { http::stream(write, &request, &self.settings, codec, cancel).await })
    }
}
