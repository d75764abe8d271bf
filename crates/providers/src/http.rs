//! Sends requests over HTTP: one client for all providers, secrets that stay out of logs, and
//! errors by status.

use crate::ModelSettings;
use crate::driver::{self, Codec};
use crate::file;
use crate::too_long;
use contract::{ModelError, ModelErrorKind, PartStream, Request};
use egress::Egress;
use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};
use tokio_util::sync::CancellationToken;

/// The timeout for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of idle connections to a provider, and how long they are kept. A turn sends its next
/// request within seconds. After a burst of hundreds of requests, connections above this number are closed.
const MAX_IDLE_CONNECTIONS: usize = 64;
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// The timeout for reading an error's body. After that, the error consists of the status.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum number of bytes that are read of an error's body.
const MAX_ERROR_BODY: usize = 16 * 1024;
/// The maximum number of bytes of the cause of an error.
pub(crate) const MAX_CAUSE: usize = 2_000;

/// Returns the client for all providers. It follows no redirects: towards another host, only
/// `Authorization` and cookies would be removed, but not `x-api-key` and similar headers. It does
/// not request compression, because a compressing proxy would buffer the stream.
///
/// # Errors
/// If the system's trusted certificates cannot be read.
fn client() -> Result<&'static Client, ModelError> {
    static CLIENT: OnceLock<Result<Client, String>> = OnceLock::new();
    let client = CLIENT.get_or_init(|| {
        // This fails only if a crypto provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Client::builder()
            .redirect(Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .no_gzip()
            .user_agent(concat!("chatwright/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| error_chain(&error))
    });
    client.as_ref().map_err(|error| {
        ModelError::new(ModelErrorKind::Unreachable, format!("the HTTP client cannot be created: {error}"))
    })
}

/// Begins a POST request to an address of the provider. If the settings restrict it to public addresses, names
/// that lead elsewhere are refused when they are resolved.
///
/// # Errors
/// If there is no HTTP client, or the address is not public.
pub(crate) fn post(settings: &ModelSettings, url: &str) -> Result<RequestBuilder, ModelError> {
    if !settings.public_only {
        return Ok(client()?.post(url));
    }
    let unreachable = |cause: String| ModelError::new(ModelErrorKind::Unreachable, cause);
    let url = Url::parse(url).map_err(|error| ModelError::new(ModelErrorKind::Refused, error.to_string()))?;
    let client = public_egress()?.client(&url).map_err(|error| unreachable(error.to_string()))?;
    // Not compressed: a compressing proxy would buffer the stream.
    Ok(client.post(url).header(ACCEPT_ENCODING, "identity"))
}

/// Returns what reaches public addresses only.
fn public_egress() -> Result<&'static Egress, ModelError> {
    static EGRESS: OnceLock<Result<Egress, String>> = OnceLock::new();
    EGRESS.get_or_init(|| Egress::without_redirects(false)).as_ref().map_err(|error| {
        ModelError::new(ModelErrorKind::Unreachable, format!("the HTTP client cannot be created: {error}"))
    })
}

/// Creates a header value that is not logged.
///
/// # Errors
/// If it contains a character that is invalid in a header, such as a line feed at the end of a key.
pub(crate) fn secret_header(value: &str) -> Result<HeaderValue, ModelError> {
    let refused =
        |_| ModelError::new(ModelErrorKind::Refused, "the API key or a header contains a character that HTTP forbids");
    let mut value = HeaderValue::from_str(value).map_err(refused)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Creates a POST request with a JSON body to an API that expects its key as a bearer token.
/// `base_url` is the default if the settings name none.
///
/// # Errors
/// If there is no HTTP client, or the key is not a valid header value.
pub(crate) fn bearer_request(
    settings: &ModelSettings,
    base_url: &str,
    path: &str,
    body: &Value,
) -> Result<RequestBuilder, ModelError> {
    let base = settings.base_url.as_deref().unwrap_or(base_url).trim_end_matches('/');
    let mut request = post(settings, &format!("{base}/{path}"))?;
    if let Some(key) = &settings.api_key {
        request = request.header(AUTHORIZATION, secret_header(&format!("Bearer {}", key.expose_secret()))?);
    }
    Ok(request.json(body))
}

/// Sends a request with the configured headers and returns the reply's parts once the provider has
/// begun to stream. `write` builds the HTTP request, `codec` decodes the response.
///
/// If a request with files is rejected, it is sent once more with notes in place of the files. Only
/// the provider knows which files a model accepts (none, no PDF, or only small ones). With the
/// notes, the model can say what it could not read, and the conversation continues. A request that is
/// too long for the model's context is sent once more if it has a document, which may be the reason;
/// with nothing but images, the history is.
///
/// # Errors
/// By status, or if no response arrived. The causes contain none of the secrets in `settings`.
pub(crate) async fn stream(
    write: impl Fn(&Request) -> Result<RequestBuilder, ModelError>,
    request: &Request,
    settings: &ModelSettings,
    codec: impl Codec,
    cancel: CancellationToken,
) -> Result<PartStream, ModelError> {
    let asking = async {
        let refused = match send(write(request)?, settings).await {
            Err(error) if error.kind == ModelErrorKind::Refused => error,
            Err(error) if error.kind == ModelErrorKind::ContextTooLong && file::has_documents(request) => error,
            begun => return begun,
        };
        let Some(without) = file::without_files(request) else { return Err(refused) };
        tracing::warn!(model = settings.model, error = %refused, "the provider rejected a request with files; retrying without them");
        // If it is rejected again, the files were not the reason, and the first error counts.
        send(write(&without)?, settings).await.map_err(|error| match error.kind {
            ModelErrorKind::Refused | ModelErrorKind::ContextTooLong => refused,
            _ => error,
        })
    };
    let response = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(driver::cancelled_error()),
        response = asking => response,
    };
    Ok(driver::part_stream(response?, codec, cancel))
}

async fn send(mut request: RequestBuilder, settings: &ModelSettings) -> Result<Response, ModelError> {
    for (name, value) in &settings.headers {
        request = request.header(name, secret_header(value.expose_secret())?);
    }
    let response = request.send().await.map_err(|error| send_error(&error))?;
    let status = response.status();
    if !status.is_success() {
        let retry_after = egress::retry_after(response.headers(), SystemTime::now());
        let cause = format!("{status}: {}", body_excerpt(response, settings).await);
        return Err(ModelError {
            retry_after,
            ..ModelError::new(too_long::refine(kind_for_status(status), &cause), cause)
        });
    }
    let media_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if ["text/html", "application/json"].iter().any(|no_stream| media_type.starts_with(no_stream)) {
        let media_type = media_type.to_owned();
        let cause = format!(
            "the response is {media_type} instead of an event stream: {}",
            body_excerpt(response, settings).await
        );
        return Err(driver::stream_error(cause));
    }
    Ok(response)
}

fn send_error(error: &reqwest::Error) -> ModelError {
    let kind = match error {
        error if error.is_builder() => ModelErrorKind::Refused,
        error if error.is_timeout() => ModelErrorKind::Timeout,
        _ => ModelErrorKind::Unreachable,
    };
    ModelError::new(kind, error_chain(error))
}

/// Formats an error with all its causes; reqwest's `Display` contains only the outermost one.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn kind_for_status(status: StatusCode) -> ModelErrorKind {
    match status.as_u16() {
        401 | 403 => ModelErrorKind::Unauthorized,
        429 => ModelErrorKind::RateLimited,
        408 | 409 | 500.. => ModelErrorKind::Unavailable,
        // Also 3xx: redirects are not followed, and a retry would only be redirected again.
        _ => ModelErrorKind::Refused,
    }
}

