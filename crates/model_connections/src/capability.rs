//! The capability: connections to model providers that administrators add at run time.

use crate::section::ModelConnections;
use crate::store::{CONNECTIONS, TABLES};
use crate::{catalog, console};
use ::capability::{Capability, ConfigAdditions, Context, Definition};
use config::SectionType;
use std::sync::Arc;
use web::admin;

/// The capability. It stands before those whose additions are made of agents and models of the config, since it
/// adds some.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<ModelConnections>()],
    tables: Some(TABLES),
    config_additions: Some(ConfigAdditions {
        version: |store| Box::pin(CONNECTIONS.tables.version(store)),
        add: |store, config| Box::pin(catalog::with_stored(store, config)),
    }),
    start: Some(|_| Ok(Arc::new(Management))),
    ..Definition::new("model_connections")
};

/// The management of added connections. Their models are those of the server, as those of the config are.
struct Management;

impl Capability for Management {
    fn console(&self, context: &Context) -> Option<admin::Section> {
        Some(console::section(context.clone()))
    }
}
