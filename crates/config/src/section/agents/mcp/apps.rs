//! `apps`: the user interfaces of an MCP server.

use crate::section::Context;
use crate::section::value::Text;
use config_source::{Node, PathStep};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::mcp::{AppDomain, McpApps};

/// Whether the user interfaces of a server are shown.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum AppsEntry {
    /// Whether they are shown. They reach no other server.
    Plain(bool),
    /// They are shown, with these settings.
    Settings(AppsProperties),
}

/// How the user interfaces of a server are shown.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AppsProperties {
    /// The domains that a user interface may reach if it declares them: `https://` or `wss://` with a
    /// host, or with `*.` for all its subdomains. Default: none.
    #[serde(default)]
    #[schemars(length(max = 50))]
    domains: Vec<Text>,
}

/// Reads the key of the server at `node`. `None`: the user interfaces are not shown.
pub(super) fn read(entry: &AppsEntry, node: &Node, context: &mut Context<'_, '_>) -> Option<McpApps> {
    let AppsProperties { domains } = match entry {
        AppsEntry::Plain(false) => return None,
        AppsEntry::Plain(true) => return Some(McpApps::default()),
        AppsEntry::Settings(settings) => settings,
    };
    let mut apps = McpApps::default();
    for (number, Text(domain)) in domains.iter().enumerate() {
        match domain.parse::<AppDomain>() {
            Ok(domain) => apps.domains.push(domain),
            Err(_) => {
                let path = [PathStep::Key("apps"), PathStep::Key("domains"), PathStep::Index(number)];
                let help = "write `https://` or `wss://` with a host, such as `https://api.example.com` or `https://*.example.com`";
                context.report.error(node.span_at(&path), format!("`{domain}` is not a domain"), Some(help.to_owned()));
            }
        }
    }
    Some(apps)
}
