//! Bodies of requests that are read as a whole.

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::header;
use chat::Caller;
use http_body_util::LengthLimitError;
use offload::Pool;
use std::error::Error;
use std::iter::successors;
use std::sync::LazyLock;
use tools::json_memory::is_too_large;
use wire::{ErrorCode, UserError};

/// Reads a body of at most `most` bytes.
///
/// # Errors
/// [`ErrorCode::TooLarge`], without reading anything if the client has announced the length, and
/// [`ErrorCode::Malformed`] for a body that does not arrive.
pub async fn read_body(body: Body, most: usize) -> Result<Bytes, UserError> {
    let too_large = || UserError::new(ErrorCode::TooLarge, format!("The request is too large: {most} bytes at most."));
    if !usize::try_from(body.size_hint().lower()).is_ok_and(|length| length <= most) {
        return Err(too_large());
    }
    to_bytes(body, most).await.map_err(|error| {
        // A layer around the route may have a lower limit.
        let mut causes = successors(error.source(), |cause| (*cause).source());
        if causes.any(|cause| cause.is::<LengthLimitError>()) {
            too_large()
        } else {
            UserError::new(ErrorCode::Malformed, "The request could not be read.")
        }
    })
}

/// Work on more bytes is done on a thread of low priority. The values of a shorter body never take too much memory.
const LARGE: usize = 64 << 10;

/// Works on large bodies. Each may take 64 MB, so few wait.
static READERS: LazyLock<Pool> = LazyLock::new(|| Pool::new("body", 8 << 20, 32));

/// Does work on this many bytes of a body, on a thread of low priority if they are many.
///
/// # Errors
/// [`busy`] while too much work is waiting.
pub async fn offloaded<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, UserError> {
    if bytes <= LARGE {
        return Ok(work());
    }
    READERS.run(move |_| work()).await.map_err(|_| busy())
}

/// Too much work of this kind is waiting: 503, with the time to wait.
pub fn busy() -> UserError {
    let message = "The server is busy with other requests. Try again in a moment.";
    UserError { retry_after: Some(2), ..UserError::new(ErrorCode::Unavailable, message) }
}

/// Reads the body of a request that must be JSON: at most `most` bytes, of a caller who is not signed in at most
/// `most_of_visitors` as well, and with at most as many values as take 64 MiB in memory.
///
/// # Errors
/// The errors of [`read_body`] and [`offloaded`], [`ErrorCode::Malformed`] for another type of content, and
/// [`ErrorCode::TooLarge`] for too many values.
pub async fn read_json_body(request: Request, most: usize, most_of_visitors: usize) -> Result<Bytes, UserError> {
    let is_json = |kind: &str| kind.trim_start().to_ascii_lowercase().starts_with("application/json");
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(is_json) {
        return Err(UserError::new(ErrorCode::Malformed, "The request must be `application/json`."));
    }
    let is_signed_in = request.extensions().get::<Caller>().is_some_and(|caller| caller.is_authenticated);
    let most = if is_signed_in { most } else { most.min(most_of_visitors) };
    let body = read_body(request.into_body(), most).await?;
    if body.len() > LARGE {
        // Small values take many times the memory of their text.
        let text = body.clone();
        if offloaded(text.len(), move || is_too_large(&text)).await? {
            return Err(UserError::new(ErrorCode::TooLarge, "The request has too many lists, objects and values."));
        }
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::stream;
    use std::io;

    #[tokio::test]
    async fn bodies_are_read_up_to_the_limit() {
        let check = async |body: Body, expected: Result<&[u8], ErrorCode>| {
            let read = read_body(body, 4).await;
            assert_eq!(read.as_deref().map_err(|error| error.code), expected);
        };
        let parts = |parts: [&'static str; 2]| Body::from_stream(stream::iter(parts.map(Ok::<_, io::Error>)));
        check(Body::from("four"), Ok(b"four")).await;
        check(Body::from("fiver"), Err(ErrorCode::TooLarge)).await;
        check(parts(["fo", "ur"]), Ok(b"four")).await;
        check(parts(["fo", "urs"]), Err(ErrorCode::TooLarge)).await;
        let limited = Body::new(http_body_util::Limited::new(parts(["fo", "ur"]), 3));
        check(limited, Err(ErrorCode::TooLarge)).await;
        let broken = stream::iter([Ok("fo"), Err(io::Error::other("gone"))]);
        check(Body::from_stream(broken), Err(ErrorCode::Malformed)).await;
    }
}
