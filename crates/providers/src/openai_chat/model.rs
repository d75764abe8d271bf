//! Connects the request and the codec over HTTP.

use super::{PROVIDER, request, stream};
use crate::parallel::ParallelExpander;
use crate::{ModelSettings, http};
use contract::{Model, ModelError, ModelId, PartStream, Request};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

const BASE_URL: &str = "https://api.openai.com/v1";

/// A model behind the Chat Completions API of OpenAI or a gateway.
#[derive(Debug)]
pub struct OpenAiChat {
    id: ModelId,
    settings: ModelSettings,
}

impl OpenAiChat {
    /// Creates a model; without a base URL, OpenAI's is used.
    pub fn new(settings: ModelSettings) -> Self {
        Self { id: ModelId { provider: PROVIDER.to_owned(), model: settings.model.clone() }, settings }
    }
}

impl Model for OpenAiChat {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let write = |asked: &Request| {
            http::bearer_request(&self.settings, BASE_URL, "chat/completions", &request::body(&self.id.model, asked))
        };
        let codec = ParallelExpander::new(stream::ChatCodec::default(), &request.tools);
        Box::pin(async move { http::stream(write, &request, &self.settings, codec, cancel).await })
    }
}
