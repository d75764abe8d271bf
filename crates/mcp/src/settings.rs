//! The settings of a connection to a server, and the selection of its tools for an agent.

use super::{McpFeatures, McpTransport};
use ::settings::ToolSelection;
use contract::ApprovalTerms;
use std::time::Duration;

/// The settings of a connection to a server.
#[derive(Clone, Debug)]
pub struct McpSettings {
    /// The name for the user and the log.
    pub name: String,
    /// The transport.
    pub transport: McpTransport,
    /// Whether all users share one connection, so that the server cannot tell them apart. Otherwise
    /// each user has their own.
    pub shared: bool,
    /// The features of the server that are used in addition to its tools.
    pub features: McpFeatures,
}

/// The tools of a server that an agent uses, and how.
#[derive(Clone, Debug)]
pub struct McpSelection {
    /// The tools that are offered, by the server's names.
    pub tools: ToolSelection,
    /// A prefix for the tools' names.
    pub prefix: String,
    /// Whether each call needs the user's approval.
    pub confirm: bool,
    /// The terms of approval requests, whatever their reason.
    pub approval: ApprovalTerms,
    /// The maximum duration of one call.
    pub timeout: Duration,
    /// Whether to trust the server's own declaration that a tool is idempotent.
    pub idempotent_hint: bool,
}

impl McpSettings {
    /// Returns whether a connection with these settings can be used for the other ones.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.name, self.shared, &self.features) == (&other.name, other.shared, &other.features)
            && self.transport.is_same(&other.transport)
    }
}
