//! The address of a client, from the `X-Forwarded-For` of trusted proxies.

use ipnet::IpNet;
use metrics::counter;
use parking_lot::Mutex;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};

/// Stands for all clients behind a proxy on this machine whose header cannot be read. They are
/// counted together, since the proxy's own loopback address would not be counted at all.
const UNKNOWN_CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// The minimum interval between warnings in the log.
const WARN_EVERY: Duration = Duration::from_secs(60);

/// How long `/readyz` reports an unreadable header.
const REPORTED_FOR: Duration = Duration::from_secs(600);

/// Determines the addresses of clients.
pub(super) struct Forwarded {
    /// The networks of trusted proxies.
    proxies: Vec<IpNet>,
    unreadable: Mutex<UnreadableHeaders>,
}

/// When trusted proxies sent unreadable headers.
#[derive(Default)]
struct UnreadableHeaders {
    last: Option<Instant>,
    warned: Option<Instant>,
}

impl Forwarded {
    pub(super) fn new(proxies: Vec<IpNet>) -> Self {
        Self { proxies, unreadable: Mutex::default() }
    }

    /// Returns the client's address: that of the peer, or the one that trusted proxies name. `None`
    /// if the connection has no address.
    pub(super) fn address(&self, peer: Option<IpAddr>, headers: &[&[u8]]) -> Option<IpAddr> {
        let peer = peer?;
        if !self.is_proxy(peer) {
            return Some(peer);
        }
        // Each proxy appends the address of its client. Everything before the first address that is
        // not a proxy's was written by that client.
        let elements = headers.iter().rev().flat_map(|header| header.rsplit(|byte| *byte == b','));
        let (mut address, mut is_named) = (peer, false);
        // What a client is counted as if its own address is not usable.
        let mut nearest = if peer.is_loopback() { UNKNOWN_CLIENT } else { peer };
        for element in elements {
            let Some(named) = std::str::from_utf8(element).ok().and_then(parse) else {
                self.report(Instant::now());
                return Some(nearest);
            };
            (address, is_named) = (named, true);
            if !named.is_loopback() {
                nearest = named;
            }
            if !self.is_proxy(address) {
                break;
            }
        }
        // A loopback address that a proxy names is not that of this machine's owner.
        Some(if is_named && address.is_loopback() { nearest } else { address })
    }

    /// Returns whether a trusted proxy recently sent an unreadable header.
    pub(super) fn is_unreadable(&self) -> bool {
        self.unreadable.lock().last.is_some_and(|last| last.elapsed() < REPORTED_FOR)
    }

    fn is_proxy(&self, address: IpAddr) -> bool {
        self.proxies.iter().any(|network| network.contains(&address))
    }

    /// Counts an unreadable header, and logs a warning at most once per interval.
    fn report(&self, now: Instant) {
        counter!("chatwright_forwarded_unreadable_total").increment(1);
        let mut unreadable = self.unreadable.lock();
        unreadable.last = Some(now);
        if unreadable.warned.is_some_and(|warned| now.duration_since(warned) < WARN_EVERY) {
            return;
        }
        unreadable.warned = Some(now);
        tracing::warn!(
            "a trusted proxy sent an `X-Forwarded-For` without a valid address; all clients behind it count as one client"
        );
    }
}

/// Parses an element of the header in any form that proxies write: bare, in quotes, in brackets,
/// with a port or a zone.
fn parse(element: &str) -> Option<IpAddr> {
    let text = element.trim();
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    if let Some(text) = text.strip_prefix('[') {
        let (address, rest) = text.split_once(']')?;
        let is_whole = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
        return parse_ipv6(address).filter(|_| is_whole);
    }
    if let Some(address) = parse_ipv6(text) {
        return Some(address);
    }
    match text.split_once(':') {
        Some((address, port)) if is_port(port) => address.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
        Some(_) => None,
        None => text.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
    }
}

