#![doc = include_str!("../README.md")]

pub mod chunks;
pub mod context;
pub mod exposure;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod histories;
pub mod pending_calls;
pub mod to_markdown;
pub mod to_prompt;
pub mod to_wire;
