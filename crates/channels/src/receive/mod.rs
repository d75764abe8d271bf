//! Receives the messages of people. The messages of a bot are read by one server: a job with a lease. Those that Slack
//! and Feishu send over HTTP come to any server. A message of a linked person is stored with the job that handles it,
//! in one transaction, before it is acknowledged to the messenger.

mod discord;
mod email;
pub(crate) mod events;
mod failed_mails;
mod feishu;
pub(crate) mod linking;
mod long_connection;
mod reply;
mod slack;
mod sort;
mod telegram;

use crate::messenger::{ApiError, Bot, BotAccount, Pace, Pacer, SendError, Settings};
use crate::section::{Channel, channels, find};
use crate::store::{self, BotRow};
use crate::strangers::Allowance;
use ::config::Config;
use ::jobs::{Due, Handler, JobContext, JobError, Jobs, Kind, Lane, OnPending, Outcome};
use ::store::StoreError;
use capability::Context;
use failed_mails::FailedMails;
use parking_lot::Mutex;
use sort::{Batch, accept};
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Reads a bot's messages; the payload is the id of the channel. It ends with the config, or after a while, to
/// begin again.
const POLL: Kind<String> = Kind::new("channels.poll")
    .lane(Lane::Interactive)
    .concurrency(8)
    .attempts(1_000)
    .timeout(Duration::from_secs(2 * 3_600));
/// The time after which the job ends, to begin again.
const SESSION: Duration = Duration::from_secs(3_600);
/// The interval at which a server makes sure that there is a job for each channel.
const ENQUEUE_INTERVAL: Duration = Duration::from_secs(15);
/// The most messages of a channel that wait. Beyond it, they wait at the messenger: Telegram keeps them for a day, Slack
/// sends them again for a few minutes.
const MAX_OPEN: i64 = 10_000;
/// The first pause after an error, and the longest.
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// A connection that ends sooner is an error, after which the next one waits.
const MIN_CONNECTION: Duration = Duration::from_secs(5);
const HOUR: Duration = Duration::from_secs(3_600);

/// Receives the messages of all channels.
pub(crate) struct Receiver {
    context: Context,
    jobs: Jobs,
    pacer: Arc<Pacer>,
    config_changes: watch::Sender<()>,
    /// The time at which jobs were last enqueued, and the config.
    enqueued: Mutex<Option<(Instant, Weak<Config>)>>,
    /// The accounts of bots whose messages come over HTTP, and the config for which each was asked.
    accounts: Mutex<HashMap<String, (Weak<Config>, BotAccount)>>,
    greetings: Allowance,
    codes: Allowance,
    complaints: Allowance,
    lookups: Allowance,
    mails: Allowance,
    failed_mails: FailedMails,
}

/// A bot whose messages are received.
struct Session<'r> {
    receiver: &'r Receiver,
    channel: Channel,
    bot: Bot,
    account: BotAccount,
}

impl Receiver {
    pub(crate) fn new(context: Context, jobs: Jobs, pacer: Arc<Pacer>, config_changes: watch::Sender<()>) -> Self {
        Self {
            context,
            jobs,
            pacer,
            config_changes,
            enqueued: Mutex::default(),
            accounts: Mutex::default(),
            greetings: Allowance::new(1, HOUR),
            codes: Allowance::new(10, Duration::from_secs(600)),
            complaints: Allowance::new(1, Duration::from_secs(60)),
            // More than one, because a lookup that fails is tried again.
            lookups: Allowance::new(3, Duration::from_secs(600)),
            // How many is said by the connection.
            mails: Allowance::new(0, HOUR),
            failed_mails: FailedMails::default(),
        }
    }

    /// Makes sure that there is a job for each channel.
    pub(crate) async fn enqueue(&self) -> Result<(), StoreError> {
        let config = self.context.current.config();
        let is_recent = |(at, known): &(Instant, Weak<Config>)| {
            at.elapsed() < ENQUEUE_INTERVAL && known.as_ptr() == Arc::as_ptr(&config)
        };
        if self.enqueued.lock().as_ref().is_some_and(is_recent) {
            return Ok(());
        }
        for channel in channels(&config) {
            let id = &channel.id.0;
            self.jobs.enqueue(POLL.job(id).key(id.clone()).on_pending(OnPending::Keep)).await?;
        }
        *self.enqueued.lock() = Some((Instant::now(), Arc::downgrade(&config)));
        Ok(())
    }

