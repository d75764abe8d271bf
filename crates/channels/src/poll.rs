//! Reads what people send. The messages of a bot are read by one server: a job with a lease. What linked people
//! send is stored with the job that handles it, in one transaction, before the messenger is told to
//! forget it.

mod linking;

use crate::section::{Channel, channels, find};
use crate::store::{self, BotRow, NewUpdate};
use crate::strangers::Allowance;
use crate::telegram::{
    ApiError, Bot, BotAccount, Button, ChatPlace, Incoming, Pace, Pacer, ReadUpdate, Rendered, read_update, update_id,
};
use crate::turn::{COMMANDS, TurnQueue, command};
use ::config::Config;
use ::jobs::{Due, Handler, JobContext, JobError, Jobs, Kind, Lane, OnPending, Outcome};
use ::store::StoreError;
use capability::Context;
use futures::StreamExt;
use parking_lot::Mutex;
use serde_json::Value;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use web::times::now_millis;

/// Reads a bot's messages; the payload is the id of the channel. It ends with the config, or after a while, to begin anew.
const POLL: Kind<String> = Kind::new("channels.poll")
    .lane(Lane::Interactive)
    .concurrency(8)
    .attempts(1_000)
    .timeout(Duration::from_secs(2 * 3_600));
/// After what time the job ends, to begin anew.
const SESSION: Duration = Duration::from_secs(3_600);
/// How often a server makes sure that there is a job for each channel.
const ENQUEUE_INTERVAL: Duration = Duration::from_secs(15);
/// The most messages of a channel that wait. Beyond it, they wait at the messenger.
const MAX_OPEN: i64 = 10_000;
/// The longest pause after errors.
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// How many strangers are answered at once.
const REPLIES_AT_ONCE: usize = 8;
/// How long such an answer waits for its chat.
const MAX_REPLY_WAIT: Duration = Duration::from_secs(5);
const HOUR: Duration = Duration::from_secs(3_600);

const HELLO: &str = "Hello! I answer people who have an account on our website. Sign in there, open the page Messengers of \
                     your account, and link yourself.";
const UNLINKED: &str = "Unlinked. What you write here gets no answer any more.";
const TOO_MANY_WAIT: &str =
    "Too many of your messages are waiting here, so the last one was not accepted. Send it again later.";

/// Reads the messages of all channels.
pub(crate) struct Poller {
    context: Context,
    jobs: Jobs,
    pacer: Arc<Pacer>,
    config_changes: watch::Sender<()>,
    /// When jobs were last enqueued, and for which config.
    enqueued: Mutex<Option<(Instant, Weak<Config>)>>,
    greetings: Allowance,
    codes: Allowance,
    complaints: Allowance,
}

/// An answer to somebody whose message starts nothing.
struct Reply {
    chat: String,
    text: String,
    button: Option<Button>,
    /// The press that it answers, and the message with the button, which the text replaces.
    press: Option<(String, String)>,
}

impl Reply {
    fn new(chat: String, text: impl Into<String>) -> Self {
        Self { chat, text: text.into(), button: None, press: None }
    }
}

/// What a batch of updates comes to.
#[derive(Default)]
struct Batch {
    accepted: Vec<NewUpdate>,
    replies: Vec<Reply>,
}

/// A bot whose messages are read.
struct Session<'p> {
    poller: &'p Poller,
    channel: Channel,
    bot: Bot,
    account: BotAccount,
}

