//! Streams the chat's frames as the response body of a server function.

use super::error::ApiError;
use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderName, HeaderValue, header};
use leptos::prelude::use_context;
use server_fn::codec::ByteStream;
use std::time::Duration;

/// Time without an event after which a comment is sent, so that neither a proxy nor the browser
/// takes the connection for dead.
const KEEP_ALIVE_AFTER: Duration = Duration::from_secs(15);

/// Streams frames unchanged; the browser decodes them with [`sse::SseDecoder`]. Nothing on the way may
/// buffer or compress them.
pub(in crate::api) fn event_stream(frames: chat::Frames) -> ByteStream<ApiError> {
    set_sse_headers();
    ByteStream::new(chat::with_keep_alive(frames, KEEP_ALIVE_AFTER).map(Ok))
}

/// Returns a stream that ends at once, for a conversation without a running answer.
pub(in crate::api) fn empty_stream() -> ByteStream<ApiError> {
    set_sse_headers();
    ByteStream::new(futures::stream::once(async { Ok(Bytes::from_static(b"data: [DONE]\n\n")) }))
}

fn set_sse_headers() {
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
    async fn silent_stream_gets_keep_alive_comments() {
        let frames = async_stream::stream! {
            yield Bytes::from_static(b"data: 1\n\n");
            tokio::time::sleep(Duration::from_secs(19)).await;
            yield Bytes::from_static(b"data: [DONE]\n\n");
        };
        let expected: [&[u8]; 3] = [b"data: 1\n\n", b": keep-alive\n\n", b"data: [DONE]\n\n"];
        assert_eq!(bodies(event_stream(frames.boxed())).await, expected);
    }

    #[tokio::test]
    async fn empty_stream_has_only_the_end_marker() {
        assert_eq!(bodies(empty_stream()).await, [&b"data: [DONE]\n\n"[..]]);
    }
}
