//! The state that is kept across changes of the config.

use super::models::ModelBuilder;
use ::endpoints::OpenDatabases;
use capability::{Capabilities, ServiceTokens};
use chat::RoutineMeters;

/// State of external services that is kept across reloads of the config.
pub(super) struct RetainedState {
    pub(super) models: ModelBuilder,
    pub(super) capabilities: Capabilities,
    /// The SQL connections of the config in use, for capabilities.
    pub(super) open_databases: OpenDatabases,
    /// Tokens of users for services that are called on their behalf.
    pub(super) tokens: ServiceTokens,
    /// Meters the model requests of routines outside of runs.
    pub(super) meters: RoutineMeters,
}
