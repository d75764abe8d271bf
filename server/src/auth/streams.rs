//! Streams end with the rights of who reads them (A9): while one is open, it is asked again and again whether what opened it still
//! names the same user with the same roles.

use super::authentication::Authentication;
use super::credentials::Credentials;
use crate::compose::Current;
use axum::body::Body;
use axum::http::header;
use axum::response::Response;
use chat::Caller;
use futures::StreamExt;
use std::sync::Arc;
use std::time::Duration;

/// How often it is asked, and how long an answer may take: together less than five seconds.
const EVERY: Duration = Duration::from_millis(2_500);
const PATIENCE: Duration = Duration::from_secs(2);

/// The response, whose stream ends when it should; what is no stream stays as it is.
pub(super) fn bounded(response: Response, caller: Caller, sent: Credentials, current: Arc<Current>) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE);
    if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        return response;
    }
    response.map(|body| {
        let mut frames = body.into_data_stream();
        Body::from_stream(async_stream::stream! {
            let mut next = tokio::time::Instant::now() + EVERY;
            loop {
                tokio::select! {
                    frame = frames.next() => match frame {
                        Some(frame) => yield frame,
                        None => break,
                    },
                    () = tokio::time::sleep_until(next) => {
                        if !is_the_same(&current.authentication(), &caller, &sent).await {
                            tracing::info!("a stream was closed: its reader's rights have changed");
                            break;
                        }
                        next = tokio::time::Instant::now() + EVERY;
                    }
                }
            }
        })
    })
}

/// No answer is as good as no: he may come back when there is one.
async fn is_the_same(authentication: &Authentication, caller: &Caller, sent: &Credentials) -> bool {
    match tokio::time::timeout(PATIENCE, authentication.identify(sent)).await {
        // Who had no cookie yet is somebody new each time, and was given one with the stream.
        Ok(Ok(known)) => {
            // Whether what he came with is passed on is the config's matter, not his.
            let known = Caller { bearer: caller.bearer.clone(), ..known.caller };
            known == *caller || !caller.is_authenticated && !known.is_authenticated
        }
        Ok(Err(_)) | Err(_) => false,
    }
}
