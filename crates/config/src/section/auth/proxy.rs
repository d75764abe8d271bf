//! The mode `proxy` of `auth`: the trusted proxies and the names of their headers.

use crate::auth::ProxyAuth;
use crate::section::Context;
use crate::section::value::Text;
use config_source::{Node, PathStep};
use ipnet::IpNet;
use std::net::IpAddr;

/// Headers that have another meaning.
const RESERVED_HEADERS: [&str; 6] = ["authorization", "cookie", "host", "origin", "x-api-key", "content-type"];

/// Checks the settings of the mode.
pub(crate) fn read(
    proxies: Vec<Text>,
    headers: [Text; 4],
    separator: Text,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<ProxyAuth> {
    let trusted = parse_networks(&proxies, node, context);
    let mut names: Vec<String> = Vec::new();
    for (Text(name), key) in headers.into_iter().zip(["userHeader", "nameHeader", "rolesHeader", "tokenHeader"]) {
        let name = name.to_ascii_lowercase();
        let problem = if !name.bytes().all(is_token) {
            Some(format!("`{name}` cannot be the name of a header"))
        } else if RESERVED_HEADERS.contains(&name.as_str()) {
            Some(format!("the header `{name}` means something else"))
        } else if names.contains(&name) {
            Some(format!("the header `{name}` is used twice here"))
        } else {
            None
        };
        if let Some(problem) = problem {
            let help = "such as `x-forwarded-user`".to_owned();
            context.report.error(node.span_at(&[PathStep::Key(key)]), problem, Some(help));
        }
        names.push(name);
    }
    let [user_header, name_header, roles_header, token_header] = <[String; 4]>::try_from(names).ok()?;
    Some(ProxyAuth {
        trusted_proxies: trusted,
        user_header,
        name_header,
        roles_header,
        roles_separator: separator.0,
        token_header,
    })
}

/// Parses the addresses and networks in the `trustedProxies` of a section.
pub(crate) fn parse_networks(proxies: &[Text], node: &Node, context: &mut Context<'_, '_>) -> Vec<IpNet> {
    let mut trusted = Vec::new();
    for (i, Text(text)) in proxies.iter().enumerate() {
        let at = node.span_at(&[PathStep::Key("trustedProxies"), PathStep::Index(i)]);
        match text.parse::<IpAddr>().map(IpNet::from).or_else(|_| text.parse::<IpNet>()) {
            Ok(network) if network.prefix_len() == 0 => {
                let help =
                    "anyone who reaches the server could claim to be any user; name the proxy's own address".to_owned();
                context.report.error(at, "this trusts every address", Some(help));
            }
            Ok(network) => trusted.push(network.trunc()),
            Err(_) => {
                let help = "such as `127.0.0.1`, `10.0.0.0/8` or `fd00::/8`".to_owned();
                context.report.error(at, format!("`{text}` is neither an address nor a network"), Some(help));
            }
        }
    }
    trusted
}

/// Whether a byte is allowed in the name of a header or a cookie (RFC 9110, section 5.6.2).
pub(crate) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
