//! The address of a client, as far as the proxies in front of this server name it in `X-Forwarded-For`.

use ipnet::IpNet;
use metrics::counter;
use parking_lot::Mutex;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};

/// Stands for every client behind a proxy on this machine whose header cannot be read. Such clients are
/// counted together: if they were counted as the proxy's own loopback address, none would be counted.
const UNKNOWN: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// At most one warning is logged in this time.
const WARN_EVERY: Duration = Duration::from_secs(60);

/// For so long after the last unreadable header `/readyz` mentions it.
const REPORTED_FOR: Duration = Duration::from_secs(600);

/// Finds out the addresses of clients.
pub(super) struct Forwarded {
    /// The networks whose word about addresses counts.
    proxies: Vec<IpNet>,
    unreadable: Mutex<Unreadable>,
}

/// Headers of trusted proxies that could not be read.
#[derive(Default)]
struct Unreadable {
    last: Option<Instant>,
    warned: Option<Instant>,
}

impl Forwarded {
    pub(super) fn new(proxies: Vec<IpNet>) -> Self {
        Self { proxies, unreadable: Mutex::default() }
    }

    /// The client's address: the other end of the connection, or what trusted proxies say of it. None where the
    /// connection has no address.
    pub(super) fn address(&self, peer: Option<IpAddr>, headers: &[&[u8]]) -> Option<IpAddr> {
        let peer = peer?;
        if !self.is_proxy(peer) {
            return Some(peer);
        }
        // Each proxy appends the address that it was asked from. What stands before the first address that is
        // no proxy's was written by that client itself.
        let elements = headers.iter().rev().flat_map(|header| header.rsplit(|byte| *byte == b','));
        let mut address = peer;
        for element in elements {
            let Some(named) = std::str::from_utf8(element).ok().and_then(parse) else {
                self.report(Instant::now());
                return Some(if address.is_loopback() { UNKNOWN } else { address });
            };
            address = named;
            if !self.is_proxy(address) {
                break;
            }
        }
        Some(address)
    }

    /// Whether the header of a trusted proxy could not be read a short while ago.
    pub(super) fn is_unreadable(&self) -> bool {
        self.unreadable.lock().last.is_some_and(|last| last.elapsed() < REPORTED_FOR)
    }

    fn is_proxy(&self, address: IpAddr) -> bool {
        self.proxies.iter().any(|network| network.contains(&address))
    }

    /// Warns the operator, but not for each request.
    fn report(&self, now: Instant) {
        counter!("chatwright_forwarded_unreadable_total").increment(1);
        let mut unreadable = self.unreadable.lock();
        unreadable.last = Some(now);
        if unreadable.warned.is_some_and(|warned| now.duration_since(warned) < WARN_EVERY) {
            return;
        }
        unreadable.warned = Some(now);
        tracing::warn!(
            "a trusted proxy sends an `X-Forwarded-For` that names no address; the clients behind it are counted as one"
        );
    }
}

/// The address in an element of the header: bare, in quotes, in brackets, with a port or a zone, as proxies write it.
fn parse(element: &str) -> Option<IpAddr> {
    let text = element.trim();
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    if let Some(text) = text.strip_prefix('[') {
        let (address, rest) = text.split_once(']')?;
        let is_whole = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
        return v6(address).filter(|_| is_whole);
    }
    if let Some(address) = v6(text) {
        return Some(address);
    }
    match text.split_once(':') {
        Some((address, port)) if is_port(port) => address.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
        Some(_) => None,
        None => text.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
    }
}

/// An IPv6 address without its zone; one that stands for an IPv4 address is that.
fn v6(text: &str) -> Option<IpAddr> {
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

/// What counts as one client: an IPv6 address stands for its network of 64 bits, since who has one address has all
/// of them. Loopback is not counted: it is the owner, or a proxy that is not named in the config.
pub(crate) fn network(address: IpAddr) -> Option<IpAddr> {
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
    fn addresses_are_read_in_every_form_that_proxies_write() {
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
    fn clients_are_counted_whatever_a_proxy_writes() {
        let check = |peer: &str, headers: &[&str], expected: &str, is_unreadable: bool| {
            let found = address(peer, headers);
            assert_eq!(found, (Some(expected.to_owned()), is_unreadable), "{peer} {headers:?}");
            // Where a proxy says something, somebody is counted.
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
        check("127.0.0.1", &["203.0.113.9, unknown"], "0.0.0.0", true);
        check("127.0.0.1", &[""], "0.0.0.0", true);
        check("127.0.0.1", &["unknown"], "0.0.0.0", true);
        check("127.0.0.1", &["203.0.113.9, unknown, 10.0.0.2"], "10.0.0.2", true);
        check("10.0.0.1", &["203.0.113.9,"], "10.0.0.1", true);
    }

    #[test]
    fn networks() {
        let networks = ["127.0.0.1", "::1", "192.0.2.1", "2001:db8:1:2:3:4:5:6"]
            .map(|address| network(address.parse().unwrap()).map(|network| network.to_string()));
        assert_eq!(networks, [None, None, Some("192.0.2.1".to_owned()), Some("2001:db8:1:2::".to_owned())]);
    }

    proptest! {
        /// Headers come from strangers: none ends the server, and every form of an address is read as that address.
        #[test]
        fn any_text_is_read_or_refused(text in any::<String>(), address in any::<IpAddr>(), port in any::<u16>()) {
            let _ = parse(&text);
            let plain = address.to_canonical();
            prop_assert_eq!(parse(&address.to_string()), Some(plain));
            prop_assert_eq!(parse(&SocketAddr::new(address, port).to_string()), Some(plain));
            prop_assert_eq!(parse(&format!(" \"{}\" ", SocketAddr::new(address, port))), Some(plain));
        }
    }
}
