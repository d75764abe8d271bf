//! A model that needs no key and no network: deterministic, it understands a handful of requests in plain words. It is a model
//! like every other and sees nothing but the request: what it does follows from the words and the tools on offer.

mod answers;
mod form;
mod plan;
mod question;
mod results;
mod stream;
#[cfg(test)]
mod tests;
mod words;

use contract::{Model, ModelError, ModelId, PartStream, Request};
use futures::StreamExt;
use futures::future::BoxFuture;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Between two words, unless the config says otherwise.
const DELAY: Duration = Duration::from_millis(22);

/// The demo's model.
#[derive(Clone, Debug)]
pub struct Demo {
    id: ModelId,
    delay: Duration,
}

impl Demo {
    /// A model under this name that pauses between two words, 22 ms unless told otherwise.
    pub fn new(model: impl Into<String>, delay: Option<Duration>) -> Self {
        Self { id: ModelId { provider: "demo".to_owned(), model: model.into() }, delay: delay.unwrap_or(DELAY) }
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
            Ok(stream::paced(stream::parts(actions, usage), delay, cancel).boxed())
        })
    }
}
