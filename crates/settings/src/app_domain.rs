//! Domains that the user interfaces of MCP servers may reach.

use std::fmt;
use std::str::FromStr;

/// The longest domain in bytes.
const MAX_LENGTH: usize = 300;

/// The origin of a server, or with `*.` those of all subdomains of a host: `https://api.example.com`,
/// `https://*.example.com`, `wss://events.example.com:8443`. Its text is a source of a Content Security Policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppDomain {
    /// `https` or `wss`.
    scheme: &'static str,
    /// Whether subdomains of the host are meant, and not the host itself.
    has_wildcard: bool,
    /// The host, in lower case.
    host: String,
    /// The port, if it is not 443.
    port: Option<u16>,
}

/// Why a text is not a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidDomain;

impl AppDomain {
    /// Returns whether this entry of a list covers another one, of which it is an equal or a part.
    pub fn covers(&self, other: &Self) -> bool {
        let is_host_covered = match (self.has_wildcard, other.has_wildcard) {
            (false, true) => false,
            (true, true) if other.host == self.host => true,
            (false, false) => other.host == self.host,
            (true, _) => other.host.strip_suffix(&self.host).is_some_and(|sub| sub.ends_with('.')),
        };
        is_host_covered && (self.scheme, self.port) == (other.scheme, other.port)
    }
}

impl FromStr for AppDomain {
    type Err = InvalidDomain;

    fn from_str(text: &str) -> Result<Self, InvalidDomain> {
        if text.len() > MAX_LENGTH {
            return Err(InvalidDomain);
        }
        let text = text.to_ascii_lowercase();
        let (scheme, rest) = text.split_once("://").ok_or(InvalidDomain)?;
        let scheme = ["https", "wss"].into_iter().find(|known| *known == scheme).ok_or(InvalidDomain)?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match rest.split_once(':') {
            Some((host, port)) => (host, Some(port.parse().map_err(|_| InvalidDomain)?)),
            None => (rest, None),
        };
        let (has_wildcard, host) = match host.strip_prefix("*.") {
            Some(host) => (true, host),
            None => (false, host),
        };
        let is_label = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        // All subdomains of a top level are not a domain.
        if !host.split('.').all(is_label) || (has_wildcard && !host.contains('.')) {
            return Err(InvalidDomain);
        }
        Ok(Self { scheme, has_wildcard, host: host.to_owned(), port: port.filter(|port| *port != 443) })
    }
}

impl fmt::Display for AppDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, if self.has_wildcard { "*." } else { "" }, self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_are_origins_without_anything_that_ends_a_policy() {
        let check = |text: &str, expected: Option<&str>| {
            let read = text.parse::<AppDomain>().ok().map(|domain| domain.to_string());
            assert_eq!(read.as_deref(), expected, "{text}");
        };
        check("https://api.example.com", Some("https://api.example.com"));
        check("HTTPS://API.Example.com/", Some("https://api.example.com"));
        check("https://*.example.com", Some("https://*.example.com"));
        check("wss://a.example:8443", Some("wss://a.example:8443"));
        check("https://a.example:443", Some("https://a.example"));
        for refused in [
            "a.example",
            "http://a.example",
            "https:",
            "https://",
            "https://*",
            "https://*.com",
            "https://a.*.example",
            "https://a.example/path",
            "https://a.example; script-src *",
            "https://a.example 'unsafe-eval'",
            "https://a.example\nx: y",
            "https://user@a.example",
            "https://a.example:port",
            "https://a..example",
            "https://-a.example",
            "https://[::1]",
            "data:",
            "'self'",
            "*",
        ] {
            check(refused, None);
        }
        check(&format!("https://{}.example", "a.".repeat(200)), None);
    }

    #[test]
    fn a_domain_covers_itself_and_with_a_wildcard_its_subdomains() {
        let check = |allowed: &str, declared: &str, expected: bool| {
            let [allowed, declared] = [allowed, declared].map(|text| text.parse::<AppDomain>().unwrap());
            assert_eq!(allowed.covers(&declared), expected, "{allowed} {declared}");
        };
        check("https://a.example", "https://a.example", true);
        check("https://a.example", "https://b.a.example", false);
        check("https://a.example", "wss://a.example", false);
        check("https://a.example", "https://a.example:8443", false);
        check("https://a.example", "https://*.a.example", false);
        check("https://*.a.example", "https://b.a.example", true);
        check("https://*.a.example", "https://*.b.a.example", true);
        check("https://*.a.example", "https://*.a.example", true);
        check("https://*.a.example", "https://a.example", false);
        check("https://*.a.example", "https://evila.example", false);
    }
}
