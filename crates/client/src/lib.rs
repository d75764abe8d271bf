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

/// The connect timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The read timeout. The server sends a keep-alive every 15 s, so longer silence means that the
/// connection is dead.
const READ_TIMEOUT: Duration = Duration::from_secs(40);
/// The maximum number of bytes of an error response that are parsed.
const MAX_ERROR: usize = 64 * 1024;

/// A client of one server; a cheap handle to a connection pool.
#[derive(Clone, Debug)]
pub struct Client {
    origin: Url,
    token: Option<HeaderValue>,
    http: reqwest::Client,
}

impl Client {
    /// Creates a client of the server at this URL, such as `http://127.0.0.1:3000`.
    ///
    /// # Errors
    /// [`Error::Address`], and [`Error::Connection`] if the system's trusted certificates cannot be
    /// read.
    pub fn new(address: &str) -> Result<Self, Error> {
        let origin = Url::parse(address).map_err(|error| Error::Address(error.to_string()))?;
        if !matches!(origin.scheme(), "http" | "https") || !origin.has_host() {
            return Err(Error::Address("write it as in a browser, `https://chat.example.com`".to_owned()));
        }
        // Fails only if a crypto provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder().connect_timeout(CONNECT_TIMEOUT).read_timeout(READ_TIMEOUT);
        // A redirect could send the token to another server.
        let builder = builder.redirect(Policy::none()).user_agent(concat!("chatwright/", env!("CARGO_PKG_VERSION")));
        Ok(Self { origin, token: None, http: builder.build().map_err(Error::Connection)? })
    }

    /// Sets the API key or token of the user. A token that is invalid in a header is refused by the
    /// server like any wrong one.
    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        let value = HeaderValue::from_str(&format!("Bearer {token}"));
        let mut value = value.unwrap_or_else(|_| HeaderValue::from_static("Bearer unreadable"));
        value.set_sensitive(true);
        self.token = Some(value);
        self
    }

    /// Returns the chat with an agent on a page.
    pub fn chat(&self, page_id: &str, agent_id: &str) -> Chat {
        Chat::new(self.clone(), page_id, agent_id)
    }

    /// Lists the user's conversations: at most `limit`, after the `next` cursor of the previous
    /// page.
    ///
    /// # Errors
    /// See [`Error`]; the same for the other methods.
    pub async fn conversations(&self, limit: u32, after: Option<&str>) -> Result<ConversationList, Error> {
        let limit = limit.to_string();
        let mut query = vec![("limit", limit.as_str())];
        query.extend(after.map(|cursor| ("cursor", cursor)));
        json(self.request(Method::GET, &["api", "conversations"], &query)).await
    }

    /// Loads a conversation, including a message that is still being generated, as far as it
    /// exists.
    pub async fn conversation(&self, id: &str) -> Result<ConversationView, Error> {
        json(self.request(Method::GET, &["api", "conversations", id], &[])).await
    }

    /// Deletes a conversation.
    pub async fn delete(&self, id: &str) -> Result<(), Error> {
        send_checked(self.request(Method::DELETE, &["api", "conversations", id], &[])).await.map(drop)
    }

    /// Builds a request from path segments and query pairs.
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

/// Sends a request and returns a successful response.
pub(crate) async fn send_checked(request: RequestBuilder) -> Result<Response, Error> {
    let response = request.send().await.map_err(Error::Connection)?;
    if response.status().is_success() { Ok(response) } else { Err(refusal_error(response).await) }
}

async fn json<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, Error> {
    let body = send_checked(request).await?.bytes().await.map_err(Error::Connection)?;
    serde_json::from_slice(&body).map_err(|error| Error::Unreadable(error.to_string()))
}

async fn refusal_error(response: Response) -> Error {
    #[derive(serde::Deserialize)]
    struct ErrorBody {
        error: UserError,
    }
    let status = response.status();
    let body = match response.content_length() {
        Some(length) if length > MAX_ERROR as u64 => Vec::new(),
        _ => response.bytes().await.unwrap_or_default().to_vec(),
    };
    match serde_json::from_slice::<ErrorBody>(&body) {
        Ok(told) => Error::Refused(told.error),
        Err(_) => {
            Error::Refused(UserError::new(code_for_status(status), format!("The server answered with {status}.")))
        }
    }
}

/// Maps a status to an error code when the response has none, for example from a proxy.
fn code_for_status(status: StatusCode) -> ErrorCode {
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
