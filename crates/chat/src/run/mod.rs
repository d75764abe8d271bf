//! A run: the task that drives the agent, from the prompt to the stored end.

pub(crate) mod ending;
pub(crate) mod finish;
pub(crate) mod hooks;
pub(crate) mod sink;
pub(crate) mod start;
pub(crate) mod title;
