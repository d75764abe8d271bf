//! Bodies of requests that are read as a whole.

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::header;
use chat::Caller;
use http_body_util::LengthLimitError;
use std::error::Error;
use std::iter::successors;
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
        match causes.any(|cause| cause.is::<LengthLimitError>()) {
            true => too_large(),
            false => UserError::new(ErrorCode::Malformed, "The request could not be read."),
        }
    })
}

/// The values of a shorter body never take too much memory, in bytes.
const FEW_VALUES: usize = 64 << 10;

/// Reads the body of a request that must be JSON: at most `most` bytes, of a caller who is not signed in at most
/// `most_of_visitors` as well, and with at most as many values as take 64 MiB in memory.
///
/// # Errors
/// Those of [`read_body`], and [`ErrorCode::Malformed`] for another type of content.
pub async fn read_json_body(request: Request, most: usize, most_of_visitors: usize) -> Result<Bytes, UserError> {
    let is_json = |kind: &str| kind.trim_start().to_ascii_lowercase().starts_with("application/json");
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(is_json) {
        return Err(UserError::new(ErrorCode::Malformed, "The request must be `application/json`."));
    }
    let is_signed_in = request.extensions().get::<Caller>().is_some_and(|caller| caller.is_authenticated);
    let most = if is_signed_in { most } else { most.min(most_of_visitors) };
    let body = read_body(request.into_body(), most).await?;
    // Small values take many times the memory of their text.
    if body.len() > FEW_VALUES && is_too_large(&body) {
        return Err(UserError::new(ErrorCode::TooLarge, "The request has too many lists, objects and values."));
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
