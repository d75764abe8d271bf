//! The client.

use crate::address::is_public;
use crate::error::EgressError;
use crate::resolver::{LeadsInside, PublicOnly};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Method, Response};
use std::error::Error;
use std::iter::successors;
use std::time::Duration;
use url::{Host, Url};

/// A connection must be there by then.
const CONNECT: Duration = Duration::from_secs(10);
/// Connections that are kept to one host without being used, and for how long: as many as come at once often, and no longer than most
/// servers keep them.
const IDLE: usize = 16;
const IDLE_TIME: Duration = Duration::from_secs(30);
/// How many redirects are followed.
const MAX_REDIRECTS: usize = 3;

/// Where requests may go; a cheap handle on one pool of connections.
#[derive(Clone)]
pub struct Egress {
    client: Client,
    allow_private: bool,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The whole address.
    pub url: Url,
    /// Headers; those with secrets marked as sensitive.
    pub headers: HeaderMap,
    /// The body, if there is one.
    pub body: Option<Vec<u8>>,
    /// For everything, redirects and the last byte of the answer included.
    pub time: Duration,
    /// Bytes of the answer's body, unpacked.
    pub max_bytes: usize,
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The media type as it was sent.
    pub content_type: Option<String>,
    /// The body, whole.
    pub body: Vec<u8>,
}

impl Egress {
    /// A client that reaches public addresses only, or also those of this machine and its networks.
    ///
    /// # Errors
    /// One line for the operator, when the system's trusted certificates cannot be read.
    pub fn new(allow_private: bool) -> Result<Self, String> {
        // An error only says that a provider of cryptography is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Client::builder()
            .redirect(Policy::custom(follow))
            .connect_timeout(CONNECT)
            .pool_max_idle_per_host(IDLE)
            .pool_idle_timeout(IDLE_TIME)
            // A proxy would resolve the names itself.
            .no_proxy()
            .user_agent(concat!("chatwright/", env!("CARGO_PKG_VERSION")));
        let builder = if allow_private { builder } else { builder.dns_resolver(PublicOnly) };
        let client = builder.build().map_err(|error| chain(&error))?;
        Ok(Self { client, allow_private })
    }

    /// Sends a request and waits for the whole answer, whatever its status is.
    ///
    /// # Errors
    /// See [`EgressError`].
    pub async fn send(&self, request: Request) -> Result<Answer, EgressError> {
        self.check(&request.url)?;
        let (time, max_bytes) = (request.time, request.max_bytes);
        let answer = tokio::time::timeout(time, async {
            let builder = self.client.request(request.method, request.url).headers(request.headers);
            let builder = match request.body {
                Some(body) => builder.body(body),
                None => builder,
            };
            read(builder.send().await.map_err(explain)?, max_bytes).await
        });
        answer.await.unwrap_or(Err(EgressError::TimedOut(time)))
    }

    /// The client below, for a protocol that speaks for itself and only to this address.
    ///
    /// # Errors
    /// [`EgressError::NoWebAddress`], [`EgressError::NotPublic`].
    pub fn client(&self, url: &Url) -> Result<Client, EgressError> {
        self.check(url)?;
        Ok(self.client.clone())
    }

    /// A host that is an address is not resolved, so it is looked at here; names are when they are resolved.
    fn check(&self, url: &Url) -> Result<(), EgressError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(EgressError::NoWebAddress);
        }
        let is_public = match url.host().ok_or(EgressError::NoWebAddress)? {
            Host::Ipv4(address) => is_public(address.into()),
            Host::Ipv6(address) => is_public(address.into()),
            Host::Domain(name) => !is_this_machine(name),
        };
        if is_public || self.allow_private { Ok(()) } else { Err(EgressError::NotPublic) }
    }
}

/// Names that mean this machine wherever they are resolved (RFC 6761, 6.3).
fn is_this_machine(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

/// On the way to another origin the client would take off `Authorization` and cookies only, and other headers hold keys, too.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let same = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    if same && attempt.previous().len() <= MAX_REDIRECTS { attempt.follow() } else { attempt.error(Elsewhere) }
}

#[derive(Debug, thiserror::Error)]
#[error("a redirect to another origin, or one too many")]
struct Elsewhere;

async fn read(mut response: Response, max_bytes: usize) -> Result<Answer, EgressError> {
    let status = response.status().as_u16();
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(explain)? {
        if body.len() + chunk.len() > max_bytes {
            return Err(EgressError::TooLarge(max_bytes));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer { status, content_type, body })
}

fn explain(error: reqwest::Error) -> EgressError {
    // The address may hold a key.
    let error = error.without_url();
    tracing::warn!(cause = chain(&error), "a request failed");
    let is =
        |wanted: fn(&(dyn Error + 'static)) -> bool| successors(error.source(), |&cause| cause.source()).any(wanted);
    match &error {
        _ if is(|cause| cause.is::<LeadsInside>()) => EgressError::NotPublic,
        _ if is(|cause| cause.is::<Elsewhere>()) => EgressError::Redirected,
        error if error.is_timeout() => EgressError::TimedOut(CONNECT),
        _ => EgressError::Unreachable,
    }
}

/// An error with its causes; reqwest's own text names only the outermost.
fn chain(error: &dyn Error) -> String {
    successors(error.source(), |&cause| cause.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
