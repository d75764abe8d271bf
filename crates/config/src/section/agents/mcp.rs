//! MCP servers: connections of the type `Mcp`, and an agent's `mcp`, which refers to a connection,
//! overrides its settings or defines a server of its own.

mod apps;
mod http;
mod programs;
mod unused;

use self::apps::AppsEntry;
use self::http::http;
use self::programs::{LOADER_VARIABLES, refuse_inline};
use self::unused::refuse_unused;
use crate::agent::{McpRef, SourceAnnotations};
use crate::connection::{Connection, ConnectionKind, McpConnection};
use crate::section::confirm::ConfirmEntry;
use crate::section::user_auth::UserAuthEntry;
use crate::section::value::{Id, SecretEntry, Setting, Text, check_patterns};
use crate::section::{Context, annotations, type_of};
use crate::shape::list_items;
use config_source::{Node, PathStep};
use indexmap::IndexMap;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use settings::ToolSelection;
use settings::mcp::{McpFeatures, McpTransport, StdioSettings};
use std::path::Path;
use std::time::Duration;
use url::Url;

/// How to connect to an MCP server.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct McpProperties {
    /// The transport. Default: `stdio` if there is a `command`, else `http`.
    transport: Option<TransportEntry>,
    /// For `http` and `sse`: the URL of the server.
    url: Option<Setting>,
    /// For `http` and `sse`: additional headers of each request.
    #[serde(default)]
    headers: IndexMap<String, Setting>,
    /// For `http` and `sse`: how to obtain an access token.
    oauth: Option<OauthEntry>,
    /// For `http` and `sse`: how requests are authorized on behalf of each user. In a connection only.
    auth: Option<UserAuthEntry>,
    /// For `http` and `sse`: whether the host may resolve to this machine or a private network.
    /// Default: `true` if `url` names `localhost` or a private address, else `false`.
    allow_private: Option<bool>,
    /// For `stdio`: the program to start.
    command: Option<Text>,
    /// For `stdio`: the program's arguments.
    #[serde(default)]
    args: Vec<String>,
    /// For `stdio`: environment variables of the program. It inherits only `PATH`, `HOME` and a few
    /// others.
    #[serde(default)]
    env: IndexMap<String, Setting>,
    /// Whether the server may ask the user something while one of its tools runs. Default: `true`.
    elicitation: Option<bool>,
    /// Lets agents list and read the server's resources. Default: `false`.
    resources: Option<bool>,
    /// Makes the server's prompts commands of the composer. Default: `false`.
    prompts: Option<bool>,
    /// Shows the user interfaces of its tools (MCP Apps) in the chat. Default: `false`.
    apps: Option<AppsEntry>,
    /// Uses one connection for all users, so that the MCP server cannot distinguish them. Default:
    /// `false`, one connection for each user.
    shared: Option<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("x-names" = "transport"))]
enum TransportEntry {
    /// Streamable HTTP.
    Http,
    /// HTTP with Server-Sent Events, the transport of MCP's version 2024-11-05.
    Sse,
    /// A program that the server starts.
    Stdio,
}

/// OAuth without a user: client credentials, or a refresh token.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OauthEntry {
    /// The URL of the token endpoint. Default: the one that the metadata of the authorization server name.
    token_url: Option<Setting>,
    /// The issuer of the authorization server, whose metadata name the token endpoint. Default: the one that the MCP
    /// server names.
    issuer: Option<Text>,
    /// The client id.
    client_id: Text,
    /// The client secret.
    client_secret: Option<Setting>,
    /// Instead of the secret, the private key with which the client signs assertions (`private_key_jwt`): an RSA key or one
    /// of the curves P-256 and P-384, in PEM (PKCS #8).
    private_key: Option<SecretEntry>,
    /// The refresh token to use instead of the client credentials grant.
    refresh_token: Option<Setting>,
    /// The requested scope.
    scope: Option<Text>,
}

