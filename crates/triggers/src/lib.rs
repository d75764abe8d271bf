#![doc = include_str!("../README.md")]

mod active;
mod console;
mod decision;
mod engine;
mod happened;
mod host;
mod routes;
mod settle;
mod store;
#[cfg(test)]
mod tests;
mod ticks;
mod upkeep;
mod waiting;

use active::ActiveTriggers;
use capability::{Capability, Context, Definition, Job, Waiting};
use config::{Config, ConnectionType};
use engine::Triggers;
use host::WorkflowHost;
use jiff::Timestamp;
use std::sync::Arc;
use waiting::PausedTriggers;
use web::admin::Section;
use web::openapi::ApiRouter;
use workflow_definition::WebhookSender;

/// The capability.
pub const DEFINITION: Definition = Definition {
    connections: &[ConnectionType::of::<WebhookSender>()],
    tables: Some(store::TABLES),
    start: Some(|host| {
        host.waiting.provide(Arc::new(PausedTriggers));
        Ok(Arc::new(TriggerCapability { active: ActiveTriggers::default(), waiting: host.waiting.clone() }))
    }),
    ..Definition::new("triggers")
};

/// Returns how many triggers were paused because their runs have failed.
///
/// # Errors
/// The database failed.
pub async fn count_paused(store: &::store::Store) -> Result<i64, ::store::StoreError> {
    store::count_paused(store).await
}

/// The capability of a running server.
struct TriggerCapability {
    active: ActiveTriggers,
    waiting: Waiting,
}

impl TriggerCapability {
    fn triggers(&self, context: &Context) -> Triggers {
        Triggers {
            store: context.store.clone(),
            host: Arc::new(WorkflowHost(context.clone())),
            active: self.active.clone(),
            waiting: self.waiting.clone(),
            clock: Arc::new(Timestamp::now),
        }
    }
}

impl Capability for TriggerCapability {
    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::event_routes(self.triggers(context)))
    }

    fn sender_routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::hook_routes(self.triggers(context)))
    }

    fn console(&self, context: &Context) -> Option<Section> {
        Some(console::section(self.triggers(context)))
    }

    fn config_changed(&self, config: &Arc<Config>) {
        self.active.replace(config);
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        upkeep::jobs(&self.triggers(context))
    }
}
