//! A server as it is stored, and what it becomes in the config.

use crate::address;
use crate::secrets::Secrets;
use crate::section::McpServers;
use config::{AnnotatedTools, Config, Env, McpConnection, McpRef, SourceAnnotations, compile_patterns};
use contract::Confirm;
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use settings::ToolSelection;
use settings::mcp::{
    ClientCredentials, ClientProof, HttpServerSettings, McpFeatures, McpTransport, StdioSettings, TokenEndpoint,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use url::Url;

/// How a server is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "AddedMcpTransport")]
pub(crate) enum TransportKind {
    /// Streamable HTTP.
    #[default]
    Http,
    /// HTTP with Server-Sent Events, the transport of MCP's version 2024-11-05.
    Sse,
    /// A program that the server starts, if the config allows its command line.
    Stdio,
}

impl TransportKind {
    /// Returns the name in the config.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Sse => "sse",
            Self::Stdio => "stdio",
        }
    }
}

/// A value that may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Slot {
    /// A value that may be shown.
    Plain(String),
    /// The name of an environment variable.
    Reference(String),
    /// A value among the encrypted secrets.
    Sealed,
}

/// The purpose of a value: its key among the secrets.
pub(crate) struct SecretField;

impl SecretField {
    pub(crate) const URL: &'static str = "url";
    pub(crate) const TOKEN_URL: &'static str = "oauth.tokenUrl";
    pub(crate) const CLIENT_SECRET: &'static str = "oauth.clientSecret";
    pub(crate) const REFRESH_TOKEN: &'static str = "oauth.refreshToken";

    /// The value of a header.
    pub(crate) fn header(name: &str) -> String {
        format!("headers.{}", name.to_ascii_lowercase())
    }
}

/// A server without its secrets, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ServerDefinition {
    pub(crate) description: String,
    pub(crate) transport: TransportKind,
    pub(crate) url: Option<Slot>,
    pub(crate) headers: BTreeMap<String, Slot>,
    pub(crate) oauth: Option<OauthDefinition>,
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// The ids of the agents that get the tools. Some may not be in the config any more.
    pub(crate) agents: Vec<String>,
    pub(crate) allow: Option<Vec<String>>,
    pub(crate) deny: Vec<String>,
    pub(crate) prefix: String,
    pub(crate) confirm: bool,
    pub(crate) shared: bool,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) reads_private: bool,
    pub(crate) returns_untrusted: bool,
    pub(crate) egress: bool,
}

/// How to obtain an access token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OauthDefinition {
    pub(crate) token_url: Slot,
    pub(crate) client_id: String,
    pub(crate) client_secret: Slot,
    pub(crate) refresh_token: Option<Slot>,
    pub(crate) scope: Option<String>,
}

impl Default for ServerDefinition {
    fn default() -> Self {
        Self {
            description: String::new(),
            transport: TransportKind::Http,
            url: None,
            headers: BTreeMap::new(),
            oauth: None,
            command: Vec::new(),
            agents: Vec::new(),
            allow: None,
            deny: Vec::new(),
            prefix: String::new(),
            confirm: false,
            shared: false,
            timeout_ms: None,
            reads_private: false,
            returns_untrusted: true,
            egress: true,
        }
    }
}

/// The rules that decide whether a server may be used, and the values of its references.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'r> {
    pub(crate) section: &'r McpServers,
    pub(crate) env: &'r dyn Env,
    /// The folder in which programs are started.
    pub(crate) folder: Option<&'r Path>,
}

impl<'r> Rules<'r> {
    /// Returns the rules of a config.
    pub(crate) fn from_config(config: &'r Config, section: &'r McpServers, env: &'r dyn Env) -> Self {
        Self { section, env, folder: config.folder.as_deref() }
    }

    /// Returns a value.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn value(&self, slot: &Slot, place: &str, secrets: &Secrets) -> Result<SecretString, String> {
        match slot {
            Slot::Plain(text) => Ok(text.clone().into()),
            Slot::Sealed => secrets.0.get(place).cloned().ok_or_else(|| format!("`{place}` has no stored value")),
            Slot::Reference(name) if !self.section.may_send(name) => Err(not_allowed(name)),
            Slot::Reference(name) => {
                let value = self.env.get(name).filter(|value| !value.is_empty());
                value.map(Into::into).ok_or_else(|| format!("the environment variable `{name}` is not set"))
            }
        }
    }

    /// Returns an address.
    ///
    /// # Errors
    /// Why there is none, without the address.
    pub(crate) fn address(&self, slot: &Slot, place: &str, secrets: &Secrets) -> Result<Url, String> {
        let text = self.value(slot, place, secrets)?;
        let url = address::parse(text.expose_secret(), self.section.allow_private);
        url.map_err(|problem| format!("`{place}`: {problem}"))
    }
}

