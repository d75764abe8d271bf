#![doc = include_str!("../README.md")]

mod console;
mod definition;
mod section;
pub mod store;

use capability::{ConfigAdditions, Definition};
use config::SectionType;

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
    console: Some(console::section),
};
