//! MCP servers: connections of the type `Mcp`, and an agent's `mcp`, which may name one, change it or stand alone.

use super::confirm::ConfirmEntry;
use super::marks::SourceMarksEntry;
use super::value::{Id, Setting, Text, patterns};
use super::{Context, type_of};
use crate::agent::McpRef;
use crate::config::{Connection, ConnectionKind, McpConnection, McpHttp, McpOauth, McpStdio, McpTransport};
use crate::shape::{Shape, decode, list_items};
use crate::source::{Node, Span, Step};
use indexmap::IndexMap;
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::time::Duration;
use url::{Host, Url};

/// Variables that make a program load or run something else than it says.
const LOADERS: [&str; 9] = [
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "NODE_OPTIONS",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "BASH_ENV",
    "ENV",
];
/// Arguments that are programs themselves.
const INLINE: [&str; 6] = ["-c", "-e", "--eval", "-p", "--print", "-r"];
/// Programs that take them.
const INTERPRETERS: [&str; 12] =
    ["sh", "bash", "zsh", "dash", "node", "deno", "bun", "python", "python3", "ruby", "perl", "php"];

/// How a server is reached.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct McpProperties {
    /// `http` unless it says something else, or there is a `command`.
    transport: Option<TransportEntry>,
    /// Of `http` and `sse`: where the server is.
    url: Option<Setting>,
    /// Of `http` and `sse`: headers to send with each request.
    #[serde(default)]
    headers: IndexMap<String, Setting>,
    /// Of `http` and `sse`: how to get a token.
    oauth: Option<OauthEntry>,
    /// Of `http` and `sse`: whether its name may lead to this machine or its networks. Without it, it may where `url` says so plainly:
    /// `localhost`, or such an address.
    allow_private: Option<bool>,
    /// Of `stdio`: the program to start.
    command: Option<Text>,
    /// Of `stdio`: its arguments.
    #[serde(default)]
    args: Vec<String>,
    /// Of `stdio`: variables of its environment, which is empty but for `PATH`, `HOME` and the like.
    #[serde(default)]
    env: IndexMap<String, Setting>,
    /// One connection for all users, whom the server then cannot tell apart. Without it each user has one.
    shared: Option<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("x-names" = "transport"))]
enum TransportEntry {
    /// Streamable HTTP.
    Http,
    /// The HTTP transport of 2024.
    Sse,
    /// A program that is started here.
    Stdio,
}

/// OAuth for programs: a token by client credentials, or by a refresh token.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OauthEntry {
    /// Where tokens are given.
    token_url: Text,
    /// Who asks.
    client_id: Text,
    /// Its secret.
    client_secret: Setting,
    /// Use this instead of the grant for programs.
    refresh_token: Option<Setting>,
    /// What for.
    scope: Option<Text>,
}

/// A server's tools for an agent.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum McpEntry {
    /// A connection of the type `Mcp`.
    Short(Id),
    /// With settings, or a server of the agent's own.
    Long(Box<McpSourceProperties>),
}

/// A server, and what the agent takes of it. Settings of the server go before those of the connection.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct McpSourceProperties {
    /// A connection of the type `Mcp`.
    connection_id: Option<Id>,
    #[serde(flatten)]
    server: McpProperties,
    /// Ask the user before each call.
    confirm: Option<ConfirmEntry>,
    /// Only tools whose names match one of these patterns, as in `read_*`.
    allow: Option<Vec<Text>>,
    /// Not those that match one of these.
    #[serde(default)]
    deny: Vec<Text>,
    /// Put before the names of its tools.
    prefix: Option<Text>,
    /// For one call, in milliseconds; `limits.toolMs` without it.
    #[schemars(range(min = 1, max = 3_600_000))]
    timeout_ms: Option<u64>,
    /// Take the server's own word for it that a tool is `idempotent`: its annotations `idempotentHint` and `readOnlyHint`.
    #[serde(default)]
    idempotent_hint: bool,
    #[serde(flatten)]
    marks: SourceMarksEntry,
}

