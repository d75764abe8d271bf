//! Decides what becomes of what people send, before anything is stored.

use super::reply::Reply;
use super::{Session, linking};
use crate::messenger::{Incoming, ReadUpdate, SendError};
use crate::section::Users;
use crate::store::{self, Link, NewUpdate};
use crate::turn::{TurnQueue, command};
use ::jobs::Jobs;
use ::store::StoreError;
use ::store::sql::Db;
use std::time::Instant;
use web::times::now_millis;

const HELLO: &str = "Hello! I answer people who have an account on our website. To link yours, sign in there and open the page \
                     Messengers of your account.";
const UNLINKED: &str = "Unlinked. I do not answer what you write here any more.";
const UNLINKED_BY_RULE: &str = "Unlinked. Your next message links you again, by your e-mail address.";
/// The answer to a command about memory in a chat that others read.
const NOT_HERE: &str = "Others read this chat. Ask me in a direct message what I remember about you.";
const TOO_MANY_WAIT: &str =
    "I am still busy with your earlier messages, so I did not take the last one. Please send it again later.";

/// The sorted updates of a batch.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) accepted: Vec<NewUpdate>,
    pub(super) replies: Vec<Reply>,
}

/// Stores updates with the jobs that handle them.
pub(super) async fn accept(db: &mut Db, jobs: Jobs, accepted: Vec<NewUpdate>) -> Result<(), StoreError> {
    let now = now_millis();
    for update in accepted {
        let queue = TurnQueue { channel_id: update.channel_id.clone(), queue: update.queue.clone() };
        let turn = queue.job(&update.owner);
        if store::accept(db, update, now).await? {
            jobs.enqueue_in(db, turn).await?;
        }
    }
    Ok(())
}

impl Session<'_> {
    /// Decides what becomes of updates.
    pub(super) async fn sort(&self, updates: Vec<ReadUpdate>) -> Result<Batch, SendError> {
        let mut batch = Batch::default();
        for read in updates {
            self.sort_one(read, &mut batch).await?;
        }
        Ok(batch)
    }

    async fn sort_one(&self, read: ReadUpdate, batch: &mut Batch) -> Result<(), SendError> {
        let (store, channel_id) = (&self.receiver.context.store, self.channel.id.0.as_str());
        let chat = read.incoming.chat().to_owned();
        let known = store::link_of_person(store, channel_id, &read.person_id).await?;
        if !read.is_addressed && !self.takes_part(known.as_ref(), &chat).await? {
            return Ok(());
        }
        let text = match &read.incoming {
            Incoming::Message { text, .. } => text.clone(),
            Incoming::Press { .. } => String::new(),
        };
        if let Some(code) = linking::start_code(&text) {
            return Ok(self.offer_link(code.to_owned(), read, known, batch).await?);
        }
        if let Some(code) = linking::confirmed_code(&read.incoming).map(str::to_owned) {
            return Ok(self.link(code, read, batch).await?);
        }
        // Slack sends a mention as two events: the second one would greet the person, or link them again by the rule.
        if known.is_none() && matches!(command(&text), Some(("unlink", _))) {
            return Ok(());
        }
        let link = match known {
            None if self.channel.users == Users::VerifiedEmail => self.link_by_email(&read).await?,
            known => known,
        };
        let Some(link) = link else {
            self.greet(&read, batch);
            return Ok(());
        };
        if let Some(("unlink", _)) = command(&text) {
            store::delete_link(store, &link.owner, &link.id).await?;
            let is_rule = self.channel.users == Users::VerifiedEmail;
            batch.replies.push(Reply::new(&read, if is_rule { UNLINKED_BY_RULE } else { UNLINKED }));
            return Ok(());
        }
        if let (Some(("memory", _)), false) = (command(&text), read.is_private) {
            batch.replies.push(Reply::new(&read, NOT_HERE));
            return Ok(());
        }
        self.accept_one(read, link, &text, batch).await
    }

    /// Accepts an update of a linked person, unless too many wait.
    async fn accept_one(&self, read: ReadUpdate, link: Link, text: &str, batch: &mut Batch) -> Result<(), SendError> {
        let (store, channel_id) = (&self.receiver.context.store, self.channel.id.0.as_str());
        let chat = read.incoming.chat();
        // Otherwise the limit could be reached by the message itself, which Slack sends as two events.
        if store::is_known(store, channel_id, read.update_id).await? {
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
            if self.receiver.complaints.allows(&queue, Instant::now()) {
                batch.replies.push(Reply::new(&read, TOO_MANY_WAIT));
            }
            return Ok(());
        }
        let (channel_id, update_id) = (channel_id.to_owned(), read.update_id);
        let (link_id, owner) = (link.id, link.owner);
        batch.accepted.push(NewUpdate {
            channel_id,
            update_id,
            queue,
            link_id,
            owner,
            incoming: read.incoming,
            placeholder: None,
        });
        Ok(())
    }

    /// Returns whether a person talks to the bot in this chat already.
    async fn takes_part(&self, link: Option<&Link>, chat: &str) -> Result<bool, StoreError> {
        let Some(link) = link else { return Ok(false) };
        let store = &self.receiver.context.store;
        Ok(store::chat(store, &self.channel.id.0, chat, &link.owner).await?.is_some())
    }

    /// Tells a stranger how to be linked: once in a while, in each chat.
    fn greet(&self, read: &ReadUpdate, batch: &mut Batch) {
        let is_message = matches!(read.incoming, Incoming::Message { .. });
        let is_personal = self.bot.messenger().greets_each_person();
        let key = if is_personal { &read.person_id } else { read.incoming.chat() };
        if is_message && self.receiver.greetings.allows(&format!("{} {key}", self.channel.id.0), Instant::now()) {
            batch.replies.push(Reply::new(read, HELLO));
        }
    }
}
