//! Connects the Chat Completions codec to the gateway's URL and options.

use super::{PROVIDER, request};
use crate::parallel::ParallelExpander;
use crate::{ModelSettings, http, openai_chat};
use contract::{Model, ModelError, ModelId, PartStream, Request};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

const BASE_URL: &str = "https://ai-gateway.vercel.sh/v1";

/// A model behind the AI Gateway.
#[derive(Debug)]
pub struct AiGateway {
    id: ModelId,
    settings: ModelSettings,
}

impl AiGateway {
    /// Creates a model; without a base URL, Vercel's is used.
    pub fn new(settings: ModelSettings) -> Self {
        Self { id: ModelId { provider: PROVIDER.to_owned(), model: settings.model.clone() }, settings }
    }
}

impl Model for AiGateway {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let write = |asked: &Request| {
            http::bearer_request(&self.settings, BASE_URL, "chat/completions", &request::body(&self.id.model, asked))
        };
        let codec = ParallelExpander::new(openai_chat::stream::ChatCodec::default(), &request.tools);
        Box::pin(async move { http::stream(write, &request, &self.settings, codec, cancel).await })
    }
}