/// An MCP server whose tools an agent may call.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum McpEntry {
    /// The id of a connection of the type `Mcp`.
    Short(Id),
    /// A connection with settings, or a server of the agent's own.
    Long(Box<McpSourceProperties>),
}

/// An MCP server as a source of tools. Settings of the server take precedence over those of the
/// connection.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct McpSourceProperties {
    /// The id of a connection of the type `Mcp`.
    connection_id: Option<Id>,
    #[serde(flatten)]
    server: McpProperties,
    /// Lets the user approve each call. Default: no approval.
    confirm: Option<ConfirmEntry>,
    #[serde(flatten)]
    tools: ToolSelection,
    /// The prefix of its tools' names.
    prefix: Option<Text>,
    /// The timeout of one call in milliseconds. Default: `limits.toolMs`.
    #[schemars(range(min = 1, max = 3_600_000))]
    timeout_ms: Option<u64>,
    /// Accepts the server's own annotations: `idempotentHint` and `readOnlyHint` as `idempotent`, and
    /// `readOnlyHint` as `readsOnly`.
    #[serde(default)]
    idempotent_hint: bool,
    #[serde(flatten)]
    annotations: SourceAnnotations,
}

/// Reads a connection.
pub(crate) fn connection(
    id: &str,
    properties: McpProperties,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<McpConnection> {
    let place = node.get("properties").map_or(node, |entry| &entry.value);
    merge_settings(id, None, properties, place, context)
}

/// Reads an agent's `mcp`.
pub(crate) fn read(
    agent: &Node,
    connections: &IndexMap<String, Connection>,
    context: &mut Context<'_, '_>,
) -> Vec<McpRef> {
    let Some(list) = agent.get("mcp") else { return Vec::new() };
    let items = list_items(&list.value, context.report);
    items.iter().filter_map(|node| source(node, connections, context)).collect()
}

fn source(node: &Node, connections: &IndexMap<String, Connection>, context: &mut Context<'_, '_>) -> Option<McpRef> {
    let properties = match context.decode::<McpEntry>(node)? {
        McpEntry::Long(properties) => *properties,
        McpEntry::Short(id) => McpSourceProperties {
            connection_id: Some(id),
            server: McpProperties::default(),
            confirm: None,
            tools: ToolSelection::default(),
            prefix: None,
            timeout_ms: None,
            idempotent_hint: false,
            annotations: SourceAnnotations::default(),
        },
    };
    let base = match &properties.connection_id {
        Some(Id(id)) => Some(find_connection(id, node, connections, context)?),
        None => None,
    };
    let name = match &properties.connection_id {
        Some(Id(id)) => id.clone(),
        None => default_name(&properties.server),
    };
    check_user_auth(base, &properties.server, node, context)?;
    let ToolSelection { allow, deny } = &properties.tools;
    check_patterns(allow.as_deref().unwrap_or_default(), node.span_at(&[PathStep::Key("allow")]), context);
    check_patterns(deny, node.span_at(&[PathStep::Key("deny")]), context);
    let server = merge_settings(&name, base, properties.server, node, context)?;
    // A local program can read local data.
    let is_private = matches!(server.transport, McpTransport::Stdio(_));
    Some(McpRef {
        annotations: annotations::with_defaults(properties.annotations, is_private, node, context),
        server,
        name,
        connection_id: properties.connection_id.map(|Id(id)| id),
        confirm: ConfirmEntry::read(properties.confirm),
        tools: properties.tools,
        prefix: properties.prefix.map(|Text(text)| text).unwrap_or_default(),
        timeout: properties.timeout_ms.map(Duration::from_millis),
        idempotent_hint: properties.idempotent_hint,
    })
}

/// Refuses an agent's own `auth`, and its own address for a connection with one: users connect their accounts to
/// connections, and know them by their ids.
fn check_user_auth(
    base: Option<&McpConnection>,
    server: &McpProperties,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<()> {
    let has_auth = base.is_some_and(|base| base.transport.user_service("").is_some());
    let (key, message) = match server {
        McpProperties { auth: Some(_), .. } => ("auth", "an agent cannot have its own `auth`"),
        McpProperties { url: Some(_), .. } if has_auth => {
            ("url", "the tokens of users are for the connection's address")
        }
        McpProperties { shared: Some(true), .. } if has_auth => {
            ("shared", "the connection is authorized for each user")
        }
        _ => return Some(()),
    };
    let help = "declare a connection of the type `Mcp` with it, and refer to that with `connectionId`".to_owned();
    context.report.error(node.span_at(&[PathStep::Key(key)]), message, Some(help));
    None
}

/// Returns the connection with an id. An invalid connection has been reported already.
fn find_connection<'c>(
    id: &str,
    node: &Node,
    connections: &'c IndexMap<String, Connection>,
    context: &mut Context<'_, '_>,
) -> Option<&'c McpConnection> {
    let at = node.span_at(&[PathStep::Key("connectionId")]);
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

/// Returns the name of a server without a connection.
fn default_name(server: &McpProperties) -> String {
    let host = |setting: &Setting| Some(Url::parse(setting.plain()?).ok()?.host_str()?.to_owned());
    let program = |Text(command): &Text| command.rsplit('/').next().map(str::to_owned);
    let url = server.url.as_ref().and_then(host);
    url.or_else(|| server.command.as_ref().and_then(program)).unwrap_or_else(|| "MCP server".to_owned())
}

/// Merges settings over those of a connection and checks that the transport has all it needs.
fn merge_settings(
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
    refuse_unused(&properties, (kind, base.is_some()), node, context)?;
    let McpProperties { elicitation, resources, prompts, ref apps, .. } = properties;
    let apps = apps.as_ref().map(|apps| apps::read(apps, node, context));
    if shared && properties.auth.is_some() {
        let help = "leave out `shared`, or `auth`".to_owned();
        let message = "one connection for all users cannot be authorized for each of them";
        context.report.error(node.span_at(&[PathStep::Key("shared")]), message, Some(help));
        return None;
    }
    let transport = match kind {
        TransportEntry::Stdio => McpTransport::Stdio(stdio(name, base, properties, node, context)?),
        TransportEntry::Http => McpTransport::Http(http(name, base, properties, node, context)?),
        TransportEntry::Sse => McpTransport::Sse(http(name, base, properties, node, context)?),
    };
    let base = base.map(|base| base.features.clone()).unwrap_or_default();
    let features = McpFeatures {
        elicitation: elicitation.unwrap_or(base.elicitation),
        resources: resources.unwrap_or(base.resources),
        prompts: prompts.unwrap_or(base.prompts),
        apps: apps.unwrap_or(base.apps),
    };
    Some(McpConnection { transport, shared, features })
}

fn stdio(
    name: &str,
    base: Option<&McpConnection>,
    properties: McpProperties,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<StdioSettings> {
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
        let at = node.span_at(&[PathStep::Key("env"), PathStep::Key(&variable)]);
        if LOADER_VARIABLES.contains(&variable.as_str()) {
            let message = format!("`{variable}` is refused: it can make a program run something other than `command`");
            context.report.error(at, message, None);
            return None;
        }
        let value = setting.resolve(at, &format!("`{variable}` of the MCP server `{name}`"), context)?;
        Some((variable, value))
    });
    let own = own.collect::<Option<Vec<_>>>()?;
    Some(StdioSettings {
        args: if properties.args.is_empty() {
            known.map(|of| of.args.clone()).unwrap_or_default()
        } else {
            properties.args
        },
        command,
        env: merge_pairs(known.map(|of| of.env.as_slice()).unwrap_or_default(), own),
        // Relative paths do not depend on where the server was started.
        folder: context.folder.map(Path::to_owned),
    })
}

/// Merges pairs. A server's own pairs take precedence over those of its connection.
fn merge_pairs(known: &[(String, SecretString)], own: Vec<(String, SecretString)>) -> Vec<(String, SecretString)> {
    let kept = known.iter().filter(|(name, _)| !own.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
    kept.cloned().collect::<Vec<_>>().into_iter().chain(own).collect()
}
