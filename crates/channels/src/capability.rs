//! The capability of a running server.

use crate::poll::Poller;
use crate::section::{Channels, Telegram, channels};
use crate::sweep::sweep;
use crate::telegram::Pacer;
use crate::turn::Turns;
use crate::{page, store};
use ::config::{Config, ConnectionType, SectionType};
use ::jobs::Jobs;
use capability::{Capability, Context, Definition, Job};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::watch;
use web::openapi::ApiRouter;
use web::times::now_millis;

/// How often each server looks whether its channels are read.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// How often jobs are enqueued for messages that have none, and old rows are deleted.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<Channels>()],
    connections: &[ConnectionType::of::<Telegram>()],
    tables: Some(store::TABLES),
    start: Some(|host| Ok(Arc::new(ChannelCapability::new(host.jobs.clone())))),
    ..Definition::new("channels")
};

struct ChannelCapability {
    jobs: Jobs,
    /// Changes with the config.
    config_changes: watch::Sender<()>,
    is_used: AtomicBool,
}

impl ChannelCapability {
    fn new(jobs: Jobs) -> Self {
        Self { jobs, config_changes: watch::Sender::new(()), is_used: AtomicBool::new(false) }
    }
}

impl Capability for ChannelCapability {
    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(page::routes(context.clone()))
    }

    fn account_link(&self) -> Option<(&'static str, &'static str)> {
        self.is_used.load(Relaxed).then_some((page::PATH, page::TITLE))
    }

    fn config_changed(&self, config: &Arc<Config>) {
        self.is_used.store(!channels(config).is_empty(), Relaxed);
        self.config_changes.send_replace(());
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let pacer = Arc::new(Pacer::default());
        let changes = self.config_changes.clone();
        let poller = Arc::new(Poller::new(context.clone(), self.jobs.clone(), pacer.clone(), changes));
        let turns = Arc::new(Turns::new(context.clone(), pacer));
        let (looks, sweeps, jobs) = (poller.clone(), context.clone(), self.jobs.clone());
        vec![
            Job::handler(poller.handler()),
            Job::handler(turns.handler()),
            Job::on_each_server("channels.look", LOOK_INTERVAL, move || {
                let looks = looks.clone();
                async move { Ok(looks.enqueue().await?) }
            }),
            Job::recurring("channels.sweep", SWEEP_INTERVAL, move || {
                let (context, jobs) = (sweeps.clone(), jobs.clone());
                async move {
                    sweep(&context, &jobs).await?;
                    Ok(store::prune(&context.store, now_millis()).await?)
                }
            }),
        ]
    }
}
