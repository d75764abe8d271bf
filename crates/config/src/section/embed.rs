//! The section `embed`: chats on pages of other sites.

use super::Context;
use super::auth::jwt;
use super::auth::{default_leeway_seconds, report_short_key};
use super::user_auth::is_this_machine;
use super::value::{SecretEntry, Text};
use crate::auth::{ClaimNames, JwtAuth, JwtKeys};
use crate::embed::Embed;
use config_source::{Node, NodeKind, PathStep, Span};
use schemars::JsonSchema;
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::Value;
use settings::OneOrMany;
use url::Url;

/// The shortest secret for HS256 in bytes (RFC 7518, section 3.2).
const MIN_SECRET: usize = 32;

/// The required `aud` claim if the config sets none.
const DEFAULT_AUDIENCE: &str = "chatwright";

/// Chats on pages of other sites, which embed them with `<script type="module"
/// src="https://CHAT/embed.js">` and `<agent-chat page="…" agent="…">`.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct EmbedEntry {
    /// The origins of the sites that may embed chats: scheme, host and port as browsers send them,
    /// such as `https://www.example.com`.
    #[schemars(length(min = 1))]
    origins: Vec<Text>,
    /// How the server of an embedding site identifies its users. Default: by the section `auth`.
    tokens: Option<TokensEntry>,
}

/// JSON Web Tokens (JWT) that the server of an embedding site signs, with the claims `sub`, `name`,
/// `roles`, `aud` and `exp`, and optionally `inputs`, `page` and `agent`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokensEntry {
    /// The shared secrets that sign tokens with HS256: at least 32 characters each, as `{ _secret:
    /// NAME_OF_A_VARIABLE }`. All are accepted, so that a new secret can be added before it is
    /// used.
    #[serde(default)]
    secrets: Vec<SecretEntry>,
    /// Instead of `secrets`: the URL of the site's JSON Web Key Set.
    jwks_url: Option<Text>,
    /// Instead of `secrets`: the site's public key in PEM, for example `{ _ref: key.pem }`.
    public_key: Option<Text>,
    /// Instead of `secrets`: the site's public key as a JSON Web Key.
    jwk: Option<Value>,
    /// Allows `jwksUrl` to lead to this machine and private networks.
    #[serde(default)]
    allow_private: bool,
    /// The required `aud` claim: one value, or a list of which one is enough. Default:
    /// `chatwright`.
    audience: Option<OneOrMany<Text>>,
    /// The required `iss` claim. Default: any.
    issuer: Option<Text>,
    /// The accepted clock skew in seconds.
    #[serde(default = "default_leeway_seconds")]
    #[schemars(range(max = 300))]
    leeway_seconds: u64,
    /// The claims that identify the user.
    #[serde(default)]
    claims: ClaimNames,
}

/// Reads the section.
pub(super) fn read(section: &Node, context: &mut Context<'_, '_>) -> Option<Embed> {
    if matches!(section.kind, NodeKind::Null) {
        return None;
    }
    let EmbedEntry { origins, tokens } = context.decode(section)?;
    let at = |i: usize| section.span_at(&[PathStep::Key("origins"), PathStep::Index(i)]);
    let origins = origins.iter().enumerate().filter_map(|(i, Text(text))| parse_origin(text, at(i), context)).collect();
    let tokens = tokens.zip(section.get("tokens")).map(|(tokens, node)| self::tokens(tokens, &node.value, context));
    Some(Embed { origins, tokens: tokens.flatten() })
}

/// Checks an origin, which must be written exactly as browsers send it.
pub(super) fn parse_origin(text: &str, at: Span, context: &mut Context<'_, '_>) -> Option<String> {
    if text.contains('*') {
        let help = "name each site by itself: `https://www.example.com`".to_owned();
        context.report.error(at, "a pattern would also allow sites that are not intended", Some(help));
        return None;
    }
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(url) = url else {
        let help = "write it as in a browser: `https://www.example.com`".to_owned();
        context.report.error(at, "this is not the address of a site", Some(help));
        return None;
    };
    let origin = url.origin().ascii_serialization();
    if origin != text {
        let help = format!("write `{origin}`, as a browser does");
        context.report.error(at, "expected scheme, host and port of a site, and nothing else", Some(help));
    }
    if url.scheme() == "http" && !is_this_machine(&url) {
        let message = "over `http`, an attacker on the network can change the page around the chat";
        context.report.warning(at, message, Some("serve the site over `https`".to_owned()));
    }
    Some(origin)
}

fn tokens(entry: TokensEntry, node: &Node, context: &mut Context<'_, '_>) -> Option<JwtAuth> {
    let keys = keys((entry.secrets, entry.jwks_url, entry.public_key, entry.jwk), entry.allow_private, node, context)?;
    let audience = entry.audience.unwrap_or_else(|| OneOrMany::One(Text(DEFAULT_AUDIENCE.to_owned())));
    let checks = jwt::TokenChecks {
        issuer: entry.issuer,
        audience,
        cookie: None,
        leeway_seconds: entry.leeway_seconds,
        claims: entry.claims,
    };
    jwt::read(keys, checks, node, context)
}

type KeySettings = (Vec<SecretEntry>, Option<Text>, Option<Text>, Option<Value>);

fn keys(
    (secrets, url, pem, jwk): KeySettings,
    private: bool,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<JwtKeys> {
    let public = jwt::KEY_SOURCES.into_iter().find_map(|key| node.get(key));
    match (node.get("secrets"), public) {
        (Some(_), Some(other)) => {
            let message = format!("there is `secrets` already, and `{}` would be another way to sign", other.key);
            context.report.error(other.key_at, message, Some("leave one of them out".to_owned()));
            None
        }
        (None, Some(_)) => jwt::keys((url, pem, jwk), private, node, context),
        (Some(_), None) if !secrets.is_empty() => self::secrets(secrets, node, context),
        _ => {
            let help = "give `secrets`, or `jwksUrl`, `publicKey` or `jwk`".to_owned();
            context.report.error(node.at, "this does not say who signs the tokens", Some(help));
            None
        }
    }
}

fn secrets(entries: Vec<SecretEntry>, node: &Node, context: &mut Context<'_, '_>) -> Option<JwtKeys> {
    let mut secrets = Vec::new();
    for (i, entry) in entries.into_iter().enumerate() {
        let at = node.span_at(&[PathStep::Key("secrets"), PathStep::Index(i)]);
        let secret = entry.resolve(at, "secret that signs tokens for embedded chats", context)?;
        if secret.expose_secret().len() < MIN_SECRET {
            report_short_key(at, "a secret for tokens", MIN_SECRET, context);
        }
        secrets.push(secret);
    }
    Some(JwtKeys::Secrets(secrets))
}
