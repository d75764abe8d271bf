#![doc = include_str!("../README.md")]

mod draw;
mod layout;
mod outline;
mod states;
#[cfg(test)]
mod tests;

pub use draw::{MAX_STEPS, picture};
pub use outline::{ListRole, OutlineList, OutlineStep, StepEnd};
pub use states::{Record, RunRecords};
