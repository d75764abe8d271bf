#![doc = include_str!("../README.md")]

mod app_domain;
mod compile;
mod durations;
mod forms;
pub mod mcp;
mod names;
mod operators;
pub mod pattern;
mod quota;
mod retention;
mod selection;
mod switch;
mod tiers;
pub mod user_auth;

pub use compile::compile_patterns;
pub use durations::{DurationValue, days, hours, milliseconds, seconds};
pub use forms::{OneOrMany, Patterns, from_form};
pub use names::{EndpointId, Id, Text, ToolName, Variable};
pub use operators::{allow_operator, allow_operators};
pub use quota::{Quota, QuotaPeriod};
pub use retention::Retention;
pub use selection::ToolSelection;
pub use switch::UserSwitch;
pub use tiers::InvocationTiers;
