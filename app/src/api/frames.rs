//! The chat's frames as the body of a server function's response.

use super::ApiError;
use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderName, HeaderValue, header};
use leptos::prelude::use_context;
use server_fn::codec::ByteStream;
use std::time::Duration;

/// After about this long without an event a comment is sent, so that no proxy takes the connection for dead, nor the browser.
const KEEP_ALIVE_AFTER: Duration = Duration::from_secs(15);

/// The frames as they are; the browser decodes them with [`sse::Decoder`]. Nothing on the way may collect or compress them.
pub(super) fn stream(frames: chat::Frames) -> ByteStream<ApiError> {
    mark_as_events();
    ByteStream::new(chat::kept_alive(frames, KEEP_ALIVE_AFTER).map(Ok))
}

/// The stream of a conversation in which nothing is being written: its end.
pub(super) fn nothing() -> ByteStream<ApiError> {
    mark_as_events();
    ByteStream::new(futures::stream::once(async { Ok(Bytes::from_static(b"data: [DONE]\n\n")) }))
}

fn mark_as_events() {
    let Some(response) = use_context::<leptos_axum::ResponseOptions>() else {
        return;
    };
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    for (name, value) in headers {
        response.insert_header(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn bodies(stream: ByteStream<ApiError>) -> Vec<Bytes> {
        stream.into_inner().map(Result::unwrap).collect().await
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_is_kept_alive() {
        let frames = async_stream::stream! {
            yield Bytes::from_static(b"data: 1\n\n");
            tokio::time::sleep(Duration::from_secs(19)).await;
            yield Bytes::from_static(b"data: [DONE]\n\n");
        };
        let expected: [&[u8]; 3] = [b"data: 1\n\n", b": keep-alive\n\n", b"data: [DONE]\n\n"];
        assert_eq!(bodies(stream(frames.boxed())).await, expected);
    }

    #[tokio::test]
    async fn nothing_is_an_end() {
        assert_eq!(bodies(nothing()).await, [&b"data: [DONE]\n\n"[..]]);
    }
}
