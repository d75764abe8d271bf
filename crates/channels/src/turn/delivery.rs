//! The messages that answer an update. Each is first sent as a placeholder, whose id is stored, and then edited to
//! what it shows. Messengers cannot tell a repeated message from a new one, but an edit can be repeated. So when a
//! server is killed between sending and storing, an empty placeholder is left in the chat; the answer itself is
//! shown once.

use crate::email::{OutgoingMail, mail_id};
use crate::markdown::{MORE, Rendered};
use crate::messenger::{ApiError, Bot, Button, ChatPlace, MAX_WAIT, MailHead, OutgoingFile, SendError};
use crate::store::{self, UpdateRow};
use ::jobs::{JobContext, JobError};
use ::store::StoreError;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use web::times::now_millis;

/// The text of a message until it has another one.
pub(crate) const PLACEHOLDER: &str = "…";
/// The most messages of an answer.
const MAX_MESSAGES: usize = 20;
/// The time after which growing text is shown again if the messenger could not be reached.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// The messages that answer an update.
pub(crate) struct Delivery {
    job: JobContext,
    pub(crate) bot: Bot,
    pub(crate) place: ChatPlace,
    channel_id: String,
    update_id: i64,
    owner: String,
    sent: Vec<SentMessage>,
    /// The numbers of the files that were sent.
    sent_files: Vec<i64>,
    /// Before that, nothing is shown of text that is being written.
    not_before: Instant,
    /// Whether the chat is closed to the bot.
    is_closed: bool,
}

struct SentMessage {
    id: String,
    /// The content, if this attempt has edited it.
    shown: Option<Rendered>,
}

impl Delivery {
    /// Opens the messages that an earlier attempt has left.
    pub(crate) async fn open(
        job: &JobContext,
        bot: Bot,
        place: ChatPlace,
        (channel_id, update): (&str, &UpdateRow),
    ) -> Result<Self, StoreError> {
        let sent = store::messages(job.store(), channel_id, update.update_id).await?;
        let files = store::sent_files(job.store(), channel_id, update.update_id).await?;
        Ok(Self {
            job: job.clone(),
            bot,
            place,
            channel_id: channel_id.to_owned(),
            update_id: update.update_id,
            owner: update.owner.clone(),
            sent: sent.into_iter().map(|id| SentMessage { id, shown: None }).collect(),
            sent_files: files.into_iter().map(|part| part - store::FILE_PARTS).collect(),
            not_before: Instant::now(),
            is_closed: false,
        })
    }

    /// Returns the id of the bot, which distinguishes the numbers of its updates from those of other bots.
    pub(crate) fn bot_id(&self) -> &str {
        self.bot.id()
    }

    /// Sends the first placeholder.
    pub(crate) async fn begin(&mut self) -> Result<(), JobError> {
        if !self.sent.is_empty() || self.is_closed || !self.shows_progress() {
            return Ok(());
        }
        match self.send_placeholder().await {
            Err(SendError::Api(error)) if !error.is_temporary() => {
                self.give_up(&error);
                Ok(())
            }
            sent => sent.map_err(JobError::from),
        }
    }

    /// Returns whether a text is shown while it is written. A mail is sent when it is complete.
    pub(crate) fn shows_progress(&self) -> bool {
        !matches!(self.bot, Bot::Email(_))
    }

    /// Returns when the text that is being written may be shown again.
    pub(crate) fn next_edit(&self) -> Instant {
        self.not_before.max(self.bot.free_at(&self.place))
    }

    /// Returns whether the chat is closed to the bot: what follows is only on the website.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Shows the text so far. Errors are left to the next time.
    pub(crate) async fn show_progress(&mut self, messages: &[Rendered]) -> Result<(), JobError> {
        match self.show(messages).await {
            Err(SendError::Store(error)) => return Err(error.into()),
            // The chat is paused, and so is the next edit.
            Ok(()) | Err(SendError::Api(ApiError::Wait(_))) => {}
            Err(SendError::Api(error)) if error.is_blocked() => self.give_up(&error),
            Err(SendError::Api(error)) => {
                tracing::debug!(%error, "a message was not changed");
                self.not_before = Instant::now() + RETRY_PAUSE;
            }
        }
        Ok(())
    }

