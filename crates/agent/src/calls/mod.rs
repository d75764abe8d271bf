//! The tool calls of a run: which tools are offered, whether a call is valid, and running it.

mod decisions;
pub(crate) mod execution;
pub(crate) mod handling;
pub(crate) mod ids;
pub(crate) mod meter;
pub(crate) mod outcome;
pub(crate) mod sources;
pub(crate) mod validation;
