//! The authority of a request: a host with an optional port.

use axum::http::uri::Authority as HttpAuthority;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// A host with an optional port, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority {
    text: HttpAuthority,
}

impl Authority {
    /// Parses an authority. Returns `None` for anything but a host with an optional port: user
    /// info, text after brackets, brackets without an IPv6 address, or an invalid port.
    pub fn parse(text: &str) -> Option<Self> {
        let parsed: HttpAuthority = text.parse().ok()?;
        let host = parsed.host();
        let rest = text.strip_prefix(host)?;
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
        let is_whole = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
        let is_host = match host.strip_prefix('[') {
            Some(address) => address.strip_suffix(']')?.parse::<Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)),
        };
        (is_whole && is_host).then_some(Self { text: parsed })
    }

    /// The host without the port; an IPv6 address keeps its brackets.
    pub fn host(&self) -> &str {
        self.text.host()
    }

    /// The host with the port, as written.
    pub(super) fn as_str(&self) -> &str {
        self.text.as_str()
    }

    /// The port, if there is one.
    pub(super) fn port(&self) -> Option<u16> {
        self.text.port_u16()
    }

    /// Returns whether this is `localhost` or a loopback address.
    pub fn is_this_machine(&self) -> bool {
        let host = self.host();
        let address = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// Returns whether both are the same, ignoring case.
    pub fn is_same(&self, other: &Self) -> bool {
        self.text.as_str().eq_ignore_ascii_case(other.text.as_str())
    }
}

/// Formats the host and the port, as they were written.
impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn authorities_are_parsed_strictly() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(Authority::parse(text).as_ref().map(Authority::host), expected, "{text}");
        };
        check("a.test", Some("a.test"));
        check("a.test:80", Some("a.test"));
        check("xn--bcher-kva.test", Some("xn--bcher-kva.test"));
        check("my_service:80", Some("my_service"));
        check("[::1]:80", Some("[::1]"));
        check("[::1]", Some("[::1]"));
        for refused in [
            "",
            ":80",
            "a.test:",
            "a.test:http",
            "a.test:99999",
            "a.test:+80",
            "a.test:80:80",
            "user@a.test",
            "a.test/path",
            "a.test?x",
            "a test",
            "a.test, b.test",
            "[::1]evil",
            "[::1].evil.test",
            "[::1]evil:80",
            "[::1",
            "[a.test]",
            "::1",
            "127.0.0.1%2eevil",
        ] {
            check(refused, None);
        }
    }

    #[test]
    fn local_names_are_recognized() {
        let check = |name: &str, expected: bool| {
            let found = Authority::parse(name).is_some_and(|name| name.is_this_machine());
            assert_eq!(found, expected, "{name}");
        };
        check("127.0.0.1:3000", true);
        check("127.0.0.9", true);
        check("localhost:3000", true);
        check("LOCALHOST", true);
        check("[::1]:3000", true);
        check("evil.test", false);
        check("127.0.0.1.evil.test", false);
        check("localhost.evil.test:3000", false);
        check("[::1]evil", false);
        check("10.0.0.1", false);
        check("[::2]", false);
        check("", false);
    }

    proptest! {
        /// An accepted text is exactly a host and a port.
        #[test]
        fn accepted_authority_is_only_host_and_port(text in "[a-z0-9.:@/\\[\\]%, _-]{0,24}") {
            if let Some(authority) = Authority::parse(&text) {
                let rest = text.strip_prefix(authority.host()).unwrap();
                prop_assert!(rest.is_empty() || rest.strip_prefix(':').unwrap().parse::<u16>().is_ok(), "{}", text);
                prop_assert!(!authority.host().contains(['@', '/', '%', ',', ' ']), "{}", text);
            }
        }
    }
}
