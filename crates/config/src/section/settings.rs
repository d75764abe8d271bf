//! The sections `limits` and `store`.

mod quotas;
mod rates;
mod retention;

use super::Context;
use super::auth::proxy::parse_networks;
use super::value::{Setting, Text};
use crate::limits::Limits;
use crate::limits::rate_limit::RateLimit;
use config_source::{Node, NodeKind, PathStep};
use dialect::Dialect;
use ipnet::IpNet;
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use settings::{Quota, Retention};

/// The database of conversations, and how long data is retained.
#[derive(Default, Deserialize, JsonSchema)]
pub(crate) struct StoreEntry {
    /// The URL of the database: `sqlite://PATH`, `sqlite::memory:` or
    /// `postgres://USER:PASSWORD@HOST/DATABASE`. It takes precedence over `--database`.
    url: Option<Setting>,
    /// How long data is retained.
    #[serde(default)]
    retention: Retention,
}

/// Timeouts (in milliseconds), sizes (in bytes) and numbers that the server enforces, quotas and
/// rate limits.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LimitsEntry {
    #[serde(flatten)]
    limits: Limits,
    /// Usage quotas per day or month.
    quotas: Vec<Quota>,
    /// Rate limits for users and IP addresses.
    rates: Vec<RateLimit>,
    /// The addresses and networks of the proxies in front of the server. Their header
    /// `X-Forwarded-For` determines the client's address.
    trusted_proxies: Vec<Text>,
}

/// The settings in `limits` that are about users and addresses.
pub(super) struct UserLimits {
    pub(super) quotas: Vec<Quota>,
    pub(super) rates: Vec<RateLimit>,
    pub(super) trusted_proxies: Vec<IpNet>,
}

fn section<T: DeserializeOwned + JsonSchema>(node: &Node, context: &mut Context<'_, '_>) -> Option<T> {
    match node.kind {
        NodeKind::Null => None,
        _ => context.decode(node),
    }
}

/// The version of the config language. It is increased when an existing config would be read
/// differently.
const VERSION: u64 = 1;

/// Checks `configVersion`: an older config may be read differently, a newer one cannot be read.
pub(super) fn check_version(node: &Node, context: &mut Context<'_, '_>) {
    if matches!(node.kind, NodeKind::Null | NodeKind::Broken) {
        return;
    }
    let Some(version) = node.to_value().as_u64() else {
        let message = format!("expected the number of a version, found {}", node.describe());
        return context.report.error(node.at, message, Some(format!("the newest one is {VERSION}")));
    };
    if version > VERSION {
        let message =
            format!("this config is written for version {version} of the language, which this server does not know");
        let help = format!("install a newer Chatwright, or write `configVersion: {VERSION}` if nothing newer is used");
        context.report.error(node.at, message, Some(help));
    } else if version < VERSION {
        // Other systems use version 0 for a config without a version. This language starts with 1.
        let message =
            format!("there is no version {version} of the language; the first one, and today's, is {VERSION}");
        context.report.warning(node.at, message, Some(format!("write `configVersion: {VERSION}`, or leave it out")));
    }
}

/// Reads `limits`.
pub(super) fn limits(node: &Node, context: &mut Context<'_, '_>) -> (Limits, UserLimits) {
    let LimitsEntry { mut limits, quotas, rates, trusted_proxies } =
        section::<LimitsEntry>(node, context).unwrap_or_default();
    // If only `bodyBytes` is set, and below the default of `textBytes`, it limits texts as well.
    if node.get("textBytes").is_some() && limits.text_bytes > limits.body_bytes {
        let message = format!(
            "no text can have so many bytes: the request that holds it has {} at most (`bodyBytes`)",
            limits.body_bytes
        );
        let help = format!("write `bodyBytes` higher than {}, or a lower `textBytes`", limits.text_bytes);
        context.report.error(node.span_at(&[PathStep::Key("textBytes")]), message, Some(help));
    }
    clamp_parallel_agents(&mut limits, node, context);
    quotas::check(&quotas, node, context);
    rates::check(&rates, node, context);
    let trusted_proxies = parse_networks(&trusted_proxies, node, context);
    (limits, UserLimits { quotas, rates, trusted_proxies })
}

/// Keeps `parallelAgents` within its bounds. A number beyond them is no reason to refuse a config: it only
/// makes answers slower or faster.
fn clamp_parallel_agents(limits: &mut Limits, node: &Node, context: &mut Context<'_, '_>) {
    let clamped = limits.parallel_agents.clamp(2, 4);
    if clamped != limits.parallel_agents {
        let message = format!("{clamped} sub-agents work at the same time: the number is from 2 to 4");
        let help = format!("write `parallelAgents: {clamped}`");
        context.report.warning(node.span_at(&[PathStep::Key("parallelAgents")]), message, Some(help));
        limits.parallel_agents = clamped;
    }
}

/// Reads `store`.
pub(super) fn store(node: &Node, context: &mut Context<'_, '_>) -> (Option<SecretString>, Retention) {
    let StoreEntry { url, retention } = section(node, context).unwrap_or_default();
    let url = url.and_then(|url| read_database_url(url, node, context));
    retention::check(&retention, node, context);
    (url, retention)
}

fn read_database_url(url: Setting, node: &Node, context: &mut Context<'_, '_>) -> Option<SecretString> {
    let at = node.span_at(&[PathStep::Key("url")]);
    let url = url.resolve(at, "`url` of the store", context)?;
    match Dialect::from_address(url.expose_secret()) {
        Ok(_) => Some(url),
        Err(error) => {
            context.report.error(at, error.to_string(), Some(error.help()));
            None
        }
    }
}
