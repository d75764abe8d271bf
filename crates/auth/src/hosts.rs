//! Protection from DNS rebinding: another site can let its name point to this server and then
//! access it as its own origin. So requests are accepted only under local names and under the names
//! of the config.

use super::authority::Authority;
use axum::extract::Request;
use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use url::Url;

/// The host names of the config.
pub(crate) struct Hosts {
    /// The URLs under which browsers reach this server.
    urls: Vec<Url>,
}

impl Hosts {
    pub(super) fn new(urls: &[Url]) -> Self {
        Self { urls: urls.to_vec() }
    }

    /// Returns the origin under which browsers reach this host, such as `https://chat.example.com`: that of the
    /// config, or of this machine.
    pub(super) fn origin(&self, name: &Authority) -> Option<String> {
        // Behind a proxy the port may be missing in the request.
        let has_port = |url: &&Url| name.port().is_none_or(|port| url.port_or_known_default() == Some(port));
        let named = || self.named(name.host());
        let url = named().find(has_port).or_else(|| named().next());
        let own = || name.is_this_machine().then(|| format!("http://{}", name.as_str()));
        url.map(|url| url.origin().ascii_serialization()).or_else(own)
    }

    /// Returns whether browsers reach this name, given without a port, over `https`.
    pub(super) fn is_https(&self, host: &str) -> bool {
        self.named(host).any(|url| url.scheme() == "https")
    }

    pub(crate) fn contains(&self, name: &Authority) -> bool {
        name.is_this_machine() || self.named(name.host()).next().is_some()
    }

    /// Returns the URLs with this host name, given without a port.
    fn named(&self, host: &str) -> impl Iterator<Item = &Url> {
        self.urls.iter().filter(move |url| url.host_str().is_some_and(|known| known.eq_ignore_ascii_case(host)))
    }
}

/// Returns the origin under which the sender of a request reaches this server, if the config allows it: the origin of one of
/// the public URLs, or of this machine.
pub fn reached_origin(parts: &Parts, public_urls: &[Url]) -> Option<String> {
    Hosts::new(public_urls).origin(&named_host(&parts.uri, &parts.headers)?)
}

/// Returns the host that a request names. `None` if it is invalid, or if there are two, since a
/// proxy and this server could then read different ones.
pub fn requested_host(request: &Request) -> Option<Authority> {
    named_host(request.uri(), request.headers())
}

/// Returns the host of a request with this URI and these headers. In HTTP/2 the host is in the URI.
fn named_host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let hosts = headers.get_all(HOST).iter().map(|host| host.to_str().ok()).collect::<Vec<_>>();
    match (uri.authority(), hosts.as_slice()) {
        (_, [_, _, ..]) => None,
        (Some(authority), _) => Authority::parse(authority.as_str()),
        (None, [host]) => Authority::parse((*host)?),
        (None, []) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_configured_and_local_hosts_are_accepted() {
        let urls = ["https://Chat.example.com", "http://10.0.0.5:3000"].map(|url| Url::parse(url).unwrap());
        let hosts = Hosts::new(&urls);
        let check = |name: &str, expected: bool| {
            assert_eq!(Authority::parse(name).is_some_and(|name| hosts.contains(&name)), expected, "{name}");
        };
        check("chat.example.com", true);
        check("CHAT.example.com:443", true);
        check("10.0.0.5:3000", true);
        check("127.0.0.1:3000", true);
        check("example.com", false);
        check("chat.example.com.evil.test", false);
        check("evil.test:443", false);
        check("user@chat.example.com", false);
        let origin = |name: &str, expected: Option<&str>| {
            let seen = Authority::parse(name).and_then(|name| hosts.origin(&name));
            assert_eq!(seen.as_deref(), expected, "{name}");
        };
        origin("chat.example.com", Some("https://chat.example.com"));
        origin("CHAT.example.com:443", Some("https://chat.example.com"));
        origin("10.0.0.5:3000", Some("http://10.0.0.5:3000"));
        origin("127.0.0.1:3000", Some("http://127.0.0.1:3000"));
        origin("evil.test", None);
        assert!(hosts.is_https("chat.example.com") && !hosts.is_https("10.0.0.5") && !hosts.is_https("localhost"));
    }

    #[test]
    fn origin_is_that_of_the_public_url_with_the_name_in_the_request() {
        let urls = ["https://chat.example.com:8443"].map(|url| Url::parse(url).unwrap());
        let check = |uri: &str, host: Option<&str>, expected: Option<&str>| {
            let mut request = Request::builder().uri(uri);
            if let Some(host) = host {
                request = request.header(HOST, host);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(reached_origin(&parts, &urls).as_deref(), expected, "{uri} {host:?}");
        };
        let public = Some("https://chat.example.com:8443");
        check("/scim/v2/Users", Some("chat.example.com:8443"), public);
        check("/scim/v2/Users", Some("CHAT.example.com"), public);
        check("https://chat.example.com:8443/scim/v2/Users", None, public);
        check("/scim/v2/Users", Some("127.0.0.1:3000"), Some("http://127.0.0.1:3000"));
        check("/scim/v2/Users", Some("evil.test"), None);
        check("/scim/v2/Users", None, None);
    }
}
