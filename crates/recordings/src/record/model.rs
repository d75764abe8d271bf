//! A model that records its requests and replies.

use super::session::millis_since;
use super::{Session, neutral_request};
use crate::format::{Entry, masked_parts};
use contract::{Model, ModelError, ModelId, Part, PartStream, Price, Request};
use futures::future::BoxFuture;
use futures::{Stream, StreamExt};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Records the requests to a model and its replies.
pub(super) struct RecordingModel {
    pub(super) session: Arc<Session>,
    pub(super) agent: String,
    pub(super) inner: Arc<dyn Model>,
    pub(super) price: Option<Price>,
}

impl Model for RecordingModel {
    fn id(&self) -> &ModelId {
        self.inner.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        let neutral = neutral_request(&self.session, self.id(), &request);
        let agent = self.agent.clone();
        let id = self.session.push_request(|id| Entry::Request { id, agent, request: neutral });
        let mut reply = RecordedReply {
            session: self.session.clone(),
            id,
            price: self.price,
            parts: Vec::new(),
            error: None,
            asked: Instant::now(),
            first_part_ms: None,
        };
        Box::pin(async move {
            match self.inner.stream(request, cancel).await {
                Ok(inner) => Ok(RecordedStream { inner, reply }.boxed()),
                Err(error) => {
                    reply.error = Some(error.kind.to_string());
                    drop(reply);
                    Err(error)
                }
            }
        })
    }
}

/// The reply so far. It is recorded when it is dropped: at its end, or when the run stops reading.
struct RecordedReply {
    session: Arc<Session>,
    id: u32,
    price: Option<Price>,
    parts: Vec<Part>,
    error: Option<String>,
    asked: Instant,
    first_part_ms: Option<u64>,
}

impl Drop for RecordedReply {
    fn drop(&mut self) {
        let parts = masked_parts(std::mem::take(&mut self.parts));
        let usage = parts.iter().find_map(|part| match part {
            Part::Finish { usage, .. } => Some(*usage),
            _ => None,
        });
        let whole_ms = millis_since(self.asked);
        self.session.push(Entry::Reply {
            id: self.id,
            parts,
            error: self.error.take(),
            raw: None,
            cost_usd: self.price.zip(usage).map(|(price, usage)| price.cost(usage)),
            first_part_ms: self.first_part_ms.unwrap_or(whole_ms),
            whole_ms,
        });
    }
}

struct RecordedStream {
    inner: PartStream,
    reply: RecordedReply,
}

impl Stream for RecordedStream {
    type Item = Result<Part, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = std::task::ready!(self.inner.poll_next_unpin(context));
        match &next {
            Some(Ok(Part::Alive)) | None => {}
            Some(Ok(part)) => {
                let asked = self.reply.asked;
                self.reply.first_part_ms.get_or_insert_with(|| millis_since(asked));
                self.reply.parts.push(part.clone());
            }
            Some(Err(error)) => self.reply.error = Some(error.kind.to_string()),
        }
        Poll::Ready(next)
    }
}
