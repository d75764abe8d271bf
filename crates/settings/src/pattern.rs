//! The patterns of names in a config.

/// Ids of connections, agents, pages, blocks and steps.
pub const ID: &str = "^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$";
/// Ids of endpoints, which may be grouped with `/`.
pub const ENDPOINT_ID: &str = "^[A-Za-z0-9_][A-Za-z0-9_/-]{0,127}$";
/// Names of tools, as every provider accepts them.
pub const TOOL_NAME: &str = "^[A-Za-z0-9_-]{1,64}$";
/// Which tool calls are left out of the history.
pub const PRUNED_CALLS: &str = r"^(none|all|before-last-message|before-last-[1-9][0-9]{0,5}-messages)$";
/// Names of environment variables.
pub const VARIABLE: &str = "^[A-Za-z_][A-Za-z0-9_]{0,127}$";
