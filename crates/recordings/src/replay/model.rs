//! A model that replies from the recording.

use super::tape::{Tape, TapedReply};
use crate::record::neutral_request;
use contract::{Model, ModelError, ModelErrorKind, ModelId, Part, PartStream, Request};
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Replies from the recording, or asks the model.
pub(super) struct ReplayModel {
    pub(super) tape: Arc<Tape>,
    pub(super) agent: String,
    pub(super) inner: Arc<dyn Model>,
}

impl Model for ReplayModel {
    fn id(&self) -> &ModelId {
        self.inner.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let neutral = neutral_request(&self.tape.session, self.id(), &request);
        match self.tape.reply(&self.agent, &neutral) {
            Ok(Some(reply)) => Box::pin(std::future::ready(self.play(reply))),
            Ok(None) => self.inner.stream(request, cancel),
            Err(()) => {
                let error = ModelError::new(ModelErrorKind::Refused, "the request is not in the recording");
                Box::pin(std::future::ready(Err(error)))
            }
        }
    }
}

impl ReplayModel {
    fn play(&self, reply: TapedReply) -> Result<PartStream, ModelError> {
        let TapedReply { parts, error } = reply;
        let is_complete = matches!(parts.last(), Some(Part::Finish { .. }));
        let is_stopped = error.as_ref().is_none_or(|error| *error == ModelErrorKind::Cancelled.to_string());
        let error = match error {
            None if is_complete => None,
            // The user has stopped the run while the model wrote.
            _ if is_stopped && self.tape.was_stopped => {
                let (tape, parts) = (self.tape.clone(), stream::iter(parts.into_iter().map(Ok)));
                let stopped = stream::once(async move {
                    tape.stop.cancel();
                    Err(ModelError::new(ModelErrorKind::Cancelled, "stopped"))
                });
                return Ok(parts.chain(stopped).boxed());
            }
            Some(error) => Some(recorded_error(&error)),
            None => Some(recorded_error(&ModelErrorKind::Timeout.to_string())),
        };
        match error {
            Some(error) if parts.is_empty() => Err(error),
            error => Ok(stream::iter(parts.into_iter().map(Ok).chain(error.map(Err))).boxed()),
        }
    }
}

/// Returns the error with this text, without a wait before a retry.
fn recorded_error(text: &str) -> ModelError {
    use ModelErrorKind::{
        BrokenStream, Cancelled, CircuitOpen, ContextTooLong, RateLimited, Refused, Timeout, Unauthorized, Unavailable,
        Unreachable,
    };
    let kinds = [
        Unauthorized,
        RateLimited,
        Refused,
        ContextTooLong,
        Unavailable,
        Unreachable,
        Timeout,
        BrokenStream,
        CircuitOpen,
        Cancelled,
    ];
    let kind = kinds.into_iter().find(|kind| kind.to_string() == text).unwrap_or(Refused);
    ModelError { retry_after: Some(Duration::ZERO), ..ModelError::new(kind, "as recorded") }
}
