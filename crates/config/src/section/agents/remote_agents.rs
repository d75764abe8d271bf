//! Remote agents: connections of the type `RemoteAgent`, and an agent's `remoteAgents`.

use crate::agent::{RemoteAgentRef, SourceAnnotations};
use crate::auth::AuthMode;
use crate::config::Config;
use crate::connection::{ConnectionKind, RemoteAgentConnection};
use crate::section::confirm::ConfirmEntry;
use crate::section::user_auth::{self, Target, UserAuthEntry};
use crate::section::value::{Id, Setting, Text, check_patterns};
use crate::section::{Context, annotations, connections, type_of};
use crate::shape::list_items;
use config_source::{Node, PathStep};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use settings::ToolSelection;
use settings::user_auth::UserVariable;
use std::time::Duration;
use url::Url;

/// A remote agent: a server whose tools agents can call.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RemoteProperties {
    /// The base URL, to which `/tools` is appended.
    #[serde(rename = "baseURL")]
    base_url: Text,
    /// Sent as `x-api-key`, best as `{ _secret: NAME_OF_A_VARIABLE }`.
    api_key: Setting,
    /// A bearer token for all users, sent as `Authorization: Bearer …`.
    token: Option<Setting>,
    /// Sends the user's own access token as `Authorization: Bearer …`, in the auth modes `jwt` and
    /// `proxy`. No request is made for users without a token.
    #[serde(default)]
    user_token: bool,
    /// How requests are authorized on behalf of each user, as `Authorization: Bearer …`. No request is made for users
    /// without a token.
    auth: Option<UserAuthEntry>,
    /// Variables by name. Each one is sent as the header `x-NAME`.
    #[serde(default)]
    variables: IndexMap<String, VariableEntry>,
    /// Allows requests to this machine and private networks, and `http://`.
    #[serde(default)]
    allow_private: bool,
    /// The timeout of one call in milliseconds. Default: 60,000.
    #[schemars(range(min = 1, max = 3_600_000))]
    timeout_ms: Option<u64>,
}

/// The value of a variable.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum VariableEntry {
    /// The same for all users.
    Fixed(Setting),
    /// Each user enters their own at `/account/connections`.
    User(UserVariableEntry),
}

/// A variable that each user enters.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserVariableEntry {
    /// The name that users see.
    name: Text,
    /// The explanation of the value that users should enter.
    description: Option<Text>,
    /// Whether the tools can be called only with it. Default: `true`.
    required: Option<bool>,
}

/// A remote agent whose tools an agent may call.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RemoteEntry {
    /// The id of a connection of the type `RemoteAgent`.
    Short(Id),
    /// A connection with settings.
    Long(Box<RemoteSourceProperties>),
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RemoteSourceProperties {
    /// The id of a connection of the type `RemoteAgent`.
    connection_id: Id,
    /// Lets the user approve each call, also of tools that do not ask for it themselves. Default:
    /// the tool decides.
    confirm: Option<ConfirmEntry>,
    #[serde(flatten)]
    tools: ToolSelection,
    /// The prefix of its tools' names, as in `prefix__name`.
    prefix: Option<Text>,
    #[serde(flatten)]
    annotations: SourceAnnotations,
}

