//! Requests to authorization servers. They follow no redirects, so that codes and secrets are sent to one address only.

use crate::OauthError;
use ::http::{HeaderMap, HeaderValue, Method, header};
use egress::{Egress, EgressRequest, EgressResponse};
use serde::de::DeserializeOwned;
use std::time::Duration;
use url::Url;

/// The timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(8);
/// The maximum size of an answer in bytes.
const MAX_ANSWER: usize = 128 << 10;

/// Sends requests.
#[derive(Clone)]
pub struct OauthHttp {
    egress: Egress,
    /// Whether addresses of this machine and its networks, and `http://`, are allowed.
    allow_private: bool,
}

impl OauthHttp {
    /// Creates a client. With `allow_private`, addresses of this machine and its networks, and `http://`, are allowed.
    ///
    /// # Errors
    /// The system's trusted certificates cannot be read.
    pub fn new(allow_private: bool) -> Result<Self, OauthError> {
        let failed = |_| OauthError::Invalid("the system's trusted certificates cannot be read");
        Ok(Self { egress: Egress::without_redirects(allow_private).map_err(failed)?, allow_private })
    }

    /// Parses an address that a server has named.
    ///
    /// # Errors
    /// It is none, or must not be used.
    pub fn address(&self, text: &str) -> Result<Url, OauthError> {
        let url = Url::parse(text).map_err(|_| OauthError::Invalid("a server names an address that is not valid"))?;
        let is_scheme = url.scheme() == "https" || (self.allow_private && url.scheme() == "http");
        if !is_scheme || url.host().is_none() || !url.username().is_empty() || url.password().is_some() {
            return Err(OauthError::Invalid("a server names an address that must not be used"));
        }
        Ok(url)
    }

    /// Requests a JSON document; `None` if there is none at this address.
    pub(crate) async fn document<T: DeserializeOwned>(
        &self,
        receiver: &'static str,
        url: Url,
    ) -> Result<Option<T>, OauthError> {
        let answer = self.send(receiver, Method::GET, url, HeaderMap::new(), None).await?;
        match answer.status {
            200 => Ok(serde_json::from_slice(&answer.body).ok()),
            400..=499 => Ok(None),
            status => Err(OauthError::Unreachable(receiver, format!("HTTP {status}"))),
        }
    }

    /// Sends a request that accepts JSON. `receiver` names the receiver in errors.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn send(
        &self,
        receiver: &'static str,
        method: Method,
        url: Url,
        mut headers: HeaderMap,
        body: Option<Vec<u8>>,
    ) -> Result<EgressResponse, OauthError> {
        headers.entry(header::ACCEPT).or_insert(HeaderValue::from_static("application/json"));
        let request = EgressRequest { method, url, headers, body, timeout: TIMEOUT, max_bytes: MAX_ANSWER };
        self.egress.send(request).await.map_err(OauthError::unreachable(receiver))
    }
}
