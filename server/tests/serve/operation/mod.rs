//! Commands, reloads, shutdown, logs and traces.

mod alerts;
mod audit;
pub(crate) mod backup;
pub(crate) mod clock;
mod deploy;
mod doctor;
mod drain;
mod email_notifications;
mod experiments;
mod import;
mod mail_server;
mod manual;
mod memory;
mod notifications;
pub(crate) mod operations;
mod published_config;
mod reload;
#[cfg(feature = "otlp")]
mod traces;
