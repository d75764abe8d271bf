//! A deterministic model that needs no key and no network, and understands a few plain requests.
//! Like every other model it sees only the request: its behavior depends on the messages and the
//! tools.

mod analysis;
mod answers;
mod extract;
mod follow_ups;
mod form;
mod graph;
mod intent;
mod memory;
mod plan;
mod question;
mod results;
mod showcase;
mod stream;
#[cfg(test)]
mod tests;
mod turn;

use contract::{Model, ModelError, ModelId, PartStream, Request};
use futures::StreamExt;
use futures::future::BoxFuture;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The default delay between two words.
const DEFAULT_DELAY: Duration = Duration::from_millis(22);

/// The demo model.
#[derive(Clone, Debug)]
pub struct Demo {
    id: ModelId,
    delay: Duration,
}

impl Demo {
    /// Creates a model with this name; `delay` is the pause between two words (default: 22 ms).
    pub fn new(model: impl Into<String>, delay: Option<Duration>) -> Self {
        Self { id: ModelId { provider: "demo".to_owned(), model: model.into() }, delay: delay.unwrap_or(DEFAULT_DELAY) }
    }
}

impl Model for Demo {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let delay = self.delay;
        Box::pin(async move {
            let actions = plan::plan(&request)?;
            let usage = stream::usage(&request, &actions);
            // Answers in a form are read as a whole.
            let most = request.sampling.max_output_tokens.filter(|_| request.response_format.is_none());
            Ok(stream::paced(stream::parts(actions, usage, most), delay, cancel).boxed())
        })
    }
}
