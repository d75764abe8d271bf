//! A run: the task that drives the agent, from the prompt to the stored end.

pub(crate) mod chunks;
pub(crate) mod context;
pub(crate) mod ending;
pub(crate) mod exposure;
pub(crate) mod finish;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod histories;
pub(crate) mod hooks;
pub(crate) mod sink;
pub(crate) mod start;
pub(crate) mod title;
pub(crate) mod to_prompt;
pub(crate) mod to_wire;
