//! Drives a run for its client: reads the chunks, sends what becomes of them, and stores the end. It is a
//! task of its own, so that the end is stored although the client has gone.

use crate::answer::turn::{Ended, Output, Turn};
use crate::error::ApiError;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chat::Frames;
use futures::StreamExt;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use web::EventStream;
use web::openapi::{Description, RouteOutput};

/// The most frames that wait for a slow client. The run goes on beyond them until its own bound.
const MAX_WAITING: usize = 256;

/// Writes the response of a run.
pub(super) trait Writer: Send + 'static {
    /// The response as one object.
    type Object: Send + 'static;

    /// Returns the first frames.
    fn begin(&mut self) -> Vec<Bytes>;

    /// Returns the frames of what the run writes.
    fn write(&mut self, output: Output) -> Vec<Bytes>;

    /// Ends the response, and stores it. Returns the last frames.
    fn end(self, ended: Ended) -> impl Future<Output = (Vec<Bytes>, Result<Self::Object, ApiError>)> + Send;
}

/// A run whose response is to be written.
pub(super) struct Driven<W> {
    pub(super) frames: Frames,
    pub(super) turn: Turn,
    pub(super) writer: W,
    /// Ends the run.
    pub(super) cancel: CancellationToken,
}

/// A response that is one object, or a stream.
pub(super) enum Answered<T> {
    Object(T),
    Stream(EventStream),
}

impl<W: Writer> Driven<W> {
    /// Returns the response. When the client goes away, the run ends.
    ///
    /// # Errors
    /// The run failed, and the response is not a stream.
    pub(super) async fn respond(self, is_stream: bool, heartbeat: Duration) -> Result<Answered<W::Object>, ApiError> {
        let cancel = self.cancel.clone();
        if !is_stream {
            // Dropped with the request when its client disconnects.
            let gone = cancel.drop_guard();
            let ended = tokio::spawn(self.drive(None)).await.map_err(|_| ApiError::cut_off())?;
            gone.disarm();
            return ended.map(Answered::Object);
        }
        let (client, mut frames) = mpsc::channel(MAX_WAITING);
        tokio::spawn(self.drive(Some(client)));
        let frames = futures::stream::poll_fn(move |context| frames.poll_recv(context)).boxed();
        Ok(Answered::Stream(EventStream::new(frames, heartbeat)))
    }

    async fn drive(self, client: Option<mpsc::Sender<Bytes>>) -> Result<W::Object, ApiError> {
        let Self { mut frames, mut turn, mut writer, cancel } = self;
        let client = Client { sender: client, cancel: cancel.clone() };
        client.send(writer.begin()).await;
        loop {
            let frame = tokio::select! {
                frame = frames.next() => frame,
                () = client.gone(), if !cancel.is_cancelled() => {
                    cancel.cancel();
                    continue;
                }
            };
            let Some(frame) = frame else { break };
            for output in turn.push(&frame) {
                client.send(writer.write(output)).await;
            }
        }
        let (last, response) = writer.end(turn.end()).await;
        client.send(last).await;
        response
    }
}

/// The reader of the stream; there is none if the response is one object.
struct Client {
    sender: Option<mpsc::Sender<Bytes>>,
    cancel: CancellationToken,
}

impl Client {
    async fn send(&self, frames: Vec<Bytes>) {
        let Some(sender) = &self.sender else { return };
        for frame in frames {
            if sender.send(frame).await.is_err() {
                self.cancel.cancel();
                return;
            }
        }
    }

    /// Waits until the client has gone.
    async fn gone(&self) {
        match &self.sender {
            Some(sender) => sender.closed().await,
            None => std::future::pending().await,
        }
    }
}

impl<T: IntoResponse> IntoResponse for Answered<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Object(object) => object.into_response(),
            Self::Stream(stream) => stream.into_response(),
        }
    }
}

impl<T: RouteOutput> RouteOutput for Answered<T> {
    fn describe(description: &mut Description<'_>) {
        T::describe(description);
        EventStream::describe(description);
    }
}
