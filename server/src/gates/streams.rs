//! Ends streams when the rights of their readers end. While a stream is open, its credentials are
//! checked repeatedly: they must still identify the same user with the same roles.

use crate::compose::CurrentConfig;
use auth::{Authentication, Credentials};
use axum::body::Body;
use axum::http::header;
use axum::response::Response;
use chat::Caller;
use futures::StreamExt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The interval and the timeout of the checks, together less than five seconds.
const CHECK_INTERVAL: Duration = Duration::from_millis(2_500);
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the response with a body that ends when the caller's rights change. Responses that are
/// not event streams stay as they are.
pub(super) fn end_with_rights(
    response: Response,
    caller: Caller,
    sent: Credentials,
    current: Arc<CurrentConfig>,
) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE);
    if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        return response;
    }
    response.map(|body| {
        let mut frames = body.into_data_stream();
        Body::from_stream(async_stream::stream! {
            // One timer for the whole stream: to register and remove one costs about as much as to pass a frame on.
            let mut timer = pin!(sleep(CHECK_INTERVAL));
            loop {
                tokio::select! {
                    biased;
                    () = &mut timer => {
                        if !is_same_caller(&current.authentication(), &caller, &sent).await {
                            tracing::info!("closed a stream because its reader's access rights changed");
                            break;
                        }
                        timer.as_mut().reset(Instant::now() + CHECK_INTERVAL);
                    }
                    frame = frames.next() => match frame {
                        Some(frame) => yield frame,
                        None => break,
                    },
                }
            }
        })
    })
}

/// Returns whether the credentials still identify the caller. A check that fails or times out
/// counts as no; the client can reconnect later.
async fn is_same_caller(authentication: &Authentication, caller: &Caller, sent: &Credentials) -> bool {
    match tokio::time::timeout(CHECK_TIMEOUT, authentication.identify(sent)).await {
        // A visitor without a cookie gets a new id at each check; the stream's response has set the
        // cookie.
        Ok(Ok(known)) => {
            // Whether the token is kept depends on the config, not on the caller.
            let mut known = known.caller;
            known.bearer.clone_from(&caller.bearer);
            known == *caller || !caller.is_authenticated && !known.is_authenticated
        }
        Ok(Err(_)) | Err(_) => false,
    }
}