/// Reads a connection.
pub(crate) fn connection(
    id: &str,
    properties: RemoteProperties,
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<RemoteAgentConnection> {
    let RemoteProperties {
        base_url: Text(base_url),
        api_key,
        token,
        user_token,
        auth,
        variables,
        allow_private,
        timeout_ms,
    } = properties;
    let place = |key| node.span_at(&[PathStep::Key("properties"), PathStep::Key(key)]);
    let address = connections::check_base_url(&base_url, place("baseURL"), context)?;
    if !allow_private && address.starts_with("http:") {
        let help = "write `https://`, or `allowPrivate: true` for a server of your own network".to_owned();
        context.report.error(
            place("baseURL"),
            "the key would be sent over `http://`, where others can read it",
            Some(help),
        );
        return None;
    }
    if api_key.is_plain() {
        let help = "write `apiKey: { _secret: NAME }` and set the environment variable NAME".to_owned();
        context.report.warning(place("apiKey"), "the config contains a key, which others may read", Some(help));
    }
    if user_token && token.is_some() {
        let help = "leave out `token`, or `userToken`".to_owned();
        context.report.error(place("userToken"), "there is a token for all users already", Some(help));
    }
    let of = |key: &str| format!("`{key}` of the connection `{id}`");
    let token = match token {
        Some(setting) => Some(setting.resolve(place("token"), &of("token"), context)?),
        None => None,
    };
    let (mut fixed, mut user_variables) = (Vec::new(), Vec::new());
    for (key, entry) in variables {
        let at = node.span_at(&[PathStep::Key("properties"), PathStep::Key("variables"), PathStep::Key(&key)]);
        match entry {
            VariableEntry::Fixed(setting) => {
                let value = setting.resolve(at, &of(&format!("variables.{key}")), context)?;
                fixed.push((key, value));
            }
            VariableEntry::User(UserVariableEntry { name: Text(name), description, required }) => {
                let description = description.map(|Text(text)| text).unwrap_or_default();
                user_variables.push(UserVariable { key, name, description, is_required: required.unwrap_or(true) });
            }
        }
    }
    let base_url = Url::parse(&address).ok()?;
    let auth = match auth {
        Some(_) if token.is_some() || user_token => {
            let help = "leave out `token` and `userToken`, or `auth`".to_owned();
            context.report.error(place("auth"), "there are two ways to get a token", Some(help));
            return None;
        }
        Some(entry) => {
            let target = Target { id, url: &base_url, allow_private, is_mcp: false };
            let properties = node.get("properties").map_or(node, |entry| &entry.value);
            Some(user_auth::read(entry, &target, properties, context)?)
        }
        None => None,
    };
    Some(RemoteAgentConnection {
        variables: fixed,
        user_variables,
        auth,
        base_url,
        api_key: api_key.resolve(place("apiKey"), &of("apiKey"), context)?,
        token,
        user_token,
        allow_private,
        timeout: Duration::from_millis(timeout_ms.unwrap_or(60_000)),
    })
}

/// Reports connections with `userToken` in auth modes in which users have no token.
pub(crate) fn check_user_tokens(config: &Config, context: &mut Context<'_, '_>) {
    if matches!(config.auth.mode, AuthMode::Jwt(_) | AuthMode::Proxy(_)) {
        return;
    }
    for connection in config.connections.values() {
        let passes_on = matches!(&connection.kind, ConnectionKind::RemoteAgent(remote) if remote.user_token);
        let Some(node) = context.connections.get(connection.id.as_str()).filter(|_| passes_on) else { continue };
        let at = node.span_at(&[PathStep::Key("properties"), PathStep::Key("userToken")]);
        let message = format!("in the mode `{}` users have no token", config.auth.mode.name());
        let help = "leave it out, or choose the mode `jwt` or `proxy`".to_owned();
        context.report.error(at, message, Some(help));
    }
}

/// Reads an agent's `remoteAgents`.
pub(crate) fn read(agent: &Node, context: &mut Context<'_, '_>) -> Vec<RemoteAgentRef> {
    let Some(list) = agent.get("remoteAgents") else { return Vec::new() };
    let items = list_items(&list.value, context.report);
    items.iter().filter_map(|node| source(node, context)).collect()
}

fn source(node: &Node, context: &mut Context<'_, '_>) -> Option<RemoteAgentRef> {
    let properties = match context.decode::<RemoteEntry>(node)? {
        RemoteEntry::Long(properties) => *properties,
        RemoteEntry::Short(connection_id) => {
            let marks = SourceAnnotations::default();
            RemoteSourceProperties {
                connection_id,
                confirm: None,
                tools: ToolSelection::default(),
                prefix: None,
                annotations: marks,
            }
        }
    };
    let Id(id) = properties.connection_id.clone();
    let at = node.span_at(&[PathStep::Key("connectionId")]);
    let connection = context.connection(&id, at)?;
    if let Some(found) = type_of(connection).filter(|found| *found != "RemoteAgent") {
        let message =
            format!("`remoteAgents` needs a connection of the type RemoteAgent; `{id}` is of the type {found}");
        context.report.error(at, message, None);
        return None;
    }
    let ToolSelection { allow, deny } = &properties.tools;
    check_patterns(allow.as_deref().unwrap_or_default(), node.span_at(&[PathStep::Key("allow")]), context);
    check_patterns(deny, node.span_at(&[PathStep::Key("deny")]), context);
    Some(RemoteAgentRef {
        connection_id: id,
        confirm: ConfirmEntry::read(properties.confirm),
        tools: properties.tools,
        prefix: properties.prefix.map(|Text(text)| text),
        annotations: annotations::with_defaults(properties.annotations, false, node, context),
    })
}