    /// Shows the whole answer. If the messenger refuses it for good, such as in a chat that the bot has left, it is
    /// only in the conversation on the website.
    pub(crate) async fn show_final(&mut self, messages: &[Rendered]) -> Result<(), JobError> {
        loop {
            match self.show(messages).await {
                Ok(()) => break,
                // The chat is paused: the next call waits for it.
                Err(SendError::Api(ApiError::Wait(time))) if time <= MAX_WAIT => {}
                Err(SendError::Api(error)) if !error.is_temporary() => {
                    self.give_up(&error);
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
        }
        if self.is_closed {
            return Ok(());
        }
        self.delete_surplus(messages.len().clamp(1, MAX_MESSAGES)).await
    }

    /// Sends another message, with buttons. Returns its id; `None` if the messenger refuses it.
    pub(crate) async fn send_with_buttons(
        &mut self,
        message: &Rendered,
        buttons: &[Vec<Button>],
        key: &str,
    ) -> Result<Option<String>, JobError> {
        if self.is_closed {
            return Ok(None);
        }
        loop {
            let sent = self.bot.send(&self.place, message, buttons, key).await;
            if let ControlFlow::Break(id) = self.delivered_id(sent)? {
                return Ok(id);
            }
        }
    }

    /// Returns the id of a message that was sent, or `None` if the messenger refuses it for good. It continues if
    /// the chat is paused: the next call waits for it.
    fn delivered_id(&mut self, sent: Result<String, ApiError>) -> Result<ControlFlow<Option<String>>, JobError> {
        match sent {
            Ok(id) => Ok(ControlFlow::Break(Some(id))),
            Err(ApiError::Wait(time)) if time <= MAX_WAIT => Ok(ControlFlow::Continue(())),
            Err(error) if error.is_temporary() => Err(SendError::Api(error).into()),
            Err(error) => {
                self.give_up(&error);
                Ok(ControlFlow::Break(None))
            }
        }
    }

    /// Returns the id of the mail that answers, before its `@`.
    pub(crate) fn mail_id(&self) -> String {
        mail_id(&self.place.chat, &self.part_key(0))
    }

    /// Sends the mail that answers. If the server is killed before it knows that the mail was taken, the mail is sent
    /// again, with the same id.
    pub(crate) async fn send_mail(
        &mut self,
        head: &MailHead,
        text: String,
        files: Vec<OutgoingFile>,
    ) -> Result<(), JobError> {
        let Bot::Email(bot) = &self.bot else { return Ok(()) };
        if !self.sent.is_empty() {
            return Ok(());
        }
        let id = self.mail_id();
        match bot.send(OutgoingMail { head, id: id.clone(), text, files }).await {
            Ok(()) => {}
            Err(error) if error.is_temporary() => return Err(SendError::Api(error).into()),
            Err(error) => {
                self.give_up(&error);
                return Ok(());
            }
        }
        let (key, owner) = ((self.channel_id.clone(), self.update_id, 0), self.owner.clone());
        let stored = id.clone();
        self.job.write(move |db| Box::pin(store::set_message(db, key, owner, stored, now_millis()))).await?;
        self.sent.push(SentMessage { id, shown: None });
        Ok(())
    }

    /// Returns whether the file with this number was sent.
    pub(crate) fn has_sent_file(&self, number: i64) -> bool {
        self.sent_files.contains(&number)
    }

    /// Sends a file, once. Returns false if the messenger refuses it for good.
    pub(crate) async fn send_file(&mut self, number: i64, file: OutgoingFile) -> Result<bool, JobError> {
        let part = store::FILE_PARTS + number;
        let id = loop {
            let sent = self.bot.send_file(&self.place, file.clone(), &self.part_key(part)).await;
            if let ControlFlow::Break(id) = self.delivered_id(sent)? {
                break id;
            }
        };
        let Some(id) = id else { return Ok(false) };
        let (key, owner) = ((self.channel_id.clone(), self.update_id, part), self.owner.clone());
        self.job.write(move |db| Box::pin(store::set_message(db, key, owner, id, now_millis()))).await?;
        self.sent_files.push(number);
        Ok(true)
    }

    /// Returns the key by which a messenger knows a message that is sent again.
    fn part_key(&self, part: i64) -> String {
        crate::ids::hash_code(&format!("{} {} {part}", self.channel_id, self.update_id))
    }

    async fn show(&mut self, messages: &[Rendered]) -> Result<(), SendError> {
        if self.is_closed {
            return Ok(());
        }
        let more = Rendered::plain(MORE);
        let last = MAX_MESSAGES - 1;
        for (part, message) in messages.iter().take(MAX_MESSAGES).enumerate() {
            let message = if part == last && messages.len() > MAX_MESSAGES { &more } else { message };
            while self.sent.len() <= part {
                self.send_placeholder().await?;
            }
            let Some(sent) = self.sent.get_mut(part) else { break };
            if sent.shown.as_ref() == Some(message) {
                continue;
            }
            self.bot.edit(&self.place, &sent.id, message, &[]).await?;
            sent.shown = Some(message.clone());
        }
        Ok(())
    }

    /// If the server is killed in between, the placeholder stays in the chat, unless the messenger knows it by its key.
    async fn send_placeholder(&mut self) -> Result<(), SendError> {
        let part = i64::try_from(self.sent.len()).unwrap_or(i64::MAX);
        let placeholder = Rendered::plain(PLACEHOLDER);
        let id = self.bot.send(&self.place, &placeholder, &[], &self.part_key(part)).await?;
        let key = (self.channel_id.clone(), self.update_id, part);
        let (owner, stored) = (self.owner.clone(), id.clone());
        self.job.write(move |db| Box::pin(store::set_message(db, key, owner, stored, now_millis()))).await?;
        self.sent.push(SentMessage { id, shown: None });
        Ok(())
    }

    /// Deletes messages that the answer does not need: a text that continues can take fewer messages than its
    /// beginning.
    async fn delete_surplus(&mut self, needed: usize) -> Result<(), JobError> {
        if self.sent.len() <= needed {
            return Ok(());
        }
        for sent in self.sent.split_off(needed) {
            if let Err(error) = self.bot.delete(&self.place, &sent.id).await {
                tracing::debug!(%error, "a message was not deleted");
            }
        }
        let (channel_id, update_id) = (self.channel_id.clone(), self.update_id);
        let part = i64::try_from(needed).unwrap_or(i64::MAX);
        Ok(self.job.write(move |db| Box::pin(store::delete_messages_from(db, channel_id, update_id, part))).await?)
    }

    fn give_up(&mut self, error: &ApiError) {
        self.is_closed |= error.is_blocked();
        tracing::info!(channel = self.channel_id, %error, "an answer was not delivered; it is in the conversation");
    }
}
