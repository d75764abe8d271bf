//! Classifies IP addresses as public or not.

use ipnet::IpNet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

/// Ranges that are not globally reachable, from the registries of special-purpose addresses:
/// <https://www.iana.org/assignments/iana-ipv4-special-registry>,
/// <https://www.iana.org/assignments/iana-ipv6-special-registry>. Also multicast and reserved
/// ranges, which no request should target.
const NOT_PUBLIC: &[&str] = &[
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/96",
    "100::/64",
    "100:0:0:1::/64",
    "2001::/23",
    "2001:db8::/32",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
    // The prefix for local-use IPv4/IPv6 translation, which a network may configure freely.
    "64:ff9b:1::/48",
];

static RANGES: LazyLock<Vec<IpNet>> =
    LazyLock::new(|| NOT_PUBLIC.iter().filter_map(|range| range.parse().ok()).collect());

/// Returns whether an address is reachable from the internet. An IPv4 address embedded in an IPv6
/// address counts as itself.
pub fn is_public(address: IpAddr) -> bool {
    let address = match address {
        IpAddr::V6(address) => embedded_ipv4(address).map_or(IpAddr::V6(address), IpAddr::V4),
        address => address,
    };
    !RANGES.iter().any(|range| range.contains(&address))
}

/// Returns the IPv4 address that is embedded in an IPv6 address: mapped (`::ffff:0:0/96`),
/// translated (`64:ff9b::/96`, RFC 6052; `::ffff:0:0:0/96`, RFC 2765), 6to4 (`2002::/16`, RFC 3056).
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let words = address.segments();
    let from = |high: u16, low: u16| Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match words {
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => from(high, low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str, public: bool) {
        assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
    }

    #[test]
    fn every_range_parses() {
        assert_eq!(RANGES.len(), NOT_PUBLIC.len());
    }

    #[test]
    fn public_addresses_are_recognized() {
        for address in
            ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808"]
        {
            check(address, true);
        }
    }

    #[test]
    fn special_purpose_addresses_are_not_public() {
        for address in [
            "0.0.0.0",
            "127.0.0.1",
            "127.9.9.9",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "192.0.0.8",
            "198.19.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:a9fe:a9fe",
            "::ffff:0:a9fe:a9fe",
            "100::1",
            "100:0:0:1::1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fdff::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
        ] {
            check(address, false);
        }
    }
}
