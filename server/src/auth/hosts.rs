//! Protection from DNS rebinding: a page of another site can make its name point to this server and then talk to it as
//! its own origin. So only names of this machine are answered, and those that the config gives the server.

use super::authority::Authority;
use crate::error::HttpError;
use crate::router::AppState;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{StatusCode, header::HOST};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::SocketAddr;
use url::Url;
use wire::{ErrorCode, UserError};

/// The names that the config gives the server.
pub(crate) struct Hosts {
    /// In lower case, and whether it is reached over `https`.
    names: Vec<(String, bool)>,
}

impl Hosts {
    pub(super) fn new(urls: &[Url]) -> Self {
        let name = |url: &Url| Some((url.host_str()?.to_ascii_lowercase(), url.scheme() == "https"));
        Self { names: urls.iter().filter_map(name).collect() }
    }

    /// Whether browsers reach this name, without a port, over `https`.
    pub(super) fn is_https(&self, host: &str) -> bool {
        self.names.iter().any(|(name, is_https)| *is_https && host.eq_ignore_ascii_case(name))
    }

    fn has(&self, name: &Authority) -> bool {
        name.is_this_machine() || self.names.iter().any(|(known, _)| name.host().eq_ignore_ascii_case(known))
    }
}

/// Answers 421 unless the request names this server.
pub(crate) async fn check_host(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let authentication = state.composition.current.authentication();
    if asked_name(&request).is_some_and(|name| authentication.hosts.has(&name)) {
        return next.run(request).await;
    }
    let message = match authentication.is_local() {
        true => "This server answers only to the name of this machine, for example http://127.0.0.1.",
        false => "This server does not answer to this name. Its operator lists its names in `publicUrls`.",
    };
    let error = HttpError(UserError::new(ErrorCode::Forbidden, message)).into_response();
    (StatusCode::MISDIRECTED_REQUEST, error).into_response()
}

/// Answers 404 unless the request was made on this machine and by its name: a proxy on it passes on the name by which
/// it was asked itself.
pub(crate) async fn only_this_machine(request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let is_here = peer.is_some_and(|ConnectInfo(address)| address.ip().to_canonical().is_loopback());
    if is_here && asked_name(&request).is_some_and(|name| name.is_this_machine()) {
        return next.run(request).await;
    }
    HttpError(UserError::not_found()).into_response()
}

/// The one name by which the server was asked. None when there are two, since which one counts would depend on who
/// reads them, or when it is no name.
pub(super) fn asked_name(request: &Request) -> Option<Authority> {
    let hosts = request.headers().get_all(HOST).iter().map(|host| host.to_str().ok()).collect::<Vec<_>>();
    match (request.uri().authority(), hosts.as_slice()) {
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
    fn names_of_the_config() {
        let urls = ["https://Chat.example.com", "http://10.0.0.5:3000"].map(|url| Url::parse(url).unwrap());
        let hosts = Hosts::new(&urls);
        let check = |name: &str, expected: bool| {
            assert_eq!(Authority::parse(name).is_some_and(|name| hosts.has(&name)), expected, "{name}");
        };
        check("chat.example.com", true);
        check("CHAT.example.com:443", true);
        check("10.0.0.5:3000", true);
        check("127.0.0.1:3000", true);
        check("example.com", false);
        check("chat.example.com.evil.test", false);
        check("evil.test:443", false);
        check("user@chat.example.com", false);
        assert!(hosts.is_https("chat.example.com") && !hosts.is_https("10.0.0.5") && !hosts.is_https("localhost"));
    }
}
