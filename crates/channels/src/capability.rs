//! The capability of a running server.

use crate::messenger::Pacer;
use crate::post::Poster;
use crate::receive::{Receiver, events};
use crate::section::{Channels, Discord, Feishu, Mailbox, Slack, Telegram, channels};
use crate::sweep::sweep;
use crate::turn::{Turns, enqueue_closing};
use crate::{page, store};
use ::config::{Config, ConnectionType, SectionType};
use ::jobs::Jobs;
use capability::{Capability, Context, Definition, Host, Job, Memories};
use chat::LifecycleEvent;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::watch;
use web::html::{AccountGroup, AccountPage};
use web::openapi::ApiRouter;
use web::times::now_millis;

/// The interval at which each server checks whether its channels are read.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// The interval at which jobs are enqueued for messages that have none, and old rows are deleted.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<Channels>()],
    connections: &[
        ConnectionType::of::<Telegram>(),
        ConnectionType::of::<Slack>(),
        ConnectionType::of::<Discord>(),
        ConnectionType::of::<Feishu>(),
        ConnectionType::of::<Mailbox>(),
    ],
    tables: Some(store::TABLES),
    start: Some(start),
    ..Definition::new("channels")
};

fn start(host: &Host) -> anyhow::Result<Arc<dyn Capability>> {
    let capability = ChannelCapability::new(host.jobs.clone(), host.memories.clone());
    host.chat_posts.provide(Arc::new(Poster { pacer: capability.pacer.clone() }));
    Ok(Arc::new(capability))
}

struct ChannelCapability {
    jobs: Jobs,
    /// The memory of agents about users.
    memories: Memories,
    /// Shared by all that sends.
    pacer: Arc<Pacer>,
    receiver: OnceLock<Arc<Receiver>>,
    /// Changes with the config.
    config_changes: watch::Sender<()>,
    is_used: AtomicBool,
}

impl ChannelCapability {
    fn new(jobs: Jobs, memories: Memories) -> Self {
        Self {
            jobs,
            memories,
            pacer: Arc::default(),
            receiver: OnceLock::new(),
            config_changes: watch::Sender::new(()),
            is_used: AtomicBool::new(false),
        }
    }

    fn receiver(&self, context: &Context) -> Arc<Receiver> {
        let new = || Receiver::new(context.clone(), self.jobs.clone(), self.pacer.clone(), self.config_changes.clone());
        self.receiver.get_or_init(|| Arc::new(new())).clone()
    }
}

impl Capability for ChannelCapability {
    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(page::routes(context.clone()))
    }

    fn sender_routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(events::routes(self.receiver(context)))
    }

    fn account_link(&self) -> Option<AccountPage> {
        self.is_used.load(Relaxed).then_some(AccountPage {
            group: AccountGroup::Connections,
            path: page::PATH,
            title: page::TITLE,
            about: "Agents in the messengers that you use",
        })
    }

    /// Closes cards that were decided elsewhere. If the server is killed right after the end of a run, their buttons stay
    /// until one is pressed or another run of the conversation ends.
    fn observe(&self, event: &LifecycleEvent) {
        let LifecycleEvent::RunEnded { conversation_id, user_id, .. } = event else { return };
        if !self.is_used.load(Relaxed) {
            return;
        }
        let (jobs, owner, conversation_id) = (self.jobs.clone(), user_id.clone(), conversation_id.clone());
        tokio::spawn(async move {
            if let Err(error) = enqueue_closing(&jobs, &owner, &conversation_id).await {
                tracing::error!(%error, "cards of decided calls keep their buttons");
            }
        });
    }

    fn config_changed(&self, config: &Arc<Config>) {
        self.is_used.store(!channels(config).is_empty(), Relaxed);
        self.config_changes.send_replace(());
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let receiver = self.receiver(context);
        let turns = Arc::new(Turns::new(context.clone(), self.memories.clone(), self.pacer.clone()));
        let (looks, sweeps, jobs) = (receiver.clone(), context.clone(), self.jobs.clone());
        vec![
            Job::handler(receiver.handler()),
            Job::handler(turns.handler()),
            Job::handler(turns.closing_handler()),
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
