//! MCP servers over HTTP: addresses, headers and access tokens.

use super::{McpProperties, OauthEntry, merge_pairs};
use crate::connection::McpConnection;
use crate::section::Context;
use crate::section::user_auth::{self, Target, is_private};
use crate::section::value::Text;
use config_source::{Node, PathStep, Span};
use secrecy::ExposeSecret;
use settings::mcp::{ClientCredentials, HttpServerSettings, McpTransport};
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
        Some(entry) => Some(oauth((name, allow_private), entry, node, context)?),
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
    Some(HttpServerSettings {
        allow_private,
        url,
        headers: merge_pairs(known.map(|of| of.headers.as_slice()).unwrap_or_default(), own),
        oauth,
        user_auth,
    })
}

fn oauth(
    (name, allow_private): (&str, bool),
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
    let token_url = entry.token_url.resolve(place("tokenUrl"), &of("tokenUrl"), context)?;
    let token_url = parse_url(token_url.expose_secret(), place("tokenUrl"), context)?;
    if token_url.scheme() == "http" && !allow_private && !is_private(&token_url) {
        let help = "write `https://`, or `allowPrivate: true` for a server of your own network".to_owned();
        let message = "the secret would be sent over `http://`, where others can read it";
        context.report.error(place("tokenUrl"), message, Some(help));
        return None;
    }
    Some(ClientCredentials {
        token_url,
        client_id: entry.client_id.0,
        client_secret: entry.client_secret.resolve(place("clientSecret"), &of("clientSecret"), context)?,
        refresh_token,
        scope: entry.scope.map(|Text(scope)| scope),
    })
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
