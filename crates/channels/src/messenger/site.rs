//! The address of a messenger's API.

use super::ApiError;
use egress::{Egress, EgressRequest, EgressResponse};
use http::{HeaderMap, HeaderValue, Method};
use std::time::Duration;
use url::Url;

/// The largest response in bytes. Messages have some thousand characters each.
const MAX_RESPONSE: usize = 4 << 20;

/// The API of a messenger.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) egress: Egress,
    pub(crate) base: Url,
    /// Whether the address may be on this machine or in its networks.
    pub(crate) allow_private: bool,
}

impl Site {
    /// Returns the API at an address.
    ///
    /// # Errors
    /// The certificates of the system cannot be read, or the address is not one.
    pub(crate) fn new(base_url: &str, allow_private: bool) -> Result<Self, ApiError> {
        let egress = Egress::new(allow_private).map_err(ApiError::Unavailable)?;
        let unavailable = |_| ApiError::Unavailable("its `baseURL` is not a URL".to_owned());
        Ok(Self { egress, base: Url::parse(base_url).map_err(unavailable)?, allow_private })
    }

    /// Returns the address of a method or a file.
    ///
    /// # Errors
    /// The path leads elsewhere.
    pub(crate) fn url(&self, path: &str) -> Result<Url, ApiError> {
        egress::join_below(&self.base, path).map_err(|_| ApiError::Unavailable("an address is not allowed".to_owned()))
    }

    /// Sends a request; the caller reads the status.
    ///
    /// # Errors
    /// There is no response.
    pub(crate) async fn send(
        &self,
        (method, url): (Method, Url),
        headers: HeaderMap,
        body: Vec<u8>,
        timeout: Duration,
    ) -> Result<EgressResponse, ApiError> {
        let body = Some(body);
        let request = EgressRequest { method, url, headers, body, timeout, max_bytes: MAX_RESPONSE };
        self.egress.send(request).await.map_err(|error| ApiError::Unavailable(error.to_string()))
    }
}

/// Returns the value of `Authorization` with a token, which no log shows.
///
/// # Errors
/// The token cannot be sent.
pub(crate) fn authorization(scheme: &str, token: &str) -> Result<HeaderValue, ApiError> {
    let mut value = HeaderValue::try_from(format!("{scheme} {token}"))
        .map_err(|_| ApiError::refused("the token has characters that no token has"))?;
    value.set_sensitive(true);
    Ok(value)
}
