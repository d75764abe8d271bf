//! What a model promises.

use crate::{ModelError, Part, Request};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

/// The parts of one reply. A good stream ends with [`Part::Finish`]; an `Err` is the last item.
pub type PartStream = BoxStream<'static, Result<Part, ModelError>>;

/// A model that can be asked. One that does not answer in time, or is told to stop, must let go of its connection.
pub trait Model: Send + Sync + 'static {
    /// Which model it is.
    fn id(&self) -> &ModelId;

    /// Asks once, without retries of its own. Resolves when the provider has accepted the request (its headers are there).
    ///
    /// # Errors
    /// Whatever failed before the first part; [`ModelError::retryable`] says whether asking again may help.
    /// Cancelling ends the call and the stream with [`crate::ModelErrorKind::Cancelled`].
    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>>;
}

/// A model's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelId {
    /// The codec's provider name, the key of provider options and metadata: `anthropic`, `openai`, `google`, `demo`, …
    pub provider: String,
    /// The provider's name for the model.
    pub model: String,
}

impl std::fmt::Display for ModelId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}