impl Poller {
    pub(crate) fn new(context: Context, jobs: Jobs, pacer: Arc<Pacer>, config_changes: watch::Sender<()>) -> Self {
        Self {
            context,
            jobs,
            pacer,
            config_changes,
            enqueued: Mutex::default(),
            greetings: Allowance::new(1, HOUR),
            codes: Allowance::new(10, Duration::from_secs(600)),
            complaints: Allowance::new(1, Duration::from_secs(60)),
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
        let poller = self.clone();
        Handler::new(POLL, move |job, channel_id: String| {
            let poller = poller.clone();
            async move { poller.run(&job, &channel_id).await }
        })
    }

    async fn run(&self, job: &JobContext, channel_id: &str) -> Result<Outcome, JobError> {
        let (begun, mut pause) = (Instant::now(), Duration::from_secs(1));
        let mut changes = self.config_changes.subscribe();
        while begun.elapsed() < SESSION && !job.stop().is_cancelled() {
            changes.mark_unchanged();
            let config = self.context.current.config();
            let Some((channel, settings)) = find(&config, channel_id) else { return Ok(Outcome::DONE) };
            let read = async {
                let pace = Pace::new(self.pacer.clone(), channel_id, job.stop().clone());
                let bot = Bot::new(settings, pace)?;
                let session = self.open(job, channel.clone(), bot).await?;
                session.read(job, &mut pause).await
            };
            let failed = tokio::select! {
                read = read => read,
                _ = changes.changed() => continue,
                () = job.stop().cancelled() => break,
            };
            let pause_now = match failed {
                Ok(()) => continue,
                Err(PollError::Store(error)) => return Err(error.into()),
                Err(PollError::Api(error)) => {
                    tracing::warn!(channel = channel_id, %error, "the messages of a bot cannot be read");
                    pause_after(&error, &mut pause)
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause_now) => {}
                _ = changes.changed() => {}
                () = job.stop().cancelled() => {}
            }
        }
        Ok(Outcome::again(Due::Now))
    }

    /// Asks for the bot's account, and stores how it is found.
    async fn open(&self, job: &JobContext, channel: Channel, bot: Bot) -> Result<Session<'_>, PollError> {
        let me = bot.me().await?;
        let account = BotAccount { id: me.id, name: me.username.unwrap_or_default() };
        // The app offers them; nothing depends on it.
        if let Err(error) = bot.set_commands(COMMANDS).await {
            tracing::debug!(%error, "the commands of a bot were not set");
        }
        let row = BotRow { channel_id: channel.id.0.clone(), name: account.name.clone() };
        job.write(move |db| Box::pin(store::set_bot(db, row))).await?;
        Ok(Session { poller: self, channel, bot, account })
    }
}

/// Why reading has ended.
enum PollError {
    Api(ApiError),
    Store(StoreError),
}

impl From<ApiError> for PollError {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}

impl From<StoreError> for PollError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Returns how long to wait after an error. Errors in a row are waited for longer and longer.
fn pause_after(error: &ApiError, pause: &mut Duration) -> Duration {
    match error {
        ApiError::Wait(time) => *time,
        // The token is wrong, or another program reads the messages.
        ApiError::Refused { .. } => MAX_PAUSE,
        ApiError::Unavailable(_) => {
            let now = *pause;
            *pause = (now * 2).min(MAX_PAUSE);
            now
        }
    }
}

