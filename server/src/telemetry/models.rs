//! Metrics of model requests, measured for each attempt: retries and fallbacks count separately.

use super::metrics::MODELS;
use contract::{Model, ModelError, ModelErrorKind, ModelId, Part, PartStream, Request};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use metrics::{counter, histogram};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Wraps a model so that its requests are measured.
pub(crate) fn measured(model: Arc<dyn Model>) -> Arc<dyn Model> {
    Arc::new(MeasuredModel(model))
}

struct MeasuredModel(Arc<dyn Model>);

impl Model for MeasuredModel {
    fn id(&self) -> &ModelId {
        self.0.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let mut asked = MeasuredRequest::new(self.id());
        async move {
            let parts = self.0.stream(request, cancel).await.inspect_err(|error| asked.record_error(error))?;
            Ok(parts.inspect(move |part| asked.observe(part)).boxed())
        }
        .boxed()
    }
}

/// A measured request; it is counted when its reply is dropped.
struct MeasuredRequest {
    provider: String,
    model: String,
    at: Instant,
    has_begun: bool,
    outcome: &'static str,
}

impl MeasuredRequest {
    fn new(id: &ModelId) -> Self {
        let (provider, model) = (MODELS.bounded(&id.provider), MODELS.bounded(&id.model));
        Self { provider, model, at: Instant::now(), has_begun: false, outcome: "cancelled" }
    }

    fn observe(&mut self, part: &Result<Part, ModelError>) {
        if !self.has_begun && !matches!(part, Ok(Part::Alive)) {
            self.has_begun = true;
            self.record_time("chatwright_model_first_part_seconds");
        }
        match part {
            Ok(Part::Finish { .. }) => self.outcome = "ok",
            Ok(_) => {}
            Err(error) => self.record_error(error),
        }
    }

    fn record_error(&mut self, error: &ModelError) {
        self.outcome = outcome_name(error.kind);
    }

    fn record_time(&self, name: &'static str) {
        let (provider, model) = (self.provider.clone(), self.model.clone());
        histogram!(name, "provider" => provider, "model" => model).record(self.at.elapsed());
    }
}

impl Drop for MeasuredRequest {
    fn drop(&mut self) {
        self.record_time("chatwright_model_seconds");
        let (provider, model) = (self.provider.clone(), self.model.clone());
        let labels = [("provider", provider), ("model", model), ("outcome", self.outcome.to_owned())];
        counter!("chatwright_model_requests_total", &labels).increment(1);
    }
}

fn outcome_name(kind: ModelErrorKind) -> &'static str {
    match kind {
        ModelErrorKind::Unauthorized => "unauthorized",
        ModelErrorKind::RateLimited => "rate_limited",
        ModelErrorKind::Refused => "refused",
        ModelErrorKind::ContextTooLong => "context_too_long",
        ModelErrorKind::Unavailable => "unavailable",
        ModelErrorKind::Unreachable => "unreachable",
        ModelErrorKind::Timeout => "timeout",
        ModelErrorKind::BrokenStream => "broken_stream",
        ModelErrorKind::CircuitOpen => "circuit_open",
        ModelErrorKind::Cancelled => "cancelled",
    }
}
