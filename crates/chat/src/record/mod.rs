//! The records of runs for the operator: the audit log, usage, and telemetry.

pub(crate) mod audit;
pub(crate) mod conversation_usage;
pub(crate) mod steps;
pub(crate) mod telemetry;