/// Reads a connection.
pub(super) fn connection(
    id: &str,
    properties: McpProperties,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<McpConnection> {
    let place = node.get("properties").map_or(node, |entry| &entry.value);
    complete(id, None, properties, place, context)
}

/// Reads an agent's list.
pub(super) fn read(
    agent: &Node,
    connections: &IndexMap<String, Connection>,
    context: &mut Context<'_, '_>,
) -> Vec<McpRef> {
    let Some(list) = agent.get("mcp") else { return Vec::new() };
    let items = list_items(&list.value, context.report);
    items.iter().filter_map(|node| source(node, connections, context)).collect()
}

fn source(node: &Node, connections: &IndexMap<String, Connection>, context: &mut Context<'_, '_>) -> Option<McpRef> {
    let properties = match decode(node, Shape::of::<McpEntry>()?, context.report)? {
        McpEntry::Long(properties) => *properties,
        McpEntry::Short(id) => McpSourceProperties {
            connection_id: Some(id),
            server: McpProperties::default(),
            confirm: None,
            allow: None,
            deny: Vec::new(),
            prefix: None,
            timeout_ms: None,
            idempotent_hint: false,
            marks: SourceMarksEntry::default(),
        },
    };
    let base = match &properties.connection_id {
        Some(Id(id)) => Some(named(id, node, connections, context)?),
        None => None,
    };
    let name = properties.connection_id.map_or_else(|| own_name(&properties.server), |Id(id)| id);
    let mut names = |texts, key| patterns(texts, node.at(&[Step::Key(key)]), context);
    let (allow, deny) = (properties.allow.map(|texts| names(texts, "allow")), names(properties.deny, "deny"));
    let server = complete(&name, base, properties.server, node, context)?;
    // What runs here reads what is here.
    let is_private = matches!(server.transport, McpTransport::Stdio(_));
    Some(McpRef {
        marks: properties.marks.read(is_private, node, context),
        server,
        name,
        confirm: ConfirmEntry::read(properties.confirm),
        allow,
        deny,
        prefix: properties.prefix.map(|Text(text)| text).unwrap_or_default(),
        timeout: properties.timeout_ms.map(Duration::from_millis),
        idempotent_hint: properties.idempotent_hint,
    })
}

/// The connection with this id. One that is wrong itself has been reported.
fn named<'c>(
    id: &str,
    node: &Node,
    connections: &'c IndexMap<String, Connection>,
    context: &mut Context<'_, '_>,
) -> Option<&'c McpConnection> {
    let at = node.at(&[Step::Key("connectionId")]);
    let declared = context.connection(id, at)?;
    if let Some(found) = type_of(declared).filter(|found| *found != "Mcp") {
        let message = format!("`mcp` needs a connection of the type Mcp; `{id}` is of the type {found}");
        context.report.error(at, message, None);
        return None;
    }
    match &connections.get(id)?.kind {
        ConnectionKind::Mcp(connection) => Some(connection),
        _ => None,
    }
}

/// What a server without a connection is called.
fn own_name(server: &McpProperties) -> String {
    let host = |setting: &Setting| Some(Url::parse(setting.plain()?).ok()?.host_str()?.to_owned());
    let program = |Text(command): &Text| command.rsplit('/').next().map(str::to_owned);
    let url = server.url.as_ref().and_then(host);
    url.or_else(|| server.command.as_ref().and_then(program)).unwrap_or_else(|| "MCP server".to_owned())
}

