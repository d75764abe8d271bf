#![doc = include_str!("../README.md")]

mod definition;
mod section;
pub mod store;

pub use definition::{CustomAgent, PREFIX, selectable_tools, with_custom_agents};
pub use section::CustomAgents;
