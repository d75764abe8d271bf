//! Requests to models, measured where they leave: what asks again or asks another model counts each time.

use super::metrics::MODELS;
use contract::{Model, ModelError, ModelErrorKind, ModelId, Part, PartStream, Request};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use metrics::{counter, histogram};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// The same model, measured.
pub(crate) fn measured(model: Arc<dyn Model>) -> Arc<dyn Model> {
    Arc::new(Measured(model))
}

struct Measured(Arc<dyn Model>);

impl Model for Measured {
    fn id(&self) -> &ModelId {
        self.0.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let mut asked = Asked::new(self.id());
        async move {
            let parts = self.0.stream(request, cancel).await.inspect_err(|error| asked.fails(error))?;
            Ok(parts.inspect(move |part| asked.sees(part)).boxed())
        }
        .boxed()
    }
}

/// A request; counted when nobody reads its reply any more.
struct Asked {
    provider: String,
    model: String,
    at: Instant,
    has_begun: bool,
    outcome: &'static str,
}

impl Asked {
    fn new(id: &ModelId) -> Self {
        let (provider, model) = (MODELS.of(&id.provider), MODELS.of(&id.model));
        Self { provider, model, at: Instant::now(), has_begun: false, outcome: "cancelled" }
    }

    fn sees(&mut self, part: &Result<Part, ModelError>) {
        if !self.has_begun && !matches!(part, Ok(Part::Alive)) {
            self.has_begun = true;
            self.time("chatwright_model_first_part_seconds");
        }
        match part {
            Ok(Part::Finish { .. }) => self.outcome = "ok",
            Ok(_) => {}
            Err(error) => self.fails(error),
        }
    }

    fn fails(&mut self, error: &ModelError) {
        self.outcome = name(error.kind);
    }

    fn time(&self, name: &'static str) {
        let (provider, model) = (self.provider.clone(), self.model.clone());
        histogram!(name, "provider" => provider, "model" => model).record(self.at.elapsed());
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.time("chatwright_model_seconds");
        let (provider, model) = (self.provider.clone(), self.model.clone());
        let labels = [("provider", provider), ("model", model), ("outcome", self.outcome.to_owned())];
        counter!("chatwright_model_requests_total", &labels).increment(1);
    }
}

fn name(kind: ModelErrorKind) -> &'static str {
    match kind {
        ModelErrorKind::Unauthorized => "unauthorized",
        ModelErrorKind::RateLimited => "rate_limited",
        ModelErrorKind::Refused => "refused",
        ModelErrorKind::Unavailable => "unavailable",
        ModelErrorKind::Unreachable => "unreachable",
        ModelErrorKind::Timeout => "timeout",
        ModelErrorKind::BrokenStream => "broken_stream",
        ModelErrorKind::CircuitOpen => "circuit_open",
        ModelErrorKind::Cancelled => "cancelled",
    }
}
