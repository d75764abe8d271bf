//! Handles what people have sent: a job for each person in a chat, which takes their updates one after the other. Requests
//! to stop have a job of their own.
//!
//! An update passes three stages, each of which is stored: it is accepted, its turn has begun, and it is answered.
//! A server that is killed at any time leaves it at the last one, from which the next server continues.

mod answer;
mod card;
mod close;
mod commands;
mod decision;
mod delivery;
mod files;
mod mail;
mod memory;
mod message;
mod shown;

pub(crate) use close::enqueue_closing;
pub(crate) use commands::{command, plain_paragraphs};
pub(crate) use delivery::PLACEHOLDER;

use crate::markdown::{Rendered, messages};
use crate::messenger::{Bot, ChatPlace, Incoming, Messenger, Pace, Pacer};
use crate::person::person;
use crate::section::{Channel, find};
use crate::store::{self, Link, UpdateRow};
use ::config::Config;
use ::jobs::{Backoff, Due, Handler, JobContext, JobError, Kind, Lane, NewJob, Outcome};
use capability::{Context, Memories};
use chat::TextOrigin;
use delivery::Delivery;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use web::times::now_millis;

/// More attempts than an update gets in the time in which it is tried. Each kill of a server is one.
const ATTEMPTS: u32 = 10_000;

/// Handles the updates of a chat.
const TURN: Kind<TurnQueue> = Kind::new("channels.turn")
    .lane(Lane::Interactive)
    .concurrency(32)
    .attempts(ATTEMPTS)
    .backoff(Backoff { base: Duration::from_secs(1), cap: Duration::from_secs(60) })
    .timeout(Duration::from_secs(3_600));

const GAVE_UP: &str = "I could not answer your message because of a problem on our side. Please send it again.";

/// The updates that a job handles.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TurnQueue {
    pub(crate) channel_id: String,
    pub(crate) queue: String,
}

impl TurnQueue {
    /// Returns the job that handles the queue of a user.
    pub(crate) fn job(&self, owner: &str) -> NewJob {
        TURN.job(self).owner(owner).key(format!("{} {}", self.channel_id, self.queue))
    }
}

/// The maximum number of files that a server sends at once: each is in memory.
const FILES_AT_ONCE: usize = 4;

/// Handles updates.
pub(crate) struct Turns {
    context: Context,
    memories: Memories,
    pacer: Arc<Pacer>,
    files: Arc<Semaphore>,
}

/// An update of a person that is being handled.
struct Turn<'t> {
    context: &'t Context,
    /// The memory of agents about users.
    memories: &'t Memories,
    job: &'t JobContext,
    config: Arc<Config>,
    channel: Channel,
    update: UpdateRow,
    /// The chat, as it is stored.
    chat_id: String,
    delivery: Delivery,
    /// Limits the files that are sent at once.
    files: &'t Semaphore,
}

/// The end of a turn.
enum TurnEnd {
    /// The update was handled.
    Done,
    /// The channel is no longer in the config.
    ChannelGone,
}

impl Turns {
    pub(crate) fn new(context: Context, memories: Memories, pacer: Arc<Pacer>) -> Self {
        Self { context, memories, pacer, files: Arc::new(Semaphore::new(FILES_AT_ONCE)) }
    }

    /// Returns the handler of the jobs.
    pub(crate) fn handler(self: &Arc<Self>) -> Handler {
        let turns = self.clone();
        Handler::new(TURN, move |job, queue: TurnQueue| {
            let turns = turns.clone();
            async move { turns.run(&job, queue).await }
        })
    }

    /// Handles the oldest update.
    async fn run(&self, job: &JobContext, queue: TurnQueue) -> Result<Outcome, JobError> {
        let store = &self.context.store;
        let Some(update) = store::next_update(store, &queue.channel_id, &queue.queue).await? else {
            return Ok(Outcome::DONE);
        };
        let config = self.context.current.config();
        let Some((channel, settings)) = find(&config, &queue.channel_id) else { return Ok(Outcome::DONE) };
        let update_id = update.update_id;
        let chat_id = update.incoming.chat().to_owned();
        let link = store::link_by_id(store, &update.link_id).await?;
        if let Some(link) = link {
            let place = ChatPlace::parse(&chat_id);
            let pace = Pace::new(self.pacer.clone(), &queue.channel_id, job.stop().clone());
            let bot = Bot::new(settings, pace).map_err(JobError::retry)?;
            let delivery = Delivery::open(job, bot, place, (&queue.channel_id, &update)).await?;
            let (config, channel) = (config.clone(), channel.clone());
            let (context, memories, files) = (&self.context, &self.memories, self.files.as_ref());
            let turn = Turn { context, memories, job, config, channel, update, chat_id, delivery, files };
            match turn.run(&link).await? {
                TurnEnd::Done => {}
                TurnEnd::ChannelGone => return Ok(Outcome::DONE),
            }
        }
        let key = (queue.channel_id, queue.queue);
        let fence = job.fence();
        let end = store.write(move |db| {
            Box::pin(async move {
                fence.check(db).await?;
                let has_more = store::finish(db, key, update_id, now_millis()).await?;
                fence.end(db, if has_more { Outcome::again(Due::Now) } else { Outcome::DONE }).await
            })
        });
        Ok(end.await?)
    }
}

impl Turn<'_> {
    async fn run(mut self, link: &Link) -> Result<TurnEnd, JobError> {
        if now_millis() - self.update.received_at > store::TRIED_MS && !self.update.is_submitted {
            tracing::warn!(channel = self.channel.id.0, update = self.update.update_id, "a message was given up");
            return self.send_text(GAVE_UP).await;
        }
        let person = match person(self.context, &self.channel, link, now_millis()).await? {
            Ok(person) => person,
            Err(refusal) => return self.send_text(refusal).await,
        };
        match self.update.incoming.clone() {
            Incoming::Message { text, is_forwarded, replies_to, files, .. } => match command(&text) {
                Some((name, rest)) => self.run_command(&person, link, name, rest).await,
                None => {
                    let origin = if is_forwarded { TextOrigin::Forwarded } else { TextOrigin::User };
                    self.message(&person, (text, origin), replies_to, files).await
                }
            },
            Incoming::Press { press_id, message_id, data, .. } => {
                self.press(&person, &press_id, &message_id, &data).await
            }
        }
    }

    /// Answers with a text of the server.
    async fn send_text(&mut self, text: &str) -> Result<TurnEnd, JobError> {
        if let Some(head) = self.mail_head() {
            return self.send_mail(&head, text.to_owned(), Vec::new()).await;
        }
        self.delivery.show_final(&self.rendered(text)).await?;
        Ok(TurnEnd::Done)
    }

    /// Renders Markdown as messages.
    fn rendered(&self, markdown: &str) -> Vec<Rendered> {
        messages(markdown, self.messenger().limits())
    }

    fn messenger(&self) -> Messenger {
        self.delivery.bot.messenger()
    }

    /// Returns whether the channel is still in the config.
    fn is_configured(&self) -> bool {
        find(&self.context.current.config(), &self.channel.id.0).is_some()
    }

    /// The channel and the update, by which rows about it are found.
    fn key(&self) -> (String, i64) {
        (self.channel.id.0.clone(), self.update.update_id)
    }
}
