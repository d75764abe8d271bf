//! Keys that would have no effect, because they belong to MCP servers of the other kind.

use super::{McpProperties, TransportEntry};
use crate::section::Context;
use config_source::{Node, PathStep};

/// Refuses settings of requests for a program, and settings of a program for a server with an address. `has_base`: the
/// settings are added to those of a connection.
pub(super) fn refuse_unused(
    properties: &McpProperties,
    (transport, has_base): (TransportEntry, bool),
    node: &Node,
    context: &mut Context<'_, '_>,
) -> Option<()> {
    let (unused, other) = match transport {
        TransportEntry::Stdio => (of_requests(properties, has_base), "with a `url` and no `command`"),
        TransportEntry::Http | TransportEntry::Sse => {
            (of_program(properties, has_base), "with a `command` and no `url`")
        }
    };
    let Some((key, message)) = unused else { return Some(()) };
    let help = format!("leave out `{key}`, or declare a server {other}");
    context.report.error(node.span_at(&[PathStep::Key(key)]), message, Some(help));
    None
}

/// Returns a key that is for requests only, and why a program does not need it.
fn of_requests(properties: &McpProperties, has_base: bool) -> Option<(&'static str, &'static str)> {
    match properties {
        McpProperties { auth: Some(_), .. } => {
            Some(("auth", "a program that the server starts cannot be authorized for each user"))
        }
        McpProperties { oauth: Some(_), .. } => {
            Some(("oauth", "a program that the server starts gets no access token"))
        }
        McpProperties { headers, .. } if !headers.is_empty() => {
            Some(("headers", "a program that the server starts gets no headers"))
        }
        // Without a program, that is what is missing.
        McpProperties { url: Some(_), command, .. } if has_base || command.is_some() => {
            Some(("url", "a program that the server starts has no address"))
        }
        McpProperties { allow_private: Some(_), .. } => {
            Some(("allowPrivate", "a program that the server starts is not reached over a network"))
        }
        _ => None,
    }
}

/// Returns a key that is for programs only, and why a server with an address does not need it.
fn of_program(properties: &McpProperties, has_base: bool) -> Option<(&'static str, &'static str)> {
    match properties {
        // Without an address, that is what is missing.
        McpProperties { url: None, .. } if !has_base => None,
        McpProperties { command: Some(_), .. } => {
            Some(("command", "this MCP server is reached at its address, so no program is started"))
        }
        McpProperties { args, .. } if !args.is_empty() => {
            Some(("args", "this MCP server is reached at its address, so no program gets arguments"))
        }
        McpProperties { env, .. } if !env.is_empty() => {
            Some(("env", "this MCP server is reached at its address, so no program gets environment variables"))
        }
        _ => None,
    }
}
