#![doc = include_str!("../README.md")]

mod answers;
mod chat;
mod error;
mod reply;

pub use chat::Chat;
pub use error::Error;
pub use reply::Reply;
pub use wire::api::Answer;

use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use std::time::Duration;
use url::Url;
use wire::api::{ConversationList, ConversationView};
use wire::{ErrorCode, UserError};

/// A connection must be there by then.
const CONNECT: Duration = Duration::from_secs(10);
/// The server says something every 15 s, so longer silence means that the connection is dead.
const SILENCE: Duration = Duration::from_secs(40);
/// Bytes of an error that are looked at.
const MAX_ERROR: usize = 64 * 1024;

/// A server; a cheap handle on one pool of connections.
#[derive(Clone, Debug)]
pub struct Client {
    origin: Url,
    token: Option<HeaderValue>,
    http: reqwest::Client,
}

impl Client {
    /// The server at this address, such as `http://127.0.0.1:3000`.
    ///
    /// # Errors
    /// [`Error::Address`], and [`Error::Connection`] when the system's trusted certificates cannot be read.
    pub fn new(address: &str) -> Result<Self, Error> {
        let origin = Url::parse(address).map_err(|error| Error::Address(error.to_string()))?;
        if !matches!(origin.scheme(), "http" | "https") || !origin.has_host() {
            return Err(Error::Address("write it as in a browser, `https://chat.example.com`".to_owned()));
        }
        // An error only says that a provider of cryptography is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder().connect_timeout(CONNECT).read_timeout(SILENCE);
        // A redirect would carry the token elsewhere.
        let builder = builder.redirect(Policy::none()).user_agent(concat!("chatwright/", env!("CARGO_PKG_VERSION")));
        Ok(Self { origin, token: None, http: builder.build().map_err(Error::Connection)? })
    }

    /// Asks as the user whose key or token this is. One that no header can hold is refused by the server like a wrong one.
    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        let value = HeaderValue::from_str(&format!("Bearer {token}"));
        let mut value = value.unwrap_or_else(|_| HeaderValue::from_static("Bearer unreadable"));
        value.set_sensitive(true);
        self.token = Some(value);
        self
    }

    /// The chat with an agent, on a page.
    pub fn chat(&self, page_id: &str, agent_id: &str) -> Chat {
        Chat::new(self.clone(), page_id, agent_id)
    }

    /// A page of the user's conversations: at most `limit`, after what the last page's `next` says.
    ///
    /// # Errors
    /// See [`Error`]; so for the others.
    pub async fn conversations(&self, limit: u32, after: Option<&str>) -> Result<ConversationList, Error> {
        let limit = limit.to_string();
        let mut query = vec![("limit", limit.as_str())];
        query.extend(after.map(|cursor| ("cursor", cursor)));
        json(self.request(Method::GET, &["api", "conversations"], &query)).await
    }

    /// A conversation as it stands. A message that is being written is there as far as it has come.
    pub async fn conversation(&self, id: &str) -> Result<ConversationView, Error> {
        json(self.request(Method::GET, &["api", "conversations", id], &[])).await
    }

    /// Deletes a conversation.
    pub async fn delete(&self, id: &str) -> Result<(), Error> {
        accepted(self.request(Method::DELETE, &["api", "conversations", id], &[])).await.map(drop)
    }

    /// A request to a path, given by its parts, with the pairs of its query.
    pub(crate) fn request(&self, method: Method, path: &[&str], query: &[(&str, &str)]) -> RequestBuilder {
        let mut url = self.origin.clone();
        if let Ok(mut parts) = url.path_segments_mut() {
            parts.clear().extend(path);
        }
        url.set_query(None);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let request = self.http.request(method, url);
        match &self.token {
            Some(token) => request.header(AUTHORIZATION, token.clone()),
            None => request,
        }
    }
}

/// The answer of a server that has accepted.
pub(crate) async fn accepted(request: RequestBuilder) -> Result<Response, Error> {
    let response = request.send().await.map_err(Error::Connection)?;
    if response.status().is_success() { Ok(response) } else { Err(refused(response).await) }
}

async fn json<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, Error> {
    let body = accepted(request).await?.bytes().await.map_err(Error::Connection)?;
    serde_json::from_slice(&body).map_err(|error| Error::Unreadable(error.to_string()))
}

async fn refused(response: Response) -> Error {
    #[derive(serde::Deserialize)]
    struct Told {
        error: UserError,
    }
    let status = response.status();
    let body = match response.content_length() {
        Some(length) if length > MAX_ERROR as u64 => Vec::new(),
        _ => response.bytes().await.unwrap_or_default().to_vec(),
    };
    match serde_json::from_slice::<Told>(&body) {
        Ok(told) => Error::Refused(told.error),
        Err(_) => Error::Refused(UserError::new(code(status), format!("The server answered with {status}."))),
    }
}

/// What a status means, where nothing else is said: by a proxy on the way, for example.
fn code(status: StatusCode) -> ErrorCode {
    match status.as_u16() {
        401 => ErrorCode::Unauthenticated,
        403 => ErrorCode::Forbidden,
        404 => ErrorCode::NotFound,
        409 => ErrorCode::Busy,
        413 => ErrorCode::TooLarge,
        422 => ErrorCode::Invalid,
        429 => ErrorCode::RateLimited,
        502..=504 => ErrorCode::Unavailable,
        400..500 => ErrorCode::Malformed,
        _ => ErrorCode::Internal,
    }
}
