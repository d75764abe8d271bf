//! What a request brings along to say who sends it.

use super::hosts::asked_name;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderMap, HeaderValue, header};
use cookie::Cookie;
use std::net::{IpAddr, SocketAddr};

/// What a request brings along: its headers, and from where it came.
#[derive(Clone)]
pub(crate) struct Credentials {
    headers: HeaderMap,
    /// The name by which the server was asked; over HTTP/2 it stands in no header.
    host: Option<String>,
    peer: Option<IpAddr>,
}

/// A request says something twice, or so that nobody can read it. The text is for its sender.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ambiguous(pub(crate) String);

impl Credentials {
    pub(crate) fn of(request: &Request) -> Self {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        // An IPv4 address may come as one of IPv6, and proxies are named by the former.
        let peer = peer.map(|ConnectInfo(address)| address.ip().to_canonical());
        let host = asked_name(request).map(|name| name.host().to_owned());
        Self { host, headers: request.headers().clone(), peer }
    }

    /// The same with other headers.
    pub(super) fn with(&self, headers: HeaderMap) -> Self {
        Self { headers, ..self.clone() }
    }

    /// The other end of the connection.
    pub(crate) fn peer(&self) -> Option<IpAddr> {
        self.peer
    }

    /// The values of `X-Forwarded-For`, in the order in which they stand.
    pub(super) fn forwarded(&self) -> Vec<&[u8]> {
        self.headers.get_all("x-forwarded-for").iter().map(HeaderValue::as_bytes).collect()
    }

    /// The name by which the server was asked, without a port.
    pub(crate) fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// The one value of a header.
    ///
    /// # Errors
    /// It is there twice, or is no text.
    pub(crate) fn header(&self, name: &str) -> Result<Option<&str>, Ambiguous> {
        let mut values = self.headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(value), None) => match value.to_str() {
                Ok(text) => Ok(Some(text.trim())),
                Err(_) => Err(Ambiguous(format!("The header `{name}` cannot be read."))),
            },
            (Some(_), Some(_)) => Err(Ambiguous(format!("The header `{name}` is there twice. Send it once."))),
        }
    }

    /// The token after `Bearer`; other ways to authorize are a proxy's business.
    ///
    /// # Errors
    /// As [`Self::header`].
    pub(crate) fn bearer(&self) -> Result<Option<&str>, Ambiguous> {
        let value = self.header(header::AUTHORIZATION.as_str())?;
        let parts = value.and_then(|value| value.split_once(' '));
        Ok(parts.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim()))
    }

    /// The key of a program that is not sent as a bearer's.
    ///
    /// # Errors
    /// As [`Self::header`].
    pub(crate) fn api_key(&self) -> Result<Option<&str>, Ambiguous> {
        self.header("x-api-key")
    }

    /// The one value of a cookie.
    ///
    /// # Errors
    /// It is there twice, with different values: a page of a sibling domain can add a cookie, but not choose which one is read.
    pub(crate) fn cookie(&self, name: &str) -> Result<Option<String>, Ambiguous> {
        let mut found: Option<String> = None;
        for header in self.headers.get_all(header::COOKIE) {
            let Ok(header) = header.to_str() else { continue };
            for cookie in Cookie::split_parse(header).filter_map(Result::ok).filter(|cookie| cookie.name() == name) {
                if found.as_deref().is_some_and(|first| first != cookie.value()) {
                    let message = format!("The cookie `{name}` is there twice. Delete the cookies of this site.");
                    return Err(Ambiguous(message));
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
        Credentials { headers, host: None, peer: None }
    }

    #[test]
    fn what_is_sent_once_is_read() {
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