impl Session<'_> {
    /// Reads until an error. It begins with all messages that Telegram has not been told to forget, whatever their
    /// numbers are: after a quiet week, Telegram chooses the next number at random.
    async fn read(&self, job: &JobContext, pause: &mut Duration) -> Result<(), PollError> {
        let context = &self.poller.context;
        let mut next = 0;
        loop {
            if store::count_open(&context.store, &self.channel.id.0).await? >= MAX_OPEN {
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            }
            let updates = self.bot.updates(next).await?;
            *pause = Duration::from_secs(1);
            let Some(last) = updates.iter().filter_map(update_id).max() else { continue };
            let Batch { accepted, replies } = self.sort(&updates).await?;
            next = next.max(last.saturating_add(1));
            let jobs = self.poller.jobs.clone();
            job.write(move |db| {
                Box::pin(async move {
                    let now = now_millis();
                    for update in accepted {
                        let queue = TurnQueue { channel_id: update.channel_id.clone(), queue: update.queue.clone() };
                        let turn = queue.job(&update.owner);
                        if store::accept(db, update, now).await? {
                            jobs.enqueue_in(db, turn).await?;
                        }
                    }
                    Ok::<_, StoreError>(())
                })
            })
            .await?;
            self.reply(replies).await;
        }
    }

    /// Decides what becomes of updates.
    async fn sort(&self, updates: &[Value]) -> Result<Batch, StoreError> {
        let mut batch = Batch::default();
        for update in updates {
            let Some(id) = update_id(update) else { continue };
            let Some(read) = read_update(update, &self.account) else { continue };
            self.sort_one(id, read, &mut batch).await?;
        }
        Ok(batch)
    }

    async fn sort_one(&self, update_id: i64, read: ReadUpdate, batch: &mut Batch) -> Result<(), StoreError> {
        let (store, channel_id) = (&self.poller.context.store, self.channel.id.0.as_str());
        let now = Instant::now();
        let chat = read.incoming.chat().to_owned();
        let link = store::link_of_person(store, channel_id, &read.person_id).await?;
        let text = match &read.incoming {
            Incoming::Message { text, .. } => text.as_str(),
            Incoming::Press { .. } => "",
        };
        if let Some(code) = linking::start_code(text) {
            return self.offer_link(code.to_owned(), read, link, batch).await;
        }
        if let Some(code) = linking::confirmed_code(&read.incoming) {
            return self.link(code.to_owned(), read, batch).await;
        }
        let Some(link) = link else {
            let is_message = matches!(read.incoming, Incoming::Message { .. });
            if is_message && self.poller.greetings.allows(&format!("{channel_id} {chat}"), now) {
                batch.replies.push(Reply::new(chat, HELLO));
            }
            return Ok(());
        };
        if let Some(("unlink", _)) = command(text) {
            store::delete_link(store, &link.owner, &link.id).await?;
            batch.replies.push(Reply::new(chat, UNLINKED));
            return Ok(());
        }
        // A request to stop does not wait for the answer that it stops.
        let queue = match command(text) {
            Some(("stop", _)) => format!("stop {chat} {}", link.id),
            _ => format!("{chat} {}", link.id),
        };
        let in_batch = batch.accepted.iter().filter(|accepted| accepted.queue == queue).count();
        let waiting =
            store::count_open_in_queue(store, channel_id, &queue).await? + i64::try_from(in_batch).unwrap_or(i64::MAX);
        if waiting >= i64::from(self.channel.max_waiting) {
            if self.poller.complaints.allows(&queue, now) {
                batch.replies.push(Reply::new(chat, TOO_MANY_WAIT));
            }
            return Ok(());
        }
        let channel_id = channel_id.to_owned();
        let (link_id, owner) = (link.id, link.owner);
        batch.accepted.push(NewUpdate { channel_id, update_id, queue, link_id, owner, incoming: read.incoming });
        Ok(())
    }

    /// Answers people whose messages start nothing. If it fails, they get no answer.
    async fn reply(&self, replies: Vec<Reply>) {
        let send = async |reply: Reply| {
            let Some(place) = ChatPlace::parse(&reply.chat) else { return };
            // Reading does not wait for a chat that is paused.
            if self.bot.free_at(&place) > Instant::now() + MAX_REPLY_WAIT {
                return;
            }
            if let Err(error) = self.send_reply(&place, reply).await {
                tracing::debug!(%error, "somebody was not answered");
            }
        };
        futures::stream::iter(replies).for_each_concurrent(REPLIES_AT_ONCE, send).await;
    }

    async fn send_reply(&self, place: &ChatPlace, reply: Reply) -> Result<(), ApiError> {
        let text = Rendered::plain(reply.text);
        let Some((press_id, message_id)) = reply.press else {
            let buttons: Vec<_> = reply.button.into_iter().map(|button| vec![button]).collect();
            return self.bot.send(place, &text, &buttons).await.map(drop);
        };
        // Without it, the button stays lit for a moment.
        let _ = self.bot.acknowledge(&press_id, "").await;
        self.bot.edit(place, &message_id, &text, &[]).await
    }
}
