//! MCP servers over HTTP: addresses, headers and access tokens.

use super::{McpProperties, OauthEntry, merge_pairs};
use crate::connection::McpConnection;
use crate::section::Context;
use crate::section::user_auth::{self, Target, is_private};
use crate::section::value::Text;
use config_source::{Node, PathStep, Span};
use secrecy::{ExposeSecret, SecretString};
use settings::mcp::{ClientCredentials, ClientProof, HttpServerSettings, McpTransport, TokenEndpoint};
use url::Url;

pub(super) fn http(
    name: &str,
    base: Option<&McpConnection>,
    properties: McpProperties,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<HttpServerSettings> {
    let known = match base.map(|base| &base.transport) {
        Some(McpTransport::Http(known) | McpTransport::Sse(known)) => Some(known),
        _ => None,
    };
    let url = match properties.url {
        Some(setting) => {
            let at = node.span_at(&[PathStep::Key("url")]);
            let text = setting.resolve(at, &format!("`url` of the MCP server `{name}`"), context)?;
            Some(parse_url(text.expose_secret(), at, context)?)
        }
        None => known.map(|known| known.url.clone()),
    };
    let Some(url) = url else {
        let help = "name its address, or write `transport: stdio` and the `command` that starts it".to_owned();
        context.report.error(node.at, format!("the MCP server `{name}` has no `url`"), Some(help));
        return None;
    };
    let own = properties.headers.into_iter().map(|(header, setting)| {
        let at = node.span_at(&[PathStep::Key("headers"), PathStep::Key(&header)]);
        let value = setting.resolve(at, &format!("header `{header}` of the MCP server `{name}`"), context)?;
        Some((header, value))
    });
    let own = own.collect::<Option<Vec<_>>>()?;
    let said = properties.allow_private.or_else(|| known.map(|known| known.allow_private));
    let allow_private = said.unwrap_or(false) || is_private(&url);
    let oauth = match properties.oauth {
        Some(entry) => Some(oauth((name, &url, allow_private), entry, node, context)?),
        None => known.and_then(|known| known.oauth.clone()),
    };
    let user_auth = match properties.auth {
        Some(_) if oauth.is_some() => {
            let help = "leave out `oauth`, or `auth`".to_owned();
            let message = "there are two ways to get an access token";
            context.report.error(node.span_at(&[PathStep::Key("auth")]), message, Some(help));
            return None;
        }
        Some(entry) => {
            let target = Target { id: name, url: &url, allow_private, is_mcp: true };
            Some(user_auth::read(entry, &target, node, context)?)
        }
        None => known.and_then(|known| known.user_auth.clone()),
    };
    let headers = merge_pairs(known.map(|of| of.headers.as_slice()).unwrap_or_default(), own);
    let fixed = headers.iter().find(|(header, _)| header.eq_ignore_ascii_case("authorization"));
    if let Some((header, _)) = fixed.filter(|_| oauth.is_some() || user_auth.is_some()) {
        let at = node.span_at(&[PathStep::Key("headers"), PathStep::Key(header)]);
        let help = "leave out this header, or `oauth` and `auth`".to_owned();
        context.report.error(at, "there are two values of the header `authorization`", Some(help));
        return None;
    }
    Some(HttpServerSettings { allow_private, url, headers, oauth, user_auth })
}

fn oauth(
    (name, url, allow_private): (&str, &Url, bool),
    entry: OauthEntry,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<ClientCredentials> {
    let place = |key| node.span_at(&[PathStep::Key("oauth"), PathStep::Key(key)]);
    let of = |key: &str| format!("`oauth.{key}` of the MCP server `{name}`");
    let refresh_token = match entry.refresh_token {
        Some(setting) => Some(setting.resolve(place("refreshToken"), &of("refreshToken"), context)?),
        None => None,
    };
    let endpoint = match (entry.token_url, entry.issuer) {
        (Some(_), Some(_)) => {
            let help = "leave out `issuer`, or `tokenUrl`".to_owned();
            let message = "`tokenUrl` says where tokens are issued, so the issuer is not asked";
            context.report.error(place("issuer"), message, Some(help));
            return None;
        }
        (Some(setting), None) => {
            let text = setting.resolve(place("tokenUrl"), &of("tokenUrl"), context)?;
            let token_url = parse_url(text.expose_secret(), place("tokenUrl"), context)?;
            check_token_address(&token_url, allow_private, place("tokenUrl"), context)?;
            TokenEndpoint::Url(token_url)
        }
        (None, Some(Text(issuer))) => {
            let issuer = parse_url(&issuer, place("issuer"), context)?;
            check_token_address(&issuer, allow_private, place("issuer"), context)?;
            TokenEndpoint::Issuer(issuer)
        }
        (None, None) => {
            check_token_address(url, allow_private, node.span_at(&[PathStep::Key("oauth")]), context)?;
            TokenEndpoint::Discovered
        }
    };
    let proof = match (entry.client_secret, entry.private_key) {
        (Some(setting), None) => {
            ClientProof::Secret(setting.resolve(place("clientSecret"), &of("clientSecret"), context)?)
        }
        (None, Some(variable)) => {
            let key = variable.resolve(place("privateKey"), &of("privateKey"), context)?;
            check_private_key(&key, place("privateKey"), context)?;
            ClientProof::PrivateKey(key)
        }
        (secret, _) => {
            let message = match secret {
                Some(_) => "there are two ways to prove who the client is",
                None => "nothing proves who the client is",
            };
            let help = "write `clientSecret` or `privateKey`".to_owned();
            context.report.error(node.span_at(&[PathStep::Key("oauth")]), message, Some(help));
            return None;
        }
    };
    Some(ClientCredentials {
        endpoint,
        client_id: entry.client_id.0,
        proof,
        refresh_token,
        scope: entry.scope.map(|Text(scope)| scope),
    })
}

/// Checks that a text is a private key of PKCS #8 with which the program can sign.
fn check_private_key(key: &SecretString, at: Span, context: &mut Context<'_, '_>) -> Option<()> {
    let (message, help) = if !key.expose_secret().contains("-----BEGIN PRIVATE KEY-----") {
        (
            "the environment variable has no private key in PEM (PKCS #8)",
            "it begins with `-----BEGIN PRIVATE KEY-----`; `openssl pkcs8 -topk8 -nocrypt` converts others",
        )
    } else if context.vocabulary.is_signing_key.is_some_and(|is_signing_key| !is_signing_key(key)) {
        (
            "the private key in the environment variable is damaged or of a kind that is not supported",
            "use an RSA key of 2048 to 4096 bits, or a key of the curve P-256 or P-384",
        )
    } else {
        return Some(());
    };
    context.report.error(at, message, Some(help.to_owned()));
    None
}

/// Checks an address to which the secret is sent, or which says where it is sent. Private addresses are reached only if the
/// server's own may be.
fn check_token_address(url: &Url, allow_private: bool, at: Span, context: &mut Context<'_, '_>) -> Option<()> {
    let (message, help) = match url.scheme() {
        _ if allow_private => return Some(()),
        _ if is_private(url) => (
            "this address is of this machine or a private network, so it would not be reached",
            "write `allowPrivate: true` at the server, or a public address",
        ),
        "http" => (
            "the secret would be sent over `http://`, where others can read it",
            "write `https://`, or `allowPrivate: true` for a server of your own network",
        ),
        _ => return Some(()),
    };
    context.report.error(at, message, Some(help.to_owned()));
    None
}

fn parse_url(text: &str, at: Span, context: &mut Context<'_, '_>) -> Option<Url> {
    let problem = match Url::parse(text) {
        Ok(url) if !matches!(url.scheme(), "http" | "https") => "this address must start with `https://` or `http://`",
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            "this address holds a user name or a password"
        }
        Ok(url) => return Some(url),
        Err(_) => "this is not a web address",
    };
    context.report.error(at, problem, Some("for example `https://mcp.example.com/mcp`".to_owned()));
    None
}