/// Says that a variable may not be sent.
pub(crate) fn not_allowed(variable: &str) -> String {
    format!("added servers may not send the environment variable `{variable}`: name it in `mcpServers.secrets`")
}

impl ServerDefinition {
    /// Returns how to connect to the server.
    ///
    /// # Errors
    /// Why it cannot be used, without a secret.
    pub(crate) fn connection(&self, secrets: &Secrets, rules: Rules<'_>) -> Result<McpConnection, String> {
        let transport = match self.transport {
            TransportKind::Stdio => McpTransport::Stdio(self.program(rules)?),
            TransportKind::Http => McpTransport::Http(self.http(secrets, rules)?),
            TransportKind::Sse => McpTransport::Sse(self.http(secrets, rules)?),
        };
        Ok(McpConnection { transport, shared: self.shared, features: McpFeatures::default() })
    }

    fn program(&self, rules: Rules<'_>) -> Result<StdioSettings, String> {
        if !rules.section.command_lines().any(|line| line == self.command) {
            return Err("the config does not allow this command line: add it to `mcpServers.commands`".to_owned());
        }
        let (command, args) = self.command.split_first().ok_or("there is no command")?;
        let folder = rules.folder.map(Path::to_owned);
        Ok(StdioSettings { command: command.clone(), args: args.to_vec(), env: Vec::new(), folder })
    }

    fn http(&self, secrets: &Secrets, rules: Rules<'_>) -> Result<HttpServerSettings, String> {
        let url = rules.address(self.url.as_ref().ok_or("there is no address")?, SecretField::URL, secrets)?;
        let headers = self.headers.iter().map(|(name, slot)| {
            let value = rules.value(slot, &SecretField::header(name), secrets)?;
            Ok((name.clone(), value))
        });
        let headers = headers.collect::<Result<_, String>>()?;
        let oauth = self.oauth.as_ref().map(|oauth| oauth.credentials(secrets, rules)).transpose()?;
        Ok(HttpServerSettings { url, headers, allow_private: rules.section.allow_private, oauth, user_auth: None })
    }

    /// Returns whether the other one is reached in the same way, given the same secrets.
    pub(crate) fn is_reached_as(&self, other: &Self) -> bool {
        self.transport == other.transport
            && self.url == other.url
            && self.headers == other.headers
            && self.oauth == other.oauth
            && self.command == other.command
    }

    /// Returns the server as a source of tools for an agent.
    pub(crate) fn reference(&self, name: &str, server: McpConnection) -> McpRef {
        let all = |is: bool| Some(AnnotatedTools::All(is));
        McpRef {
            name: name.to_owned(),
            connection_id: None,
            server,
            confirm: self.confirm.then(Confirm::default),
            tools: ToolSelection { allow: self.allow.clone(), deny: self.deny.clone() },
            prefix: self.prefix.clone(),
            timeout: self.timeout_ms.map(Duration::from_millis),
            annotations: SourceAnnotations {
                reads_private: all(self.reads_private),
                returns_untrusted: all(self.returns_untrusted),
                egress: all(self.egress),
                idempotent: all(false),
                reads_only: all(false),
            },
            idempotent_hint: false,
        }
    }

    /// Checks the patterns of tools, which the config could not be built with otherwise.
    ///
    /// # Errors
    /// The invalid pattern.
    pub(crate) fn check_patterns(&self) -> Result<(), String> {
        compile_patterns(self.allow.as_deref().unwrap_or_default())?;
        compile_patterns(&self.deny)?;
        Ok(())
    }
}

impl OauthDefinition {
    fn credentials(&self, secrets: &Secrets, rules: Rules<'_>) -> Result<ClientCredentials, String> {
        let refresh = self.refresh_token.as_ref();
        Ok(ClientCredentials {
            endpoint: TokenEndpoint::Url(rules.address(&self.token_url, SecretField::TOKEN_URL, secrets)?),
            client_id: self.client_id.clone(),
            proof: ClientProof::Secret(rules.value(&self.client_secret, SecretField::CLIENT_SECRET, secrets)?),
            refresh_token: refresh.map(|slot| rules.value(slot, SecretField::REFRESH_TOKEN, secrets)).transpose()?,
            scope: self.scope.clone(),
        })
    }
}
