//! The capability: MCP servers that administrators add at run time.

use crate::section::McpServers;
use crate::store::{SERVERS, TABLES};
use crate::{catalog, console};
use ::capability::{Capability, ConfigAdditions, Context, Definition};
use config::SectionType;
use std::sync::Arc;
use web::admin;

/// The capability. It stands before those whose additions are made of agents of the config, since it adds
/// servers to these agents.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<McpServers>()],
    tables: Some(TABLES),
    config_additions: Some(ConfigAdditions {
        version: |store| Box::pin(SERVERS.tables.version(store)),
        add: |store, config| Box::pin(catalog::with_stored(store, config)),
    }),
    start: Some(|_| Ok(Arc::new(Management))),
    ..Definition::new("mcp_servers")
};

/// The management of added servers. Their connections are those of the crate `mcp`.
struct Management;

impl Capability for Management {
    fn console(&self, context: &Context) -> Option<admin::Section> {
        Some(console::section(context.clone()))
    }
}
