//! A server as the API shows and reads it, in the form of `mcpServers` of other programs.

use crate::address;
use crate::definition::{Rules, SecretField, ServerDefinition, Slot, TransportKind};
use crate::secrets::Secrets;
use added_entries::MASK;
use schemars::JsonSchema;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A value that may be a secret: a text, or `{ "_secret": NAME }` for an environment variable that the config
/// names in `mcpServers.secrets`. Stored texts are shown as `***`; sent back, that leaves them as they are.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "McpSecretValue")]
pub(crate) enum SecretValue {
    /// A text.
    Text(String),
    /// An environment variable.
    Reference(SecretReference),
}

/// The name of an environment variable.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "McpSecretReference")]
pub(crate) struct SecretReference {
    /// The name.
    #[serde(rename = "_secret")]
    pub(crate) secret: String,
}

/// Formats the reference, and nothing of a text.
impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => f.write_str(MASK),
            Self::Reference(reference) => write!(f, "{{ _secret: {} }}", reference.secret),
        }
    }
}

/// An MCP server that administrators add.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(rename = "AddedMcpServer")]
pub(crate) struct ServerBody {
    /// Whether agents get its tools.
    pub(crate) enabled: bool,
    /// The purpose of the server, for administrators.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
    /// How it is reached. Default: `stdio` if there is a `command`, else `http`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) transport: Option<TransportKind>,
    /// The address, for `http` and `sse`. Parts that may be a key are shown as `***`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<SecretValue>,
    /// Headers of each request.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, SecretValue>,
    /// How to obtain an access token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) oauth: Option<OauthBody>,
    /// For `stdio`: the program. The config must allow it with its arguments (`mcpServers.commands`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    /// For `stdio`: the arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) args: Vec<String>,
    /// The ids of the agents of the config that get its tools. Default: none.
    pub(crate) agents: Vec<String>,
    /// Patterns of tool names, such as `read_*`: only these tools are offered. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) allow: Option<Vec<String>>,
    /// Patterns of tool names that are not offered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) deny: Vec<String>,
    /// The prefix of its tools' names.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) prefix: String,
    /// Whether the user approves each call.
    pub(crate) confirm: bool,
    /// Whether all users share one connection.
    pub(crate) shared: bool,
    /// The timeout of one call in milliseconds. Default: that of the config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_ms: Option<u64>,
    /// Whether its results may hold private data. Default: `true` for a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reads_private: Option<bool>,
    /// Whether its results may hold text by anybody, with instructions in it. Default: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) returns_untrusted: Option<bool>,
    /// Whether its tools can send data to others, so that the user is asked once the agent has read both
    /// private data and untrusted text. Default: `true` for `http` and `sse`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) egress: Option<bool>,
}

/// OAuth without a user: client credentials, or a refresh token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "AddedMcpOauth")]
pub(crate) struct OauthBody {
    /// The address of the token endpoint.
    pub(crate) token_url: SecretValue,
    /// The client id.
    pub(crate) client_id: String,
    /// The client secret.
    pub(crate) client_secret: SecretValue,
    /// The refresh token to use instead of the client credentials grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refresh_token: Option<SecretValue>,
    /// The requested scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scope: Option<String>,
}

impl Default for ServerBody {
    fn default() -> Self {
        Self {
            enabled: true,
            description: String::new(),
            transport: None,
            url: None,
            headers: BTreeMap::new(),
            oauth: None,
            command: None,
            args: Vec::new(),
            agents: Vec::new(),
            allow: None,
            deny: Vec::new(),
            prefix: String::new(),
            confirm: false,
            shared: false,
            timeout_ms: None,
            reads_private: None,
            returns_untrusted: None,
            egress: None,
        }
    }
}

impl ServerBody {
    /// Returns how the server is reached.
    pub(crate) fn kind(&self) -> TransportKind {
        let default = if self.command.is_some() { TransportKind::Stdio } else { TransportKind::Http };
        self.transport.unwrap_or(default)
    }

    /// Returns a stored server without its secrets. They are needed for what may be shown of an address.
    pub(crate) fn masked(enabled: bool, definition: &ServerDefinition, secrets: &Secrets, rules: Rules<'_>) -> Self {
        let address = |slot: &Slot, place: &str| match slot {
            Slot::Sealed => SecretValue::Text(shown_address(slot, place, secrets, rules)),
            slot => masked(slot),
        };
        let command = definition.command.split_first();
        let oauth = definition.oauth.as_ref().map(|oauth| OauthBody {
            token_url: address(&oauth.token_url, SecretField::TOKEN_URL),
            client_id: oauth.client_id.clone(),
            client_secret: masked(&oauth.client_secret),
            refresh_token: oauth.refresh_token.as_ref().map(masked),
            scope: oauth.scope.clone(),
        });
        Self {
            enabled,
            description: definition.description.clone(),
            transport: Some(definition.transport),
            url: definition.url.as_ref().map(|url| address(url, SecretField::URL)),
            headers: definition.headers.iter().map(|(name, slot)| (name.clone(), masked(slot))).collect(),
            oauth,
            command: command.map(|(command, _)| command.clone()),
            args: command.map(|(_, args)| args.to_vec()).unwrap_or_default(),
            agents: definition.agents.clone(),
            allow: definition.allow.clone(),
            deny: definition.deny.clone(),
            prefix: definition.prefix.clone(),
            confirm: definition.confirm,
            shared: definition.shared,
            timeout_ms: definition.timeout_ms,
            reads_private: Some(definition.reads_private),
            returns_untrusted: Some(definition.returns_untrusted),
            egress: Some(definition.egress),
        }
    }
}

/// Returns what may be shown of a value.
fn masked(slot: &Slot) -> SecretValue {
    match slot {
        Slot::Plain(text) => SecretValue::Text(text.clone()),
        Slot::Reference(name) => SecretValue::Reference(SecretReference { secret: name.clone() }),
        Slot::Sealed => SecretValue::Text(MASK.to_owned()),
    }
}

/// Returns what may be shown of an encrypted address.
pub(crate) fn shown_address(slot: &Slot, place: &str, secrets: &Secrets, rules: Rules<'_>) -> String {
    let text = rules.value(slot, place, secrets).ok();
    // Whether the address is allowed does not matter here.
    let url = text.and_then(|text| address::parse(text.expose_secret(), true).ok());
    url.map_or_else(|| MASK.to_owned(), |url| address::shown(&url))
}