    /// Returns the handler of the jobs.
    pub(crate) fn handler(self: &Arc<Self>) -> Handler {
        let receiver = self.clone();
        Handler::new(POLL, move |job, channel_id: String| {
            let receiver = receiver.clone();
            async move { receiver.run(&job, &channel_id).await }
        })
    }

    async fn run(&self, job: &JobContext, channel_id: &str) -> Result<Outcome, JobError> {
        let (begun, mut pause) = (Instant::now(), MIN_PAUSE);
        let mut changes = self.config_changes.subscribe();
        while begun.elapsed() < SESSION {
            changes.mark_unchanged();
            let config = self.context.current.config();
            let Some((channel, settings)) = find(&config, channel_id) else { return Ok(Outcome::DONE) };
            let failed = tokio::select! {
                read = self.read(job, channel, settings, &mut pause) => read,
                _ = changes.changed() => continue,
                () = asked_to_end(job) => break,
            };
            let pause_now = match failed {
                Ok(()) => continue,
                Err(SendError::Store(error)) => return Err(error.into()),
                Err(SendError::Api(error)) => {
                    tracing::warn!(channel = channel_id, %error, "the messages of a bot cannot be read");
                    pause_after(&error, &mut pause)
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause_now) => {}
                _ = changes.changed() => {}
                () = asked_to_end(job) => break,
            }
        }
        Ok(Outcome::again(Due::Now))
    }

    /// Reads until the connection ends, or an error.
    async fn read(
        &self,
        job: &JobContext,
        channel: &Channel,
        settings: Settings<'_>,
        pause: &mut Duration,
    ) -> Result<(), SendError> {
        let pace = Pace::new(self.pacer.clone(), &channel.id.0, job.stop().clone());
        let bot = Bot::new(settings, pace)?;
        let account = bot.account().await?;
        let row = BotRow { channel_id: channel.id.0.clone(), name: account.name.clone() };
        job.write(move |db| Box::pin(store::set_bot(db, row))).await?;
        let session = Session { receiver: self, channel: channel.clone(), bot, account };
        match &session.bot {
            Bot::Telegram(bot) => session.poll(job, bot, pause).await,
            Bot::Slack(bot) if bot.has_socket() => session.read_socket(job, bot, pause).await,
            Bot::Feishu(bot) if bot.has_long_connection() => session.read_long_connection(job, bot, pause).await,
            Bot::Email(bot) => session.read_mailbox(job, bot, pause).await,
            Bot::Discord(bot) => session.read_gateway(job, bot, pause).await,
            // Their messages come over HTTP.
            Bot::Slack(_) | Bot::Feishu(_) => {
                tokio::time::sleep(SESSION).await;
                Ok(())
            }
        }
    }
}

/// Waits until the job must stop, or its server shuts down: what is not stored yet, the next one reads.
async fn asked_to_end(job: &JobContext) {
    tokio::select! {
        () = job.draining().cancelled() => {}
        () = job.stop().cancelled() => {}
    }
}

/// Returns how long to wait after an error. Errors in a row are waited for longer and longer.
fn pause_after(error: &ApiError, pause: &mut Duration) -> Duration {
    match error {
        ApiError::Wait(time) => (*time).min(MAX_PAUSE),
        // The token is wrong, or another program reads the messages.
        ApiError::Refused { .. } => MAX_PAUSE,
        ApiError::Unavailable(_) | ApiError::Failed(_) => {
            let now = *pause;
            *pause = (now * 2).min(MAX_PAUSE);
            now
        }
    }
}

/// Ends reading. A connection that has ended at once is an error.
fn ended(opened: Instant, description: &str) -> Result<(), SendError> {
    if opened.elapsed() < MIN_CONNECTION {
        return Err(ApiError::Unavailable(description.to_owned()).into());
    }
    Ok(())
}

impl Session<'_> {
    /// Waits until the channel has room for further messages.
    async fn wait_for_room(&self) -> Result<(), StoreError> {
        while store::count_open(&self.receiver.context.store, &self.channel.id.0).await? >= MAX_OPEN {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        Ok(())
    }

    /// Stores the accepted messages, with the fencing of the job.
    async fn store(&self, job: &JobContext, batch: &mut Batch) -> Result<(), StoreError> {
        let (jobs, accepted) = (self.receiver.jobs.clone(), std::mem::take(&mut batch.accepted));
        if accepted.is_empty() {
            return Ok(());
        }
        job.write(move |db| Box::pin(accept(db, jobs, accepted))).await
    }
}
