//! Asking a provider over HTTP: the client, errors by status, and the driver that turns bytes into parts.

use contract::{ModelError, ModelErrorKind, Part, PartStream};
use futures::StreamExt;
use reqwest::header::HeaderMap;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use std::sync::OnceLock;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A connection must be there by then.
const CONNECT: Duration = Duration::from_secs(10);
/// What is read of an error's body, for the log.
const ERROR_BODY: usize = 2_000;

/// The client of all providers. Redirects are not followed: only `Authorization` and cookies would be taken off on the way
/// to another host, `x-api-key` and its like would go along (D4).
pub(crate) fn client() -> &'static Client {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    CLIENT.get_or_init(|| {
        // An error only says that a provider of cryptography is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Client::builder().redirect(reqwest::redirect::Policy::none()).connect_timeout(CONNECT);
        builder.build().unwrap_or_else(|error| {
            // Without TLS roots no provider can be reached; each request will say so.
            tracing::error!(%error, "the HTTP client could not be built");
            Client::default()
        })
    })
}

/// Adds the config's headers.
pub(crate) fn with_headers(mut request: RequestBuilder, headers: &[(String, SecretString)]) -> RequestBuilder {
    for (name, value) in headers {
        request = request.header(name, value.expose_secret());
    }
    request
}

/// Reads one provider's events.
pub(crate) trait Codec: Send + 'static {
    /// Appends the parts that an event brings.
    fn event(&mut self, data: &str, parts: &mut Vec<Part>) -> Result<(), ModelError>;

    /// The stream is over: appends what was still to come, or says that it broke off.
    fn end(&mut self, parts: &mut Vec<Part>) -> Result<(), ModelError>;

    /// Whether the reply is complete, so that nothing after it counts.
    fn is_complete(&self) -> bool;
}

/// Sends a request; resolves when the provider has begun to answer with events.
pub(crate) async fn stream(
    request: RequestBuilder,
    codec: impl Codec,
    cancel: CancellationToken,
) -> Result<PartStream, ModelError> {
    let response = tokio::select! {
        () = cancel.cancelled() => return Err(ModelError::new(ModelErrorKind::Cancelled, "stopped")),
        response = request.send() => response.map_err(|error| unreachable(&error))?,
    };
    if !response.status().is_success() {
        return Err(refusal(response).await);
    }
    let media_type = response.headers().get("content-type").and_then(|value| value.to_str().ok());
    let media_type = media_type.unwrap_or_default().to_owned();
    if media_type.starts_with("text/html") || media_type.starts_with("application/json") {
        let cause = format!("the answer is {media_type}, not a stream: {}", excerpt(response).await);
        return Err(ModelError::new(ModelErrorKind::BrokenStream, cause));
    }
    Ok(parts(response, codec, cancel))
}

/// Drops the connection when it is dropped or cancelled.
fn parts(response: Response, mut codec: impl Codec, cancel: CancellationToken) -> PartStream {
    async_stream::stream! {
        let mut bytes = response.bytes_stream();
        let mut decoder = sse::Decoder::new(sse::Limits::default());
        let mut ready = Vec::new();
        loop {
            let next = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ModelError::new(ModelErrorKind::Cancelled, "stopped")),
                next = bytes.next() => next.transpose().map_err(|error| broken(format!("the connection broke: {}", chain(&error)))),
            };
            let read = match next {
                Ok(Some(piece)) => take(&mut decoder, &piece, &mut codec, &mut ready),
                Ok(None) => codec.end(&mut ready),
                Err(error) => Err(error),
            };
            for part in ready.drain(..) {
                yield Ok(part);
            }
            if let Err(error) = read {
                yield Err(error);
                break;
            }
            if codec.is_complete() {
                break;
            }
        }
    }
    .boxed()
}

fn take(
    decoder: &mut sse::Decoder,
    piece: &[u8],
    codec: &mut impl Codec,
    ready: &mut Vec<Part>,
) -> Result<(), ModelError> {
    let pushed = decoder.push(piece);
    while let Some(event) = decoder.next() {
        if codec.is_complete() {
            break;
        }
        codec.event(&event.data, ready)?;
    }
    pushed.map_err(|error| broken(error.to_string()))
}

/// The stream cannot be read on.
pub(crate) fn broken(cause: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::BrokenStream, cause)
}

fn unreachable(error: &reqwest::Error) -> ModelError {
    let kind = if error.is_timeout() { ModelErrorKind::Timeout } else { ModelErrorKind::Unreachable };
    ModelError::new(kind, chain(error))
}

/// An error with its causes; reqwest's own text names only the outermost.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

async fn refusal(response: Response) -> ModelError {
    let status = response.status();
    let retry_after = retry_after(response.headers());
    let cause = format!("{status}: {}", excerpt(response).await);
    ModelError { retry_after, ..ModelError::new(kind_of(status), cause) }
}

fn kind_of(status: StatusCode) -> ModelErrorKind {
    match status.as_u16() {
        401 | 403 => ModelErrorKind::Unauthorized,
        429 => ModelErrorKind::RateLimited,
        408 | 409 | 500.. => ModelErrorKind::Unavailable,
        _ => ModelErrorKind::Refused,
    }
}

/// The beginning of a body, read no further.
async fn excerpt(mut response: Response) -> String {
    let mut read = Vec::new();
    while let Ok(Some(piece)) = response.chunk().await {
        read.extend_from_slice(&piece[..piece.len().min(ERROR_BODY - read.len())]);
        if read.len() >= ERROR_BODY {
            break;
        }
    }
    String::from_utf8_lossy(&read).into_owned()
}

/// `retry-after-ms`, or `retry-after` in seconds. A date, a negative or an unreadable value counts as none: the usual wait
/// applies.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_that_providers_ask_for() {
        let check = |headers: &[(&'static str, &'static str)], expected: Option<u64>| {
            let map = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            assert_eq!(retry_after(&map), expected.map(Duration::from_millis), "{headers:?}");
        };
        check(&[], None);
        check(&[("retry-after", "2")], Some(2000));
        check(&[("retry-after-ms", "150"), ("retry-after", "2")], Some(150));
        check(&[("retry-after", "9999")], Some(9_999_000));
        check(&[("retry-after", "-1")], None);
        check(&[("retry-after", "abc")], None);
        check(&[("retry-after", "1e400")], None);
        check(&[("retry-after", "Fri, 20 Nov 2026 00:00:00 GMT")], None);
    }
}
