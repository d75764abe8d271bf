//! The sections `limits` and `store`.

use super::Context;
use super::auth::proxy::parse_networks;
use super::quotas::{self, QuotaEntry};
use super::rates::{self, RateEntry};
use super::retention::{self, RetentionEntry};
use super::value::{Setting, Text};
use crate::config::{Limits, Quota};
use crate::operation::{RateLimit, Retention};
use crate::shape::{Shape, decode};
use crate::source::{Node, NodeKind, PathStep};
use dialect::Dialect;
use ipnet::IpNet;
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// The database of conversations, and how long data is retained.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct StoreEntry {
    /// The URL of the database: `sqlite://PATH`, `sqlite::memory:` or
    /// `postgres://USER:PASSWORD@HOST/DATABASE`. It takes precedence over `--database`.
    url: Option<Setting>,
    /// How long data is retained.
    #[serde(default)]
    retention: RetentionEntry,
}

/// Timeouts (in milliseconds), sizes (in bytes) and numbers that the server enforces, quotas and
/// rate limits.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LimitsEntry {
    /// The timeout for the headers of a request, in milliseconds.
    #[schemars(range(min = 1, max = 3_600_000))]
    header_read_ms: u64,
    /// The timeout for the body of a request, in milliseconds; extended by one second for each 16
    /// KiB received.
    #[schemars(range(min = 1, max = 3_600_000))]
    body_read_ms: u64,
    /// The largest request body in bytes. Files have a limit of their own.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    body_bytes: usize,
    /// The longest text of a message in bytes.
    #[schemars(range(min = 1024, max = 16_777_216))]
    text_bytes: usize,
    /// The largest attachment in bytes.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    file_bytes: u64,
    /// The storage for the files of one user in bytes.
    #[schemars(range(min = 4096, max = 1_099_511_627_776_u64))]
    user_file_bytes: u64,
    /// The most open connections.
    #[schemars(range(min = 1, max = 1_000_000))]
    connections: usize,
    /// The most open connections from one IP address.
    #[schemars(range(min = 1, max = 1_000_000))]
    connections_per_address: usize,
    /// The timeout for a client to read some of what is written to it, in milliseconds.
    #[schemars(range(min = 1, max = 3_600_000))]
    write_ms: u64,
    /// The interval of keep-alive signals on an idle stream, in milliseconds.
    #[schemars(range(min = 100, max = 600_000))]
    heartbeat_ms: u64,
    /// How long running turns may continue when the server stops, in milliseconds.
    #[schemars(range(min = 0, max = 3_600_000))]
    drain_ms: u64,
    /// The most concurrent runs.
    #[schemars(range(min = 1, max = 100_000))]
    runs: usize,
    /// The most concurrent runs of one user. Default: 4, without limit in the auth mode `local`.
    #[schemars(range(min = 1, max = 100_000))]
    runs_per_user: Option<usize>,
    /// The memory that the server may use, in bytes. Default: the smallest limit of the system.
    #[schemars(range(min = 16_777_216, max = 1_099_511_627_776_u64))]
    memory_bytes: Option<u64>,
    /// The timeout of a whole turn, in milliseconds.
    #[schemars(range(min = 1, max = 86_400_000))]
    turn_ms: u64,
    /// The timeout for the first byte of a provider's reply, in milliseconds.
    #[schemars(range(min = 1, max = 3_600_000))]
    first_byte_ms: u64,
    /// The timeout between two parts of a provider's reply, in milliseconds.
    #[schemars(range(min = 1, max = 3_600_000))]
    idle_ms: u64,
    /// The timeout of one tool call, in milliseconds.
    #[schemars(range(min = 1, max = 3_600_000))]
    tool_ms: u64,
    /// The most tools that one turn runs concurrently.
    #[schemars(range(min = 1, max = 64))]
    parallel_tools: usize,
    /// The most sub-agents that work concurrently in one turn, over all levels. One that waits for
    /// others does not count.
    #[schemars(range(min = 2, max = 4))]
    parallel_agents: usize,
    /// Usage quotas per day or month.
    quotas: Vec<QuotaEntry>,
    /// Rate limits for users and IP addresses.
    rates: Vec<RateEntry>,
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

impl Default for LimitsEntry {
    fn default() -> Self {
        Self {
            header_read_ms: 10_000,
            body_read_ms: 30_000,
            body_bytes: 1 << 20,
            text_bytes: 256 << 10,
            file_bytes: 20 << 20,
            user_file_bytes: 500 << 20,
            connections: 8_000,
            connections_per_address: 200,
            write_ms: 30_000,
            heartbeat_ms: 15_000,
            drain_ms: 25_000,
            runs: 2_000,
            runs_per_user: None,
            memory_bytes: None,
            turn_ms: 15 * 60_000,
            first_byte_ms: 60_000,
            idle_ms: 60_000,
            tool_ms: 60_000,
            parallel_tools: 8,
            parallel_agents: 3,
            quotas: Vec::new(),
            rates: Vec::new(),
            trusted_proxies: Vec::new(),
        }
    }
}

impl From<LimitsEntry> for Limits {
    fn from(entry: LimitsEntry) -> Self {
        let ms = Duration::from_millis;
        Self {
            header_read: ms(entry.header_read_ms),
            body_read: ms(entry.body_read_ms),
            body_bytes: entry.body_bytes,
            text_bytes: entry.text_bytes,
            file_bytes: entry.file_bytes,
            user_file_bytes: entry.user_file_bytes,
            connections: entry.connections,
            connections_per_address: entry.connections_per_address,
            write: ms(entry.write_ms),
            heartbeat: ms(entry.heartbeat_ms),
            drain: ms(entry.drain_ms),
            runs: entry.runs,
            runs_per_user: entry.runs_per_user,
            memory_bytes: entry.memory_bytes,
            turn: ms(entry.turn_ms),
            first_byte: ms(entry.first_byte_ms),
            idle: ms(entry.idle_ms),
            tool: ms(entry.tool_ms),
            parallel_tools: entry.parallel_tools,
            parallel_agents: entry.parallel_agents,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        LimitsEntry::default().into()
    }
}

fn section<T: DeserializeOwned + JsonSchema>(node: &Node, context: &mut Context<'_, '_>) -> Option<T> {
    match node.kind {
        NodeKind::Null => None,
        _ => decode(node, Shape::for_type::<T>()?, context.report),
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
    let mut entry = section::<LimitsEntry>(node, context).unwrap_or_default();
    // If only `bodyBytes` is set, and below the default of `textBytes`, it limits texts as well.
    if node.get("textBytes").is_some() && entry.text_bytes > entry.body_bytes {
        let message = format!(
            "no text can have so many bytes: the request that holds it has {} at most (`bodyBytes`)",
            entry.body_bytes
        );
        let help = format!("write `bodyBytes` higher than {}, or a lower `textBytes`", entry.text_bytes);
        context.report.error(node.span_at(&[PathStep::Key("textBytes")]), message, Some(help));
    }
    let bounds = UserLimits {
        quotas: quotas::check(std::mem::take(&mut entry.quotas), node, context),
        rates: rates::check(std::mem::take(&mut entry.rates), node, context),
        trusted_proxies: parse_networks(&entry.trusted_proxies, node, context),
    };
    (entry.into(), bounds)
}

/// Reads `store`.
pub(super) fn store(node: &Node, context: &mut Context<'_, '_>) -> (Option<SecretString>, Retention) {
    let StoreEntry { url, retention } =
        section(node, context).unwrap_or(StoreEntry { url: None, retention: RetentionEntry::default() });
    (url.and_then(|url| read_database_url(url, node, context)), retention::check(retention, node, context))
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
