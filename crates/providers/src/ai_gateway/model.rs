//! The codec of Chat Completions with the gateway's address and options.

use super::{PROVIDER, request};
use crate::parallel::Expanding;
use crate::{Settings, http, openai_chat};
use contract::{Model, ModelError, ModelId, PartStream, Request};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

const BASE_URL: &str = "https://ai-gateway.vercel.sh/v1";

/// A model behind the gateway.
#[derive(Debug)]
pub struct AiGateway {
    id: ModelId,
    settings: Settings,
}

impl AiGateway {
    /// A model behind these settings; without a base URL, Vercel's own.
    pub fn new(settings: Settings) -> Self {
        Self { id: ModelId { provider: PROVIDER.to_owned(), model: settings.model.clone() }, settings }
    }
}

impl Model for AiGateway {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let write = |asked: &Request| {
            http::post(&self.settings, BASE_URL, "chat/completions", &request::body(&self.id.model, asked))
        };
        let codec = Expanding::new(openai_chat::stream::Reader::default(), &request.tools);
        Box::pin(async move { http::stream(write, &request, &self.settings, codec, cancel).await })
    }
}
