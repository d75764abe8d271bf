//! The capability of a running server.

use crate::push::{self, Deliveries};
use crate::section::A2a;
use crate::store::TABLES;
use crate::{error, routes};
use capability::{Capability, Context, Definition, Job, LifecycleEvent};
use config::{Config, SectionType};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use web::ApiFormat;
use web::openapi::ApiRouter;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<A2a>()],
    tables: Some(TABLES),
    start: Some(|host| {
        let deliveries = Deliveries { store: host.store.clone(), jobs: host.jobs.clone() };
        Ok(Arc::new(Agents { deliveries, tells: AtomicBool::new(false) }))
    }),
    ..Definition::new("a2a")
};

/// The beginning of the paths.
const PREFIX: &str = "/a2a/";
/// How often notifications are looked for that were lost with their server.
const LOOK_INTERVAL: Duration = Duration::from_secs(30);

struct Agents {
    deliveries: Deliveries,
    /// Whether clients are told what becomes of their tasks, with the config in use.
    tells: AtomicBool,
}

impl Capability for Agents {
    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::card_routes(context.clone()))
    }

    fn upload_routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(context.clone()))
    }

    /// Both an API key and a token are sent as a bearer.
    fn challenge(&self, _: &Config, path: &str, _: Option<&str>) -> Option<String> {
        path.starts_with(PREFIX).then(|| "Bearer".to_owned())
    }

    fn api_format(&self) -> Option<ApiFormat> {
        Some(ApiFormat { prefix: PREFIX, error: error::from_gate })
    }

    fn config_changed(&self, config: &Arc<Config>) {
        let settings = config.section::<A2a>().and_then(|section| section.push_notifications.as_ref());
        if let Some(settings) = settings {
            settings.warn();
        }
        self.tells.store(settings.is_some(), Ordering::Relaxed);
    }

    fn observe(&self, event: &LifecycleEvent) {
        let LifecycleEvent::RunEnded { conversation_id, .. } = event else { return };
        if !self.tells.load(Ordering::Relaxed) {
            return;
        }
        let (deliveries, conversation_id) = (self.deliveries.clone(), conversation_id.clone());
        tokio::spawn(async move {
            if let Err(error) = deliveries.enqueue(&conversation_id).await {
                tracing::error!(%error, "clients are told later what has become of their tasks");
            }
        });
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let (deliveries, current) = (self.deliveries.clone(), context.current.clone());
        let look = move || {
            let deliveries = deliveries.clone();
            let tells = current.config().section::<A2a>().is_some_and(|section| section.push_notifications.is_some());
            async move {
                if tells {
                    deliveries.enqueue("").await?;
                }
                Ok(())
            }
        };
        vec![Job::handler(push::handler(context)), Job::recurring("a2a.find_notifications", LOOK_INTERVAL, look)]
    }
}
