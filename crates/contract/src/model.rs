//! The trait of models.

use crate::{ModelError, Part, Request};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

/// The parts of one reply. A complete stream ends with [`Part::Finish`]; an `Err` is always the
/// last item.
pub type PartStream = BoxStream<'static, Result<Part, ModelError>>;

/// A language model. When a request times out or is cancelled, the implementation must close its
/// connection.
pub trait Model: Send + Sync + 'static {
    /// Returns the model's identity.
    fn id(&self) -> &ModelId;

    /// Sends one request, without retries. Resolves when the provider has accepted the request,
    /// that is, when its response headers have arrived.
    ///
    /// # Errors
    /// Any failure before the first part; [`ModelError::retryable`] says whether a retry may help.
    /// Cancelling ends the call and the stream with [`crate::ModelErrorKind::Cancelled`].
    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>>;
}

/// The identity of a model.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelId {
    /// The codec's provider name, which is also the key of provider options and metadata:
    /// `anthropic`, `openai`, `google`, `demo`, …
    pub provider: String,
    /// The provider's name for the model.
    pub model: String,
}

impl std::fmt::Display for ModelId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}
