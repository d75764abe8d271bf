//! The addresses of providers: which are allowed.

use egress::{is_localhost, is_public};
use url::{Host, Url};

/// The most characters of an address.
const MAX_ADDRESS: usize = 2048;

/// Reads the base address of a provider. With `allow_private` it may be on this machine and its networks, and use
/// `http://`.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn parse(text: &str, allow_private: bool) -> Result<Url, &'static str> {
    if text.len() > MAX_ADDRESS {
        return Err("the address is longer than 2048 characters");
    }
    let url = Url::parse(text.trim()).map_err(|_| "this is not a web address")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("the address must start with `https://`");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the address holds a user name or a password");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("the address must end with its path, such as `/v1`");
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
        (false, _) => Err(
            "the address is not public: to allow addresses of this machine and its networks, write `modelConnections: { allowPrivate: true }` in the config",
        ),
        (true, "http") => Err("the address must start with `https://`: others could read the key over `http://`"),
        (true, _) => Ok(url),
    }
}

/// Returns the scheme, the host and the port.
pub(crate) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_must_be_public_and_encrypted() {
        let check = |text: &str, private: bool, expected: &str| {
            let read = parse(text, private).map_or_else(str::to_owned, |_| String::new());
            assert!(if expected.is_empty() { read.is_empty() } else { read.contains(expected) }, "{text}: {read}");
        };
        check("https://api.example.com/v1", false, "");
        check("http://api.example.com/v1", false, "must start with `https://`");
        check("http://models.internal/v1", true, "");
        for private in ["https://127.0.0.1/", "https://[::1]/", "https://localhost./", "https://169.254.169.254/"] {
            check(private, false, "is not public");
            check(private, true, "");
        }
        check("https://ada:pw@example.com/", true, "a user name or a password");
        check("https://example.com/v1?key=1", true, "must end with its path");
        check("https://example.com/#x", true, "must end with its path");
        check("file:///etc/passwd", true, "must start with `https://`");
        check("mine", true, "not a web address");
        check(&format!("https://example.com/{}", "x".repeat(3000)), true, "longer than");
    }
}
