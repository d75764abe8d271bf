//! The mode `jwt` of `auth`: the keys that verify tokens, and the required claims.

use super::is_this_machine;
use crate::auth::{ClaimNames, JwtAuth, JwtKeys};
use crate::section::Context;
use crate::section::value::Text;
use config_source::{Node, PathStep};
use serde_json::Value;
use settings::OneOrMany;
use std::time::Duration;
use url::Url;

/// The settings of which exactly one provides the keys.
pub(crate) const KEY_SOURCES: [&str; 3] = ["jwksUrl", "publicKey", "jwk"];

/// The first line of a public key in PEM.
const PEM: &str = "-----BEGIN PUBLIC KEY-----";

/// The members of a JSON Web Key that are private (RFC 7518, section 6).
const PRIVATE: [&str; 7] = ["d", "p", "q", "dp", "dq", "qi", "k"];

/// The required claims, and where to find the token and the user in it.
pub(crate) struct TokenChecks {
    pub(crate) issuer: Option<Text>,
    pub(crate) audience: OneOrMany<Text>,
    pub(crate) cookie: Option<Text>,
    pub(crate) leeway_seconds: u64,
    pub(crate) claims: ClaimNames,
}

/// Checks the remaining settings of the mode.
pub(crate) fn read(keys: JwtKeys, checks: TokenChecks, node: &Node, context: &mut Context<'_, '_>) -> Option<JwtAuth> {
    let audience = Vec::from(checks.audience);
    if audience.is_empty() {
        let help = "name what your tokens are made for: `audience: chatwright`".to_owned();
        context.report.error(node.span_at(&[PathStep::Key("audience")]), "no token could satisfy this", Some(help));
    }
    let cookie = checks.cookie.map(|Text(name)| name);
    if let Some(name) = &cookie
        && !name.bytes().all(super::proxy::is_token)
    {
        let at = node.span_at(&[PathStep::Key("cookie")]);
        context.report.error(at, "no cookie can have this name", Some("use letters, digits, `-` and `_`".to_owned()));
    }
    let leeway = Duration::from_secs(checks.leeway_seconds);
    let issuer = checks.issuer.map(|Text(issuer)| issuer);
    Some(JwtAuth { keys, issuer, audience, cookie, leeway, claims: checks.claims })
}

/// Reads the keys, which must be given in exactly one way.
pub(crate) fn keys(
    (url, pem, jwk): (Option<Text>, Option<Text>, Option<Value>),
    allow_private: bool,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<JwtKeys> {
    let given: Vec<_> = KEY_SOURCES.into_iter().filter(|key| node.get(key).is_some()).collect();
    if let [first, second, ..] = given[..] {
        let at = node.get(second).map_or(node.at, |entry| entry.key_at);
        let message = format!("there is `{first}` already, and keys come from one place only");
        context.report.error(at, message, Some("leave one of them out".to_owned()));
        return None;
    }
    if let (true, None, Some(entry)) = (allow_private, &url, node.get("allowPrivate")) {
        context.report.error(entry.key_at, "this is about `jwksUrl`, which is not there", None);
    }
    match (url, pem, jwk) {
        (Some(Text(url)), ..) => self::url(&url, allow_private, node, context),
        (_, Some(Text(pem)), _) => self::pem(pem, node, context),
        (_, _, Some(jwk)) => self::jwk(jwk, node, context),
        (None, None, None) => {
            let help = "give `jwksUrl`, `publicKey` or `jwk`".to_owned();
            context.report.error(
                node.span_at(&[PathStep::Key("mode")]),
                "this does not say who signs the tokens",
                Some(help),
            );
            None
        }
    }
}

fn url(text: &str, allow_private: bool, node: &Node, context: &mut Context<'_, '_>) -> Option<JwtKeys> {
    let at = node.span_at(&[PathStep::Key("jwksUrl")]);
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(url) = url else {
        let help = "such as `https://id.example.com/.well-known/jwks.json`".to_owned();
        context.report.error(at, "this is not a web address", Some(help));
        return None;
    };
    if url.scheme() == "http" && !(is_this_machine(&url) && allow_private) {
        let message = "keys must be fetched over `https`: anyone who changes them in transit can sign in as any user";
        context.report.error(
            at,
            message,
            Some("over `http` only from this machine, with `allowPrivate: true`".to_owned()),
        );
        return None;
    }
    Some(JwtKeys::Url { url, allow_private })
}

fn pem(pem: String, node: &Node, context: &mut Context<'_, '_>) -> Option<JwtKeys> {
    if pem.trim_start().starts_with(PEM) {
        return Some(JwtKeys::Pem(pem));
    }
    let at = node.span_at(&[PathStep::Key("publicKey")]);
    let (message, help) = if pem.contains("PRIVATE KEY") {
        ("this is a private key, which only who signs the tokens may have", "give the public one, and make a new pair")
    } else {
        ("this is not a public key in PEM", "it begins with `-----BEGIN PUBLIC KEY-----`")
    };
    context.report.error(at, message, Some(help.to_owned()));
    None
}

fn jwk(jwk: Value, node: &Node, context: &mut Context<'_, '_>) -> Option<JwtKeys> {
    let at = node.span_at(&[PathStep::Key("jwk")]);
    let kind = jwk.get("kty").and_then(Value::as_str).unwrap_or_default();
    if PRIVATE.iter().any(|member| jwk.get(member).is_some()) {
        let help = "give the public one, and make a new pair".to_owned();
        context.report.error(at, "this is a private key, which only who signs the tokens may have", Some(help));
        return None;
    }
    if !matches!(kind, "RSA" | "EC" | "OKP") {
        let help = "its `kty` is `RSA`, `EC` or `OKP`".to_owned();
        context.report.error(at, "this is not a public JSON Web Key", Some(help));
        return None;
    }
    Some(JwtKeys::Jwk(jwk))
}
