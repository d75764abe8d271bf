//! Commands, reloads, shutdown, logs and traces.

mod alerts;
mod audit;
pub(crate) mod backup;
pub(crate) mod clock;
mod deploy;
mod doctor;
mod drain;
mod experiments;
mod import;
mod manual;
mod memory;
mod notifications;
pub(crate) mod operations;
mod reload;
#[cfg(feature = "otlp")]
mod traces;