/// The settings over those of a connection, if everything that the transport needs is there.
fn complete(
    name: &str,
    base: Option<&McpConnection>,
    properties: McpProperties,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<McpConnection> {
    let kind = properties.transport.unwrap_or_else(|| match base.map(|base| &base.transport) {
        _ if properties.url.is_some() => TransportEntry::Http,
        _ if properties.command.is_some() => TransportEntry::Stdio,
        Some(McpTransport::Stdio(_)) => TransportEntry::Stdio,
        Some(McpTransport::Sse(_)) => TransportEntry::Sse,
        Some(McpTransport::Http(_)) | None => TransportEntry::Http,
    });
    let shared = properties.shared.unwrap_or_else(|| base.is_some_and(|base| base.shared));
    let transport = match kind {
        TransportEntry::Stdio => McpTransport::Stdio(stdio(name, base, properties, node, context)?),
        TransportEntry::Http => McpTransport::Http(http(name, base, properties, node, context)?),
        TransportEntry::Sse => McpTransport::Sse(http(name, base, properties, node, context)?),
    };
    Some(McpConnection { transport, shared })
}

fn stdio(
    name: &str,
    base: Option<&McpConnection>,
    properties: McpProperties,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<McpStdio> {
    let known = match base.map(|base| &base.transport) {
        Some(McpTransport::Stdio(known)) => Some(known),
        _ => None,
    };
    let command = properties.command.map(|Text(command)| command).or_else(|| known.map(|of| of.command.clone()));
    let Some(command) = command else {
        let help = "`stdio` starts a program: name it, for example `command: npx`".to_owned();
        context.report.error(node.at, format!("the MCP server `{name}` has no `command`"), Some(help));
        return None;
    };
    refuse_inline(&command, &properties.args, node, context);
    let own = properties.env.into_iter().map(|(variable, setting)| {
        let at = node.at(&[Step::Key("env"), Step::Key(&variable)]);
        if LOADERS.contains(&variable.as_str()) {
            let message = format!("`{variable}` is refused: it makes a program run something else than `command` says");
            context.report.error(at, message, None);
            return None;
        }
        let value = setting.resolve(at, &format!("`{variable}` of the MCP server `{name}`"), context)?;
        Some((variable, value))
    });
    let own = own.collect::<Option<Vec<_>>>()?;
    Some(McpStdio {
        args: if properties.args.is_empty() {
            known.map(|of| of.args.clone()).unwrap_or_default()
        } else {
            properties.args
        },
        command,
        env: over(known.map(|of| of.env.as_slice()).unwrap_or_default(), own),
    })
}

/// A program in an argument is a program that nobody reviews.
fn refuse_inline(command: &str, args: &[String], node: &Node, context: &mut Context<'_, '_>) {
    let program = command.rsplit('/').next().unwrap_or(command);
    let inline = args.iter().position(|arg| INLINE.contains(&arg.split('=').next().unwrap_or(arg)));
    if let Some(position) = inline.filter(|_| INTERPRETERS.contains(&program)) {
        let at = node.at(&[Step::Key("args"), Step::Index(position)]);
        let message = format!("`{}` hands `{program}` a program in its arguments, which is refused", args[position]);
        context.report.error(at, message, Some("put it into a file of its own and name that".to_owned()));
    }
}

fn http(
    name: &str,
    base: Option<&McpConnection>,
    properties: McpProperties,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<McpHttp> {
    let known = match base.map(|base| &base.transport) {
        Some(McpTransport::Http(known) | McpTransport::Sse(known)) => Some(known),
        _ => None,
    };
    let url = match properties.url {
        Some(setting) => {
            let at = node.at(&[Step::Key("url")]);
            let text = setting.resolve(at, &format!("`url` of the MCP server `{name}`"), context)?;
            Some(address(text.expose_secret(), at, context)?)
        }
        None => known.map(|known| known.url.clone()),
    };
    let Some(url) = url else {
        let help = "name its address, or write `transport: stdio` and the `command` that starts it".to_owned();
        context.report.error(node.at, format!("the MCP server `{name}` has no `url`"), Some(help));
        return None;
    };
    let own = properties.headers.into_iter().map(|(header, setting)| {
        let at = node.at(&[Step::Key("headers"), Step::Key(&header)]);
        let value = setting.resolve(at, &format!("header `{header}` of the MCP server `{name}`"), context)?;
        Some((header, value))
    });
    let own = own.collect::<Option<Vec<_>>>()?;
    let said = properties.allow_private.or_else(|| known.map(|known| known.allow_private));
    let allow_private = said.unwrap_or(false) || is_plainly_private(&url);
    let oauth = match properties.oauth {
        Some(entry) => Some(oauth((name, allow_private), entry, node, context)?),
        None => known.and_then(|known| known.oauth.clone()),
    };
    Some(McpHttp {
        allow_private,
        url,
        headers: over(known.map(|of| of.headers.as_slice()).unwrap_or_default(), own),
        oauth,
    })
}

fn oauth(
    (name, allow_private): (&str, bool),
    entry: OauthEntry,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<McpOauth> {
    let place = |key| node.at(&[Step::Key("oauth"), Step::Key(key)]);
    let of = |key: &str| format!("`oauth.{key}` of the MCP server `{name}`");
    let refresh_token = match entry.refresh_token {
        Some(setting) => Some(setting.resolve(place("refreshToken"), &of("refreshToken"), context)?),
        None => None,
    };
    let token_url = address(&entry.token_url.0, place("tokenUrl"), context)?;
    if token_url.scheme() == "http" && !allow_private && !is_plainly_private(&token_url) {
        let help = "write `https://`, or `allowPrivate: true` for a server of your own network".to_owned();
        let message = "the secret would be sent over `http://`, where others can read it";
        context.report.error(place("tokenUrl"), message, Some(help));
        return None;
    }
    Some(McpOauth {
        token_url,
        client_id: entry.client_id.0,
        client_secret: entry.client_secret.resolve(place("clientSecret"), &of("clientSecret"), context)?,
        refresh_token,
        scope: entry.scope.map(|Text(scope)| scope),
    })
}

fn address(text: &str, at: Span, context: &mut Context<'_, '_>) -> Option<Url> {
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

/// Whoever writes such an address means this machine or its networks.
fn is_plainly_private(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_private(),
        Some(Host::Ipv6(address)) => address.is_loopback() || address.is_unique_local(),
        None => false,
    }
}

/// A server's own pairs go before those of its connection.
fn over(known: &[(String, SecretString)], own: Vec<(String, SecretString)>) -> Vec<(String, SecretString)> {
    let kept = known.iter().filter(|(name, _)| !own.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
    kept.cloned().collect::<Vec<_>>().into_iter().chain(own).collect()
}