/// Returns the beginning of a body for the log, without secrets that a provider may echo.
async fn body_excerpt(mut response: Response, settings: &ModelSettings) -> String {
    let mut read = Vec::new();
    let reading = async {
        while let Ok(Some(piece)) = response.chunk().await {
            read.extend_from_slice(&piece[..piece.len().min(MAX_ERROR_BODY - read.len())]);
            if read.len() == MAX_ERROR_BODY {
                break;
            }
        }
    };
    // After the timeout, the bytes read so far are used.
    let _ = tokio::time::timeout(ERROR_BODY_TIMEOUT, reading).await;
    let mut text = redact_secrets(String::from_utf8_lossy(&read).into_owned(), settings);
    text.truncate(text.floor_char_boundary(MAX_CAUSE));
    text
}

fn redact_secrets(text: String, settings: &ModelSettings) -> String {
    let secrets = settings.headers.iter().map(|(_, value)| value).chain(&settings.api_key);
    let long_enough = secrets.map(SecretString::expose_secret).filter(|secret| secret.len() > 3);
    long_enough.fold(text, |text, secret| text.replace(secret, "[secret]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_redacted() {
        let settings = ModelSettings {
            api_key: Some("sk-123456".into()),
            base_url: None,
            headers: vec![("x-tenant".to_owned(), "t-42".into()), ("x-short".to_owned(), "a".into())],
            public_only: false,
            model: String::new(),
        };
        let text = redact_secrets("a bad key sk-123456 of t-42".to_owned(), &settings);
        assert_eq!(text, "a bad key [secret] of [secret]");
        assert!(secret_header("key\n").is_err());
        assert_eq!(format!("{:?}", secret_header("sk-1").unwrap()), "Sensitive");
    }
}
