//! Whether the config allows a site to embed chats, and the lines that allow it.

use axum::http::Uri;

/// Returns the origin of an address as browsers send it: scheme, host, and the port if it is not the scheme's own. `None` if it is not
/// the address of a site.
pub(super) fn origin_of(address: &str) -> Option<String> {
    let address: Uri = address.trim().parse().ok()?;
    let scheme = address.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
    let authority = address.authority()?;
    if authority.as_str().contains('@') {
        return None;
    }
    let host = authority.host().to_ascii_lowercase();
    // A pattern would let in sites that nobody has thought of.
    if host.is_empty() || host.contains('*') {
        return None;
    }
    let own_port = if scheme == "https" { 443 } else { 80 };
    let port = authority.port_u16().filter(|port| *port != own_port).map(|port| format!(":{port}"));
    Some(format!("{scheme}://{host}{}", port.unwrap_or_default()))
}

/// Returns the section of the config that lists these origins and one more.
pub(super) fn config_lines(known: &[String], origin: &str) -> String {
    let quoted = known.iter().map(String::as_str).chain([origin]).map(|origin| format!("\"{origin}\""));
    format!("embed:\n  origins: [{}]", quoted.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_origins() {
        let check = |address: &str, expected: Option<&str>| {
            assert_eq!(origin_of(address).as_deref(), expected, "{address}");
        };
        check("https://www.example.com", Some("https://www.example.com"));
        check(" https://WWW.example.com:443/shop?a=1 ", Some("https://www.example.com"));
        check("http://localhost:8080/", Some("http://localhost:8080"));
        check("https://[::1]:3000", Some("https://[::1]:3000"));
        check("www.example.com", None);
        check("ftp://example.com", None);
        check("https://*.example.com", None);
        check("https://user@example.com", None);
        check("javascript:alert(1)", None);
        check("", None);
    }

    #[test]
    fn lines_for_the_config_keep_what_is_allowed() {
        let known = ["https://a.example".to_owned()];
        assert_eq!(config_lines(&[], "https://b.example"), "embed:\n  origins: [\"https://b.example\"]");
        assert_eq!(
            config_lines(&known, "http://localhost:8080"),
            "embed:\n  origins: [\"https://a.example\", \"http://localhost:8080\"]"
        );
    }
}
