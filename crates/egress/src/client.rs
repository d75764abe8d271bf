//! The HTTP client.

use crate::address::is_public;
use crate::error::EgressError;
use crate::resolver::{PrivateAddress, PublicResolver};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, ClientBuilder, Method, Response};
use std::error::Error;
use std::iter::successors;
use std::time::Duration;
use url::{Host, Url};

/// The connect timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of idle connections per host, and how long they are kept: enough for typical
/// concurrency, and no longer than most servers keep them open.
const MAX_IDLE: usize = 16;
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum number of redirects.
const MAX_REDIRECTS: usize = 3;

/// An HTTP client with restrictions on destinations; a cheap handle to a connection pool.
#[derive(Clone)]
pub struct Egress {
    client: Client,
    allow_private: bool,
}

/// A request.
#[derive(Clone, Debug)]
pub struct EgressRequest {
    /// The method.
    pub method: Method,
    /// The full URL.
    pub url: Url,
    /// The headers; secret ones must be marked as sensitive.
    pub headers: HeaderMap,
    /// The body, if there is one.
    pub body: Option<Vec<u8>>,
    /// The timeout for everything, including redirects and the whole response body.
    pub timeout: Duration,
    /// The maximum size of the response body in bytes, after decompression.
    pub max_bytes: usize,
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EgressResponse {
    /// The HTTP status.
    pub status: u16,
    /// The `content-type` header.
    pub content_type: Option<String>,
    /// All headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Vec<u8>,
}

impl Egress {
    /// Creates a client that reaches public addresses only, or with `allow_private` also those of
    /// this machine and its networks.
    ///
    /// # Errors
    /// A message for the operator, if the system's trusted certificates cannot be read.
    pub fn new(allow_private: bool) -> Result<Self, String> {
        Self::with_redirects(allow_private, Policy::custom(follow))
    }

    /// Creates a client as [`Egress::new`] does that follows no redirects: a caller that follows
    /// them to other origins checks each URL and sends no secrets.
    ///
    /// # Errors
    /// The errors of [`Egress::new`].
    pub fn without_redirects(allow_private: bool) -> Result<Self, String> {
        Self::with_redirects(allow_private, Policy::none())
    }

    /// Creates a client as [`Egress::without_redirects`] does that speaks only HTTP/1.1, in which a
    /// connection can be upgraded to a WebSocket.
    ///
    /// # Errors
    /// The errors of [`Egress::new`].
    pub fn for_upgrades(allow_private: bool) -> Result<Self, String> {
        Self::build(builder(allow_private, Policy::none()).http1_only(), allow_private)
    }

    fn with_redirects(allow_private: bool, redirects: Policy) -> Result<Self, String> {
        Self::build(builder(allow_private, redirects), allow_private)
    }

    fn build(builder: ClientBuilder, allow_private: bool) -> Result<Self, String> {
        let client = builder.build().map_err(|error| with_causes(&error))?;
        Ok(Self { client, allow_private })
    }

    /// Sends a request and reads the whole response, whatever its status is.
    ///
    /// # Errors
    /// See [`EgressError`].
    pub async fn send(&self, request: EgressRequest) -> Result<EgressResponse, EgressError> {
        self.send_within(request, |_| usize::MAX).await
    }

    /// Sends a request as [`Egress::send`] does. The body of the response is also at most as long as
    /// `limit` allows for its `content-type`, in bytes.
    ///
    /// # Errors
    /// See [`EgressError`].
    pub async fn send_within(
        &self,
        request: EgressRequest,
        limit: impl Fn(Option<&str>) -> usize,
    ) -> Result<EgressResponse, EgressError> {
        self.check(&request.url)?;
        let (timeout, max_bytes) = (request.timeout, request.max_bytes);
        let answer = tokio::time::timeout(timeout, async {
            let builder = self.client.request(request.method, request.url).headers(request.headers);
            let builder = match request.body {
                Some(body) => builder.body(body),
                None => builder,
            };
            let response = builder.send().await.map_err(into_egress_error)?;
            read(response, |content_type| max_bytes.min(limit(content_type))).await
        });
        answer.await.unwrap_or(Err(EgressError::TimedOut(timeout)))
    }

    /// Returns the underlying client, for a protocol that sends its own requests to this address
    /// only.
    ///
    /// # Errors
    /// [`EgressError::InvalidUrl`], [`EgressError::NotPublic`].
    pub fn client(&self, url: &Url) -> Result<Client, EgressError> {
        self.check(url)?;
        Ok(self.client.clone())
    }

    /// Checks a URL. IP addresses are checked here, because they are not resolved; names are
    /// checked by the resolver.
    fn check(&self, url: &Url) -> Result<(), EgressError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(EgressError::InvalidUrl);
        }
        let is_public = match url.host().ok_or(EgressError::InvalidUrl)? {
            Host::Ipv4(address) => is_public(address.into()),
            Host::Ipv6(address) => is_public(address.into()),
            Host::Domain(name) => !is_localhost(name),
        };
        if is_public || self.allow_private { Ok(()) } else { Err(EgressError::NotPublic) }
    }
}

fn builder(allow_private: bool, redirects: Policy) -> ClientBuilder {
    // Fails only if a crypto provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .redirect(redirects)
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_max_idle_per_host(MAX_IDLE)
        .pool_idle_timeout(IDLE_TIMEOUT)
        // A proxy would resolve names itself.
        .no_proxy()
        .user_agent(concat!("chatwright/", env!("CARGO_PKG_VERSION")));
    if allow_private { builder } else { builder.dns_resolver(PublicResolver) }
}

/// Returns whether a name means this machine wherever it is resolved (RFC 6761, 6.3).
#[must_use]
pub fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

/// Follows redirects within the origin only: for another origin, the client would remove only
/// `Authorization` and cookies, but other headers may contain keys, too.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let same = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    if same && attempt.previous().len() <= MAX_REDIRECTS { attempt.follow() } else { attempt.error(RedirectRefused) }
}

#[derive(Debug, thiserror::Error)]
#[error("a redirect to another origin, or one too many")]
struct RedirectRefused;

async fn read(mut response: Response, limit: impl Fn(Option<&str>) -> usize) -> Result<EgressResponse, EgressError> {
    let status = response.status().as_u16();
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let headers = response.headers().clone();
    let max_bytes = limit(content_type.as_deref());
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(into_egress_error)? {
        if body.len() + chunk.len() > max_bytes {
            return Err(EgressError::TooLarge(max_bytes));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(EgressResponse { status, content_type, headers, body })
}

fn into_egress_error(error: reqwest::Error) -> EgressError {
    // The URL may contain a key.
    let error = error.without_url();
    tracing::warn!(cause = with_causes(&error), "a request failed");
    let is =
        |wanted: fn(&(dyn Error + 'static)) -> bool| successors(error.source(), |&cause| cause.source()).any(wanted);
    match &error {
        _ if is(|cause| cause.is::<PrivateAddress>()) => EgressError::NotPublic,
        _ if is(|cause| cause.is::<RedirectRefused>()) => EgressError::Redirected,
        error if error.is_timeout() => EgressError::TimedOut(CONNECT_TIMEOUT),
        _ => EgressError::Unreachable,
    }
}

/// Formats an error with its causes; reqwest's own message names only the outermost.
fn with_causes(error: &dyn Error) -> String {
    successors(error.source(), |&cause| cause.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
