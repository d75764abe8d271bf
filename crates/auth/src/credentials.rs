//! The credentials of a request: the data from which its caller is identified.

use super::authority::Authority;
use super::hosts::requested_host;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderMap, HeaderValue, header};
use cookie::Cookie;
use std::net::{IpAddr, SocketAddr};

/// The headers of a request, its host and the address of its peer.
#[derive(Clone)]
pub struct Credentials {
    headers: HeaderMap,
    /// The host that the request names; in HTTP/2 it is not a header.
    authority: Option<Authority>,
    peer: Option<IpAddr>,
}

/// The request has contradicting or unreadable credentials. The text is for its sender.
#[derive(Debug, PartialEq, Eq)]
pub struct AmbiguousCredentials(pub String);

impl Credentials {
    /// Reads the credentials of a request.
    pub fn from_request(request: &Request) -> Self {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        // An IPv4 peer may appear as an IPv4-mapped IPv6 address, but the config names it as IPv4.
        let peer = peer.map(|ConnectInfo(address)| address.ip().to_canonical());
        Self { authority: requested_host(request), headers: request.headers().clone(), peer }
    }

    /// Returns the same credentials with other headers.
    pub(super) fn with_headers(&self, headers: HeaderMap) -> Self {
        Self { headers, ..self.clone() }
    }

    /// The address of the peer.
    pub fn peer(&self) -> Option<IpAddr> {
        self.peer
    }

    /// The values of `X-Forwarded-For`, in order.
    pub(super) fn forwarded_for(&self) -> Vec<&[u8]> {
        self.headers.get_all("x-forwarded-for").iter().map(HeaderValue::as_bytes).collect()
    }

    /// The host that the request names, without a port.
    pub fn host(&self) -> Option<&str> {
        self.authority.as_ref().map(Authority::host)
    }

    /// The host that the request names, with the port.
    pub(super) fn authority(&self) -> Option<&Authority> {
        self.authority.as_ref()
    }

    /// Returns the single value of a header.
    ///
    /// # Errors
    /// The header occurs twice, or is not text.
    pub fn header(&self, name: &str) -> Result<Option<&str>, AmbiguousCredentials> {
        let mut values = self.headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(value), None) => match value.to_str() {
                Ok(text) => Ok(Some(text.trim())),
                Err(_) => Err(AmbiguousCredentials(format!("The header `{name}` is not valid text."))),
            },
            (Some(_), Some(_)) => {
                Err(AmbiguousCredentials(format!("The header `{name}` occurs more than once. Send it once.")))
            }
        }
    }

    /// Returns the token of a `Bearer` authorization. Other schemes are ignored, since they may be
    /// for a proxy.
    ///
    /// # Errors
    /// As [`Self::header`].
    pub fn bearer(&self) -> Result<Option<&str>, AmbiguousCredentials> {
        let value = self.header(header::AUTHORIZATION.as_str())?;
        let parts = value.and_then(|value| value.split_once(' '));
        Ok(parts.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim()))
    }

    /// Returns the API key of the header `x-api-key`.
    ///
    /// # Errors
    /// As [`Self::header`].
    pub fn api_key(&self) -> Result<Option<&str>, AmbiguousCredentials> {
        self.header("x-api-key")
    }

    /// Returns the single value of a cookie.
    ///
    /// # Errors
    /// The cookie occurs with different values. A page of a sibling domain can add a cookie, but
    /// must not choose which one is read.
    pub fn cookie(&self, name: &str) -> Result<Option<String>, AmbiguousCredentials> {
        let mut found: Option<String> = None;
        for header in self.headers.get_all(header::COOKIE) {
            let Ok(header) = header.to_str() else { continue };
            for cookie in Cookie::split_parse(header).filter_map(Result::ok).filter(|cookie| cookie.name() == name) {
                if found.as_deref().is_some_and(|first| first != cookie.value()) {
                    let message = format!(
                        "The cookie `{name}` was sent twice, with different values. Delete the cookies of this site."
                    );
                    return Err(AmbiguousCredentials(message));
                }
                found = Some(cookie.value().to_owned());
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderName;

    fn credentials(headers: &[(&'static str, &'static str)]) -> Credentials {
        let pairs = headers.iter().map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap()));
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, value);
        }
        Credentials { headers, authority: None, peer: None }
    }

    #[test]
    fn ambiguous_credentials_are_rejected() {
        let check =
            |headers: &[(&'static str, &'static str)], bearer: Option<Option<&str>>, cookie: Option<Option<&str>>| {
                let sent = credentials(headers);
                assert_eq!(sent.bearer().ok(), bearer, "{headers:?}");
                assert_eq!(sent.cookie("c").ok(), cookie.map(|cookie| cookie.map(str::to_owned)), "{headers:?}");
            };
        check(&[], Some(None), Some(None));
        check(&[("authorization", "Bearer t"), ("cookie", "a=1; c=2")], Some(Some("t")), Some(Some("2")));
        check(&[("authorization", "bearer  t ")], Some(Some("t")), Some(None));
        check(&[("authorization", "Basic t")], Some(None), Some(None));
        check(&[("authorization", "Bearer t"), ("authorization", "Bearer u")], None, Some(None));
        check(&[("cookie", "c=1; c=1")], Some(None), Some(Some("1")));
        check(&[("cookie", "c=1; c=2")], Some(None), None);
        check(&[("cookie", "c=1"), ("cookie", "c=2")], Some(None), None);
        check(&[("cookie", "__Host-c=1")], Some(None), Some(None));
    }
}
