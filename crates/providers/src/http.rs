//! Asking a provider over HTTP: one client, secrets that stay secret, and errors by status.

use crate::Settings;
use crate::driver::{self, Codec};
use crate::file;
use contract::{ModelError, ModelErrorKind, PartStream, Request};
use faults::Break;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};
use tokio_util::sync::CancellationToken;

/// A connection must be there by then.
const CONNECT: Duration = Duration::from_secs(10);
/// Connections that are kept to one provider without being used, and for how long: a turn asks again within seconds, and of a burst of
/// hundreds not all are kept.
const IDLE: usize = 64;
const IDLE_TIME: Duration = Duration::from_secs(30);
/// An error's body must be there by then; without it, the status has to do.
const ERROR_BODY: Duration = Duration::from_secs(5);
/// What is read of an error's body, in bytes.
const MAX_ERROR_BODY: usize = 16 * 1024;
/// What is kept of an error's body for the log, in bytes.
const MAX_CAUSE: usize = 2_000;

/// The client of all providers. Redirects are not followed: on the way to another host only `Authorization` and cookies
/// would be taken off, `x-api-key` and its like would go along (D4). Answers are not asked for compressed: a compressor in
/// between would hold back what should stream.
///
/// # Errors
/// When the system's trusted certificates cannot be read.
pub(crate) fn client() -> Result<&'static Client, ModelError> {
    static CLIENT: OnceLock<Result<Client, String>> = OnceLock::new();
    let client = CLIENT.get_or_init(|| {
        // An error only says that a provider of cryptography is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let follows = faults::is_broken(Break::Redirects);
        Client::builder()
            .redirect(if follows { Policy::default() } else { Policy::none() })
            .connect_timeout(CONNECT)
            .pool_max_idle_per_host(IDLE)
            .pool_idle_timeout(IDLE_TIME)
            .no_gzip()
            .user_agent(concat!("chatwright/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| chain(&error))
    });
    client.as_ref().map_err(|error| ModelError::new(ModelErrorKind::Unreachable, format!("no HTTP client: {error}")))
}

/// A header that stays out of logs.
///
/// # Errors
/// When it holds what no header may, such as a line feed at the end of a key.
pub(crate) fn secret_header(value: &str) -> Result<HeaderValue, ModelError> {
    let refused = |_| ModelError::new(ModelErrorKind::Refused, "a key or a header holds a character that HTTP forbids");
    let mut value = HeaderValue::from_str(value).map_err(refused)?;
    value.set_sensitive(true);
    Ok(value)
}

/// A request to an API that takes its key as a bearer token; `base_url` counts where the settings name none.
///
/// # Errors
/// When there is no HTTP client, or the key holds what no header may.
pub(crate) fn post(
    settings: &Settings,
    base_url: &str,
    path: &str,
    body: &Value,
) -> Result<RequestBuilder, ModelError> {
    let base = settings.base_url.as_deref().unwrap_or(base_url).trim_end_matches('/');
    let mut request = client()?.post(format!("{base}/{path}"));
    if let Some(key) = &settings.api_key {
        request = request.header(AUTHORIZATION, secret_header(&format!("Bearer {}", key.expose_secret()))?);
    }
    Ok(request.json(body))
}

/// Sends a request with the config's headers; resolves when the provider has begun to answer with events. `write` makes the HTTP
/// request of the contract's, `codec` reads the answer.
///
/// A request with files that is refused is sent once more with notes in their place: which files a model takes (none, or no PDF, or
/// only small ones) is known to its provider alone. So the model says what it could not read, and the conversation goes on.
///
/// # Errors
/// By status, or what kept the answer from coming. The causes hold none of the secrets in `settings`.
pub(crate) async fn stream(
    write: impl Fn(&Request) -> Result<RequestBuilder, ModelError>,
    request: &Request,
    settings: &Settings,
    codec: impl Codec,
    cancel: CancellationToken,
) -> Result<PartStream, ModelError> {
    let asking = async {
        let refused = match begin(write(request)?, settings).await {
            Err(error) if error.kind == ModelErrorKind::Refused => error,
            begun => return begun,
        };
        let Some(without) = file::without_files(request) else { return Err(refused) };
        tracing::warn!(model = settings.model, error = %refused, "refused with files; asking without them");
        // If that was not it, the first answer says what was.
        begin(write(&without)?, settings).await.map_err(|error| match error.kind {
            ModelErrorKind::Refused => refused,
            _ => error,
        })
    };
    let response = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(driver::stopped()),
        response = asking => response,
    };
    Ok(driver::parts(response?, codec, cancel))
}