/// Parses an IPv6 address without its zone. An IPv4-mapped address becomes an IPv4 address.
fn parse_ipv6(text: &str) -> Option<IpAddr> {
    let address = match text.split_once('%') {
        Some((address, zone)) if !zone.is_empty() => address,
        Some(_) => return None,
        None => text,
    };
    address.parse::<Ipv6Addr>().ok().map(|address| address.to_canonical())
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

/// Returns the address or network that counts as one client: for IPv6 the /64 network, since a
/// client usually has all of its addresses. `None` for loopback, which is the owner, or a proxy
/// that the config does not name.
pub fn network(address: IpAddr) -> Option<IpAddr> {
    match address {
        address if address.is_loopback() => None,
        IpAddr::V4(_) => Some(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Some(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::SocketAddr;

    fn address(peer: &str, headers: &[&str]) -> (Option<String>, bool) {
        let forwarded = Forwarded::new(vec!["10.0.0.0/8".parse().unwrap(), "127.0.0.1/32".parse().unwrap()]);
        let headers: Vec<_> = headers.iter().map(|header| header.as_bytes()).collect();
        let found = forwarded.address(Some(peer.parse().unwrap()), &headers);
        (found.map(|address| address.to_string()), forwarded.is_unreadable())
    }

    #[test]
    fn addresses_are_parsed_in_all_forms_of_proxies() {
        let check = |element: &str, expected: Option<&str>| {
            let found = parse(element).map(|address| address.to_string());
            assert_eq!(found.as_deref(), expected, "{element:?}");
        };
        check("203.0.113.1", Some("203.0.113.1"));
        check(" 203.0.113.1 ", Some("203.0.113.1"));
        check("203.0.113.1:5555", Some("203.0.113.1"));
        check("\"203.0.113.1:5555\"", Some("203.0.113.1"));
        check("2001:db8::1", Some("2001:db8::1"));
        check("[2001:db8::1]", Some("2001:db8::1"));
        check("[2001:db8::1]:5555", Some("2001:db8::1"));
        check("\"[2001:db8::1]:5555\"", Some("2001:db8::1"));
        check("fe80::1%eth0", Some("fe80::1"));
        check("[fe80::1%25eth0]:80", Some("fe80::1"));
        check("::ffff:203.0.113.1", Some("203.0.113.1"));
        check("[::ffff:203.0.113.1]:80", Some("203.0.113.1"));
        for unreadable in [
            "",
            "unknown",
            "_hidden",
            "for=203.0.113.1",
            "203.0.113.1:",
            "203.0.113.1:http",
            "203.0.113.1:99999",
            "203.0.113.256",
            "[203.0.113.1]",
            "[2001:db8::1",
            "[2001:db8::1]evil",
            "[2001:db8::1]:+1",
            "fe80::1%",
            "example.com",
        ] {
            check(unreadable, None);
        }
    }

    #[test]
    fn clients_are_counted_whatever_the_header_says() {
        let check = |peer: &str, headers: &[&str], expected: &str, is_unreadable: bool| {
            let found = address(peer, headers);
            assert_eq!(found, (Some(expected.to_owned()), is_unreadable), "{peer} {headers:?}");
            // If a proxy says anything, some client is counted.
            let counted = network(expected.parse().unwrap());
            assert!(headers.is_empty() || counted.is_some(), "{peer} {headers:?}");
        };
        check("192.0.2.1", &[], "192.0.2.1", false);
        check("192.0.2.1", &["198.51.100.1"], "192.0.2.1", false);
        check("10.0.0.1", &[], "10.0.0.1", false);
        check("127.0.0.1", &[], "127.0.0.1", false);
        check("10.0.0.1", &["198.51.100.1:443"], "198.51.100.1", false);
        check("127.0.0.1", &["203.0.113.1:5555"], "203.0.113.1", false);
        check("127.0.0.1", &["[2001:db8::1]:5555"], "2001:db8::1", false);
        check("10.0.0.1", &["203.0.113.9, 198.51.100.1, 10.0.0.2:81"], "198.51.100.1", false);
        check("10.0.0.1", &["203.0.113.9", "198.51.100.1"], "198.51.100.1", false);
        for named in ["127.0.0.1", "127.0.0.2", "::1", "[::1]:80", "::ffff:127.0.0.1", "127.0.0.1, 127.0.0.1"] {
            check("127.0.0.1", &[named], "0.0.0.0", false);
            check("10.0.0.1", &[named], "10.0.0.1", false);
        }
        check("127.0.0.1", &["::1, 10.0.0.2"], "10.0.0.2", false);
        check("127.0.0.1", &["203.0.113.9, 127.0.0.1"], "203.0.113.9", false);
        check("127.0.0.1", &["203.0.113.9, unknown"], "0.0.0.0", true);
        check("127.0.0.1", &[""], "0.0.0.0", true);
        check("127.0.0.1", &["unknown"], "0.0.0.0", true);
        check("127.0.0.1", &["203.0.113.9, unknown, 10.0.0.2"], "10.0.0.2", true);
        check("10.0.0.1", &["203.0.113.9,"], "10.0.0.1", true);
    }

    #[test]
    fn addresses_are_counted_by_network() {
        let networks = ["127.0.0.1", "::1", "192.0.2.1", "2001:db8:1:2:3:4:5:6"]
            .map(|address| network(address.parse().unwrap()).map(|network| network.to_string()));
        assert_eq!(networks, [None, None, Some("192.0.2.1".to_owned()), Some("2001:db8:1:2::".to_owned())]);
    }

    proptest! {
        /// Clients control the header: no text makes the parser panic, and every form of an address
        /// is read as that address.
        #[test]
        fn any_header_is_parsed_or_rejected(text in any::<String>(), address in any::<IpAddr>(), port in any::<u16>()) {
            let _ = parse(&text);
            let plain = address.to_canonical();
            prop_assert_eq!(parse(&address.to_string()), Some(plain));
            prop_assert_eq!(parse(&SocketAddr::new(address, port).to_string()), Some(plain));
            prop_assert_eq!(parse(&format!(" \"{}\" ", SocketAddr::new(address, port))), Some(plain));
        }
    }
}
