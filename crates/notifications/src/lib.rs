#![doc = include_str!("../README.md")]

mod deliver;
mod message;
mod page;
mod routes;
mod section;
mod server_key;
mod service;
mod store;
#[cfg(test)]
mod tests;

use capability::{Capability, Context, Definition, Host, Job};
use chat::LifecycleEvent;
use config::{Config, SectionType};
use deliver::EndedAnswer;
use section::Notifications;
use service::Service;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use web::openapi::ApiRouter;
use wire::api::Outcome;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<Notifications>()],
    tables: Some(store::TABLES),
    start: Some(|host| Ok(Arc::new(NotificationCapability { host: host.clone(), after_seconds: AtomicU32::new(OFF) }))),
    ..Definition::new("notifications")
};

/// There are no notifications with the config in use.
const OFF: u32 = 0;

/// The capability of a running server.
struct NotificationCapability {
    host: Host,
    /// `afterSeconds` of the config in use, or [`OFF`].
    after_seconds: AtomicU32,
}

impl NotificationCapability {
    fn after(&self) -> Option<Duration> {
        match self.after_seconds.load(Ordering::Relaxed) {
            OFF => None,
            seconds => Some(Duration::from_secs(seconds.into())),
        }
    }
}

impl Capability for NotificationCapability {
    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(Service { context: context.clone(), jobs: self.host.jobs.clone() }))
    }

    fn account_link(&self) -> Option<(&'static str, &'static str)> {
        self.after().map(|_| (page::PATH, page::TITLE))
    }

    /// Checks the conversation some time after an answer. If the server is killed right after the
    /// answer, there is no notification.
    fn observe(&self, event: &LifecycleEvent) {
        let LifecycleEvent::RunEnded { conversation_id, user_id, outcome, .. } = event else { return };
        let Some(after) = self.after().filter(|_| *outcome != Outcome::Stopped) else { return };
        let has_failed = matches!(outcome, Outcome::Failed | Outcome::Interrupted | Outcome::Limit);
        let ended = EndedAnswer { conversation_id: conversation_id.clone(), has_failed };
        let (host, owner) = (self.host.clone(), user_id.clone());
        tokio::spawn(async move {
            let enqueued = match store::has_any(&host.store, &owner).await {
                Ok(false) => return,
                Ok(true) => host.jobs.enqueue(deliver::check_later(&owner, &ended, after)).await.map(drop),
                Err(error) => Err(error),
            };
            if let Err(error) = enqueued {
                tracing::error!(%error, "a user cannot be notified of an answer");
            }
        });
    }

    fn config_changed(&self, config: &Arc<Config>) {
        let after = config.section::<Notifications>().map_or(OFF, |settings| settings.after_seconds);
        self.after_seconds.store(after, Ordering::Relaxed);
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        deliver::handlers(context).map(Job::handler).into()
    }
}