async fn begin(mut request: RequestBuilder, settings: &Settings) -> Result<Response, ModelError> {
    for (name, value) in &settings.headers {
        request = request.header(name, secret_header(value.expose_secret())?);
    }
    let response = request.send().await.map_err(|error| not_sent(&error))?;
    let status = response.status();
    if !status.is_success() {
        let retry_after = retry_after(response.headers(), SystemTime::now());
        let cause = format!("{status}: {}", excerpt(response, settings).await);
        return Err(ModelError { retry_after, ..ModelError::new(kind_of(status), cause) });
    }
    let media_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if ["text/html", "application/json"].iter().any(|no_stream| media_type.starts_with(no_stream)) {
        let media_type = media_type.to_owned();
        let cause = format!("the answer is {media_type}, not a stream: {}", excerpt(response, settings).await);
        return Err(driver::broken(cause));
    }
    Ok(response)
}

fn not_sent(error: &reqwest::Error) -> ModelError {
    let kind = match error {
        error if error.is_builder() => ModelErrorKind::Refused,
        error if error.is_timeout() => ModelErrorKind::Timeout,
        _ => ModelErrorKind::Unreachable,
    };
    ModelError::new(kind, chain(error))
}

/// An error with its causes; reqwest's own text names only the outermost.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn kind_of(status: StatusCode) -> ModelErrorKind {
    match status.as_u16() {
        401 | 403 => ModelErrorKind::Unauthorized,
        429 => ModelErrorKind::RateLimited,
        408 | 409 | 500.. => ModelErrorKind::Unavailable,
        // 3xx as well: a redirect is not followed, and asking again would only bring it again.
        _ => ModelErrorKind::Refused,
    }
}

/// The beginning of a body, for the log, without the secrets that a provider may echo.
async fn excerpt(mut response: Response, settings: &Settings) -> String {
    let mut read = Vec::new();
    let reading = async {
        while let Ok(Some(piece)) = response.chunk().await {
            read.extend_from_slice(&piece[..piece.len().min(MAX_ERROR_BODY - read.len())]);
            if read.len() == MAX_ERROR_BODY {
                break;
            }
        }
    };
    // Too late is like empty: what had come until then is what there is.
    let _ = tokio::time::timeout(ERROR_BODY, reading).await;
    let mut text = without_secrets(String::from_utf8_lossy(&read).into_owned(), settings);
    text.truncate(text.floor_char_boundary(MAX_CAUSE));
    text
}

fn without_secrets(text: String, settings: &Settings) -> String {
    let secrets = settings.headers.iter().map(|(_, value)| value).chain(&settings.api_key);
    let long_enough = secrets.map(SecretString::expose_secret).filter(|secret| secret.len() > 3);
    long_enough.fold(text, |text, secret| text.replace(secret, "[secret]"))
}

/// The wait that a provider asks for: `retry-after-ms`, or `retry-after` in seconds or as a date. What cannot be read counts
/// as none, so that the usual wait applies.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.trim());
    let number = |name: &str| text(name)?.parse::<f64>().ok();
    if let Some(seconds) = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after")) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::parse(text("retry-after")?).ok()?;
    let date = SystemTime::from(date.timestamp());
    // A date that has passed means now.
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_that_providers_ask_for() {
        // Fri, 20 Nov 2026 00:00:00 GMT
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_132_800);
        let check = |headers: &[(&'static str, &'static str)], expected: Option<u64>| {
            let map = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            assert_eq!(retry_after(&map, now), expected.map(Duration::from_millis), "{headers:?}");
        };
        check(&[], None);
        check(&[("retry-after", "2")], Some(2000));
        check(&[("retry-after-ms", "150"), ("retry-after", "2")], Some(150));
        check(&[("retry-after-ms", "soon"), ("retry-after", "2")], Some(2000));
        check(&[("retry-after", "9999")], Some(9_999_000));
        check(&[("retry-after", "-1")], None);
        check(&[("retry-after", "abc")], None);
        check(&[("retry-after", "1e400")], None);
        check(&[("retry-after", "Fri, 20 Nov 2026 00:00:07 GMT")], Some(7000));
        check(&[("retry-after", "Thu, 19 Nov 2026 00:00:00 GMT")], Some(0));
    }

    #[test]
    fn secrets_are_taken_out() {
        let settings = Settings {
            api_key: Some("sk-123456".into()),
            base_url: None,
            headers: vec![("x-tenant".to_owned(), "t-42".into()), ("x-short".to_owned(), "a".into())],
            model: String::new(),
        };
        let text = without_secrets("a bad key sk-123456 of t-42".to_owned(), &settings);
        assert_eq!(text, "a bad key [secret] of [secret]");
        assert!(secret_header("key\n").is_err());
        assert_eq!(format!("{:?}", secret_header("sk-1").unwrap()), "Sensitive");
    }
}
