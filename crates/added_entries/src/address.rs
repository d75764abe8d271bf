//! The addresses that administrators enter: which are allowed.

use egress::{is_localhost, is_public};
use url::{Host, Url};

/// The most characters of an address.
pub const MAX_ADDRESS: usize = 2048;

/// Reads an address. With `allow_private` it may be on this machine and its networks, and use `http://`. `section` is the
/// section of the config that allows that.
///
/// # Errors
/// A message that says what is wrong with the address and does not repeat it.
pub fn parse(text: &str, allow_private: bool, section: &str) -> Result<Url, String> {
    if text.len() > MAX_ADDRESS {
        return Err(format!("the address is longer than {MAX_ADDRESS} characters"));
    }
    let url = Url::parse(text.trim()).map_err(|_| "this is not a web address")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("the address must start with `https://`".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the address holds a user name or a password: enter what is secret in the field for it".to_owned());
    }
    if allow_private {
        return Ok(url);
    }
    let is_reachable = match url.host() {
        Some(Host::Ipv4(address)) => is_public(address.into()),
        Some(Host::Ipv6(address)) => is_public(address.into()),
        Some(Host::Domain(name)) => !is_localhost(name),
        None => false,
    };
    match (is_reachable, url.scheme()) {
        (false, _) => Err(format!(
            "the address is not public: to allow addresses of this machine and its networks, write `{section}: {{ allowPrivate: true }}` in the config"
        )),
        (true, "http") => {
            Err("the address must start with `https://`: others could read what is sent over `http://`".to_owned())
        }
        (true, _) => Ok(url),
    }
}

/// Returns the scheme, the host and the port.
pub fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_must_be_public_and_encrypted() {
        let check = |text: &str, private: bool, expected: &str| {
            let read = parse(text, private, "things").map_or_else(|problem| problem, |_| String::new());
            assert!(if expected.is_empty() { read.is_empty() } else { read.contains(expected) }, "{text}: {read}");
        };
        check("https://example.com/mcp", false, "");
        check("http://example.com/mcp", false, "must start with `https://`");
        check("http://example.internal/mcp", true, "");
        for private in ["https://127.0.0.1/", "https://[::1]/", "https://localhost./", "https://169.254.169.254/"] {
            check(private, false, "is not public");
            check(private, false, "`things: { allowPrivate: true }`");
            check(private, true, "");
        }
        check("https://ada:pw@example.com/", true, "a user name or a password");
        check("file:///etc/passwd", true, "must start with `https://`");
        check("mine", true, "not a web address");
        check(&format!("https://example.com/{}", "x".repeat(3000)), true, "longer than");
    }
}
