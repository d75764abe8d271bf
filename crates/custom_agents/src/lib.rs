#![doc = include_str!("../README.md")]

mod console;
mod definition;
mod section;
pub mod store;

use capability::{Capability, ConfigAdditions, Context, Definition};
use config::SectionType;
use std::sync::Arc;
use web::admin::Section;

pub use definition::{CustomAgent, PREFIX, selectable_tools, with_custom_agents};
pub use section::CustomAgents;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<CustomAgents>()],
    tables: Some(store::TABLES),
    config_additions: Some(ConfigAdditions {
        version: |store| Box::pin(store::version(store)),
        add: |store, config| Box::pin(async move { Ok(with_custom_agents(config, &store::list(store).await?)) }),
    }),
    start: Some(|_| Ok(Arc::new(Management))),
    ..Definition::new("custom_agents")
};

/// The management of custom agents in the admin console.
struct Management;

impl Capability for Management {
    fn console(&self, context: &Context) -> Option<Section> {
        Some(console::section(context.clone()))
    }
}
