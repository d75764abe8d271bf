//! The section `connections`.

use super::agents::mcp;
use super::agents::mcp::McpProperties;
use super::agents::remote_agents;
use super::agents::remote_agents::RemoteProperties;
use super::user_auth::{self, UserAuthEntry};
use super::value::{Id, Setting, Text};
use super::{Context, type_of};
use crate::connection::{Connection, ConnectionKind, DemoConnection, HttpConnection, ModelConnection, SqlConnection};
use crate::connection_type::ConnectionType;
use crate::shape::{check_value, list_items};
use config_source::{Node, PathStep};
use dialect::Dialect;
use indexmap::IndexMap;
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::time::Duration;
use url::Url;

/// The end of a help line for authors without an API key.
const WITHOUT_KEY: &str = "to try without a key, use a connection of `type: Demo` and an agent of `type: Agent`";

/// A connection to an external service, such as a model provider or a database.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ConnectionEntry {
    /// The name by which agents and requests refer to it.
    id: Id,
    #[serde(flatten)]
    kind: ConnectionTypeEntry,
}

/// The type of a connection, with its settings.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type", content = "properties")]
#[schemars(extend("x-names" = "connection type"))]
enum ConnectionTypeEntry {
    /// Anthropic's Messages API.
    Anthropic(ModelProperties),
    /// OpenAI's own API.
    OpenAI(ModelProperties),
    /// The Chat Completions API at any address: a local model, a gateway or another provider.
    OpenAICompatible(ModelProperties),
    /// Google's Gemini API.
    Google(ModelProperties),
    /// Vercel's AI Gateway.
    AIGateway(ModelProperties),
    /// The built-in offline model of the demo. It is deterministic and needs no key.
    Demo(DemoConnection),
    /// A SQL database.
    Sql(SqlProperties),
    /// An HTTP service.
    Http(HttpProperties),
    /// A server of the Model Context Protocol (MCP), whose tools agents can call.
    Mcp(Box<McpProperties>),
    /// A remote agent: a server whose tools agents can call.
    RemoteAgent(Box<RemoteProperties>),
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ModelProperties {
    /// The provider's API key, best as `{ _secret: NAME_OF_A_VARIABLE }`.
    api_key: Option<Setting>,
    /// The base URL, if it is not the provider's own.
    #[serde(rename = "baseURL")]
    base_url: Option<Text>,
    /// Additional headers of each request.
    #[serde(default)]
    headers: IndexMap<String, Setting>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SqlProperties {
    /// `sqlite://PATH`, `sqlite::memory:` or `postgres://USER:PASSWORD@HOST/DATABASE`. Write a URL
    /// with a password as `{ _secret: NAME_OF_A_VARIABLE }`.
    url: Setting,
    /// Refuses every statement that writes.
    #[serde(default)]
    read_only: bool,
    /// SQL to run once if the database has no tables yet, for example `{ _ref: tables.sql }`.
    init: Option<Text>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HttpProperties {
    /// The address below which every request stays.
    #[serde(rename = "baseURL")]
    base_url: Text,
    /// Additional headers of each request.
    #[serde(default)]
    headers: IndexMap<String, Setting>,
    /// Allows requests to this machine and private networks.
    #[serde(default)]
    allow_private: bool,
    /// The timeout of one request in milliseconds. Default: 30,000.
    #[schemars(range(min = 1, max = 600_000))]
    timeout_ms: Option<u64>,
    /// Sends each request with a token of the user for whom the routine runs. Default: only `headers` are sent, the same
    /// for all users.
    auth: Option<UserAuthEntry>,
}

/// Reads the section. `types` are those that capabilities bring.
pub(super) fn read(
    section: &Node,
    types: &[ConnectionType],
    context: &mut Context<'_, '_>,
) -> IndexMap<String, Connection> {
    let items = list_items(section, context.report);
    let connections = items.iter().filter_map(|node| {
        let added = type_of(node).and_then(|name| types.iter().find(|added| added.name == name));
        let (id, kind) = match added {
            Some(added) => read_added(added, node, context)?,
            None => read_built_in(node, context)?,
        };
        Some((id.clone(), Connection { id, kind, at: context.report.location(node.at) }))
    });
    connections.collect()
}

fn read_built_in(node: &Node, context: &mut Context<'_, '_>) -> Option<(String, ConnectionKind)> {
    let ConnectionEntry { id: Id(id), kind: entry } = context.decode(node)?;
    let kind = kind(&id, entry, node, context)?;
    Some((id, kind))
}

/// Reads a connection whose type a capability brings.
fn read_added(added: &ConnectionType, node: &Node, context: &mut Context<'_, '_>) -> Option<(String, ConnectionKind)> {
    let mut checked = check_value(node, context.shape::<ConnectionEntry>()?, context.report)?;
    let kind = added.read(node, checked["properties"].take(), context)?;
    Some((checked["id"].as_str()?.to_owned(), kind))
}

/// Whether there is a type of connection with this name.
pub(super) fn is_type(name: &str, context: &Context<'_, '_>) -> bool {
    context
        .shape::<ConnectionEntry>()
        .is_some_and(|shape| shape.tagged_alternatives("type").any(|(known, _)| known == name))
}

fn kind(id: &str, entry: ConnectionTypeEntry, node: &Node, context: &mut Context<'_, '_>) -> Option<ConnectionKind> {
    let mut model = |properties, needs_address| model_connection(id, properties, node, needs_address, context);
    Some(match entry {
        ConnectionTypeEntry::Anthropic(properties) => ConnectionKind::Anthropic(model(properties, false)?),
        ConnectionTypeEntry::OpenAI(properties) => ConnectionKind::OpenAi(model(properties, false)?),
        ConnectionTypeEntry::OpenAICompatible(properties) => ConnectionKind::OpenAiCompatible(model(properties, true)?),
        ConnectionTypeEntry::Google(properties) => ConnectionKind::Google(model(properties, false)?),
        ConnectionTypeEntry::AIGateway(properties) => ConnectionKind::AiGateway(model(properties, false)?),
        ConnectionTypeEntry::Demo(demo) => ConnectionKind::Demo(demo),
        ConnectionTypeEntry::Sql(properties) => ConnectionKind::Sql(sql(id, properties, node, context)?),
        ConnectionTypeEntry::RemoteAgent(properties) => {
            ConnectionKind::RemoteAgent(remote_agents::connection(id, *properties, node, context)?)
        }
        ConnectionTypeEntry::Http(properties) => ConnectionKind::Http(http(id, properties, node, context)?),
        ConnectionTypeEntry::Mcp(properties) => ConnectionKind::Mcp(mcp::connection(id, *properties, node, context)?),
    })
}

fn model_connection(
    id: &str,
    properties: ModelProperties,
    node: &Node,
    needs_address: bool,
    context: &mut Context<'_, '_>,
) -> Option<ModelConnection> {
    let place = |key| node.span_at(&[PathStep::Key("properties"), PathStep::Key(key)]);
    let ModelProperties { api_key, base_url, headers } = properties;
    if needs_address && base_url.is_none() {
        context.report.error(
            node.at,
            format!("the connection `{id}` has no `baseURL`"),
            Some("there is no default address for this type".to_owned()),
        );
        return None;
    }
    if !needs_address && base_url.is_none() && api_key.is_none() {
        let help = "write `apiKey: { _secret: NAME }` and set the environment variable NAME".to_owned();
        context.report.error(node.at, format!("the connection `{id}` has no `apiKey`"), Some(help));
        return None;
    }
    if api_key.as_ref().is_some_and(Setting::is_plain) {
        let help = "write `apiKey: { _secret: NAME }` and set the environment variable NAME".to_owned();
        context.report.warning(place("apiKey"), "the config contains a key, which others may read", Some(help));
    }
    let base_url = match base_url {
        Some(Text(text)) => Some(check_base_url(&text, place("baseURL"), context)?),
        None => None,
    };
    let api_key = match api_key {
        Some(setting) => {
            let purpose = format!("`apiKey` of the connection `{id}`; {WITHOUT_KEY}");
            Some(setting.resolve(place("apiKey"), &purpose, context)?)
        }
        None => None,
    };
    let headers = resolved_headers(id, headers, node, context)?;
    Some(ModelConnection { api_key, base_url, headers, public_only: false })
}

fn resolved_headers(
    id: &str,
    headers: IndexMap<String, Setting>,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<Vec<(String, SecretString)>> {
    let headers = headers.into_iter().map(|(name, setting)| {
        let at = node.span_at(&[PathStep::Key("properties"), PathStep::Key("headers"), PathStep::Key(&name)]);
        let value = setting.resolve(at, &format!("header `{name}` of the connection `{id}`"), context)?;
        Some((name, value))
    });
    headers.collect()
}

fn http(id: &str, properties: HttpProperties, node: &Node, context: &mut Context<'_, '_>) -> Option<HttpConnection> {
    let HttpProperties { base_url: Text(base_url), headers, allow_private, timeout_ms, auth } = properties;
    let at = node.span_at(&[PathStep::Key("properties"), PathStep::Key("baseURL")]);
    let base_url = Url::parse(&check_base_url(&base_url, at, context)?).ok()?;
    let fixed = headers.keys().find(|name| name.eq_ignore_ascii_case("authorization")).filter(|_| auth.is_some());
    if let Some(name) = fixed {
        let at = node.span_at(&[PathStep::Key("properties"), PathStep::Key("headers"), PathStep::Key(name)]);
        let help = "leave out this header, or `auth`".to_owned();
        context.report.error(at, "there are two values of the header `authorization`", Some(help));
        return None;
    }
    let target = user_auth::Target { id, url: &base_url, allow_private, is_mcp: false };
    let properties = node.get("properties").map(|properties| &properties.value);
    let auth = match (auth, properties) {
        (Some(entry), Some(properties)) => Some(user_auth::read(entry, &target, properties, context)?),
        _ => None,
    };
    Some(HttpConnection {
        headers: resolved_headers(id, headers, node, context)?,
        auth,
        base_url,
        allow_private,
        timeout: Duration::from_millis(timeout_ms.unwrap_or(30_000)),
    })
}

/// Checks a base URL and returns it without a slash at the end.
pub(super) fn check_base_url(text: &str, at: config_source::Span, context: &mut Context<'_, '_>) -> Option<String> {
    let problem = match Url::parse(text) {
        Ok(url) if !matches!(url.scheme(), "http" | "https") => "this address must start with `https://` or `http://`",
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            "this address holds a user name or a password"
        }
        Ok(url) if url.query().is_some() || url.fragment().is_some() => "this address must end with its path",
        Ok(_) => return Some(text.trim_end_matches('/').to_owned()),
        Err(_) => "this is not a web address",
    };
    context.report.error(at, problem, Some("for example `https://api.example.com/v1`".to_owned()));
    None
}

fn sql(id: &str, properties: SqlProperties, node: &Node, context: &mut Context<'_, '_>) -> Option<SqlConnection> {
    let at = node.span_at(&[PathStep::Key("properties"), PathStep::Key("url")]);
    let is_plain = properties.url.is_plain();
    let url = properties.url.resolve(at, &format!("`url` of the connection `{id}`"), context)?;
    if let Err(error) = Dialect::from_address(url.expose_secret()) {
        context.report.error(at, error.to_string(), Some(error.help()));
        return None;
    }
    if is_plain && dialect::has_password(url.expose_secret()) {
        let help =
            "write `url: { _secret: NAME }` and set the environment variable NAME to the whole address".to_owned();
        context.report.warning(at, "the config contains a password, which others may read", Some(help));
    }
    Some(SqlConnection { url, read_only: properties.read_only, init: properties.init.map(|Text(text)| text) })
}

/// Returns the SQL dialect of a connection of the type `Sql`, if its URL is known.
pub(super) fn dialect_of(connection: &Node, context: &Context<'_, '_>) -> Option<Dialect> {
    let url = &connection.get("properties")?.value.get("url")?.value;
    let address = match url.text() {
        Some(text) => text.to_owned(),
        None => context.env.get(url.get("_secret")?.value.text()?)?,
    };
    Dialect::from_address(&address).ok()
}
