//! Begins a response before rmcp has its first message.
//!
//! For requests with the newest version of the protocol, rmcp sends no headers until then, which may take as long
//! as the call. A proxy would cut the silent connection, and the server's gates could not end the call with the
//! rights of the caller, as they do with streams.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chat::Frames;
use futures::{FutureExt, StreamExt, future, stream};
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::mpsc;
use web::EventStream;

/// The media type of a stream.
const EVENT_STREAM: &[u8] = b"text/event-stream";

/// How long a response may take in which the status can still be that of an error.
const STATUS_TIME: Duration = Duration::from_millis(500);

/// Returns a response that comes soon; else a stream that waits for it and goes on with its messages. A client that
/// goes away drops either.
pub(crate) async fn begin(response: impl Future<Output = Response> + Send + 'static, heartbeat: Duration) -> Response {
    let mut response = response.boxed();
    if let Ok(response) = tokio::time::timeout(STATUS_TIME, &mut response).await {
        return response;
    }
    let frames = response.into_stream().flat_map(events).boxed();
    EventStream::new(frames, heartbeat).into_response()
}

/// Returns the events of a response. The message of an error becomes an event.
fn events(response: Response) -> Frames {
    let (parts, body) = response.into_parts();
    let frames = body.into_data_stream().filter_map(|frame| future::ready(frame.ok()));
    let text = |text: &'static str| future::ready(Bytes::from_static(text.as_bytes())).into_stream();
    match parts.headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes) {
        Some(EVENT_STREAM) => frames.boxed(),
        Some(b"application/json") => text("data: ").chain(frames).chain(text("\n\n")).boxed(),
        // A fault, which rmcp has logged. The client sees a stream without an answer.
        _ => stream::empty().boxed(),
    }
}

/// Adds events with requests to the client to the stream of a response. The stream ends with the response.
pub(crate) fn with_questions(response: Response, mut questions: mpsc::Receiver<Bytes>) -> Response {
    if response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes) != Some(EVENT_STREAM) {
        return response;
    }
    let (parts, body) = response.into_parts();
    // rmcp writes each event as one frame, so another event fits between any two of them.
    let frames = body.into_data_stream().filter_map(|frame| future::ready(frame.ok()));
    let frames = frames.map(Some).chain(stream::once(future::ready(None)));
    let questions = stream::poll_fn(move |context| questions.poll_recv(context)).map(Some);
    let all = stream::select(frames, questions).take_while(|frame| future::ready(frame.is_some()));
    let all = all.filter_map(|frame| future::ready(frame.map(Ok::<_, Infallible>)));
    Response::from_parts(parts, Body::from_stream(all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Json;
    use axum::body::to_bytes;
    use axum::http::StatusCode;
    use serde_json::json;

    const HEARTBEAT: Duration = Duration::from_secs(15);

    /// Returns the status and the body for a response that takes so long.
    async fn check(response: impl IntoResponse, time: Duration) -> String {
        let response = response.into_response();
        let begun = begin(tokio::time::sleep(time).map(|()| response), HEARTBEAT).await;
        let status = begun.status().as_u16();
        let body = to_bytes(begun.into_body(), usize::MAX).await.unwrap();
        format!("{status} {:?}", String::from_utf8_lossy(&body))
    }

    #[tokio::test(start_paused = true)]
    async fn late_responses_are_streams() {
        let refusal = || (StatusCode::BAD_REQUEST, Json(json!({ "error": {} })));
        let events = || ([(header::CONTENT_TYPE, "text/event-stream")], "data: 1\n\n");
        let all = [
            check(refusal(), Duration::ZERO).await,
            check(refusal(), STATUS_TIME * 2).await,
            check(events(), Duration::ZERO).await,
            check(events(), HEARTBEAT * 7 / 5).await,
            check("fault", STATUS_TIME * 2).await,
        ];
        insta::assert_snapshot!(all.join("\n").replace(r": keep-alive\n\n", "(keep-alive)"), @r#"
        400 "{\"error\":{}}"
        200 "data: {\"error\":{}}\n\n"
        200 "data: 1\n\n"
        200 "(keep-alive)data: 1\n\n"
        200 ""
        "#);
    }

    #[tokio::test]
    async fn questions_are_events_of_the_stream() {
        let check = async |media_type: &'static str, expected: &str| {
            let (sender, questions) = mpsc::channel(1);
            sender.send(Bytes::from_static(b"data: question\n\n")).await.unwrap();
            let answer = future::ready("data: answer\n\n").into_stream().then(|text| async move {
                tokio::task::yield_now().await;
                Ok::<_, Infallible>(text)
            });
            let response = ([(header::CONTENT_TYPE, media_type)], Body::from_stream(answer)).into_response();
            let body = with_questions(response, questions).into_body();
            // The sender is still there.
            assert_eq!(to_bytes(body, usize::MAX).await.unwrap(), expected, "{media_type}");
            drop(sender);
        };
        check("text/event-stream", "data: question\n\ndata: answer\n\n").await;
        check("application/json", "data: answer\n\n").await;
    }
}
