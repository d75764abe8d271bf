//! Shows an answer: while it is written by editing, and in the end as it is stored.

use super::commands::plain;
use super::shown::{ShownFile, shown_files};
use super::{Turn, TurnEnd};
use crate::markdown::messages;
use crate::person::Person;
use ::jobs::JobError;
use chat::{ChunkReader, Frames, SendResponse};
use futures::StreamExt;
use std::time::{Duration, Instant};
use web::times::now_millis;
use wire::api::{ConversationView, MessageMetadata, Outcome};
use wire::{ErrorCode, Reducer, Role, UiMessage, UiPart};

/// The time for which the app shows that the bot is typing.
const TYPING: Duration = Duration::from_secs(4);
/// The pause before a run whose stream broke off is looked for again.
const LOOK_PAUSE: Duration = Duration::from_millis(500);

/// An answer that is being written, or was written.
pub(super) struct Answering {
    id: String,
    /// The stream of the run, if this attempt has begun it.
    frames: Option<Frames>,
}

impl Answering {
    /// The answer of a run that has just begun.
    pub(super) fn from_response(sent: SendResponse) -> Self {
        Self { id: sent.message_id, frames: (!sent.run_id.is_empty()).then_some(sent.frames) }
    }

    /// Returns whether a run writes it: otherwise other calls still wait for the user.
    pub(super) fn goes_on(&self) -> bool {
        self.frames.is_some()
    }

    /// The answer of a run that an earlier attempt has begun.
    pub(super) fn resumed(id: String) -> Self {
        Self { id, frames: None }
    }
}

impl Turn<'_> {
    /// Shows the answer until it is complete, and asks what it waits for.
    pub(super) async fn answer(&mut self, person: &Person, answering: Answering) -> Result<TurnEnd, JobError> {
        let Answering { id, mut frames } = answering;
        let conversation_id = self.update.conversation_id.clone().unwrap_or_default();
        loop {
            let parts_before = usize::try_from(self.update.parts_before).unwrap_or_default();
            if self.delivery.is_closed() {
                return Ok(TurnEnd::Done);
            }
            if let Some(frames) = frames.take() {
                // The stream of a run that has just begun has only what is new.
                if self.follow(frames, &id, 0).await?.is_none() {
                    return Ok(TurnEnd::ChannelGone);
                }
            }
            let view = match self.context.chat.conversation(&person.caller, &conversation_id).await {
                Ok(view) => view,
                Err(error) if error.code == ErrorCode::NotFound => {
                    return self.send_text("This conversation was deleted.").await;
                }
                Err(error) => return Err(JobError::retry(error.message)),
            };
            if view.active.as_ref().is_none_or(|active| active.message_id != id) {
                return self.complete(person, &view, &id, parts_before).await;
            }
            if let Ok(Some(whole)) = self.context.chat.watch_message(&person.caller, &conversation_id, &id).await
                && self.follow(whole, &id, parts_before).await?.is_none()
            {
                return Ok(TurnEnd::ChannelGone);
            }
            self.pause(LOOK_PAUSE).await?;
        }
    }

    /// Shows the text while it is written, without the first parts of the message. `None` if the channel is no
    /// longer in the config.
    async fn follow(&mut self, mut frames: Frames, id: &str, skip: usize) -> Result<Option<()>, JobError> {
        self.delivery.begin().await?;
        let mut reader = Reader::new(id);
        let mut typing = Instant::now();
        let stop = self.job.stop().clone();
        let shows_progress = self.delivery.shows_progress();
        while !self.delivery.is_closed() {
            let wake = if shows_progress && reader.is_changed { self.delivery.next_edit().min(typing) } else { typing };
            tokio::select! {
                frame = frames.next() => match frame {
                    Some(frame) => reader.push(&frame),
                    None => return Ok(Some(())),
                },
                () = tokio::time::sleep_until(wake.into()) => {}
                () = stop.cancelled() => return Err(JobError::retry("stopped")),
            }
            let now = Instant::now();
            if now >= typing {
                typing = now + TYPING;
                if !self.is_configured() {
                    return Ok(None);
                }
                // The next message shows it as well.
                let _ = self.delivery.bot.show_typing(&self.delivery.place).await;
            }
            if shows_progress && reader.is_changed && now >= self.delivery.next_edit() {
                reader.is_changed = false;
                let text = message_text(reader.reducer.message(), skip, &mut |file| file.attached());
                if !text.trim().is_empty() {
                    self.delivery.show_progress(&self.rendered(&text)).await?;
                }
            }
        }
        Ok(Some(()))
    }

    async fn pause(&self, time: Duration) -> Result<(), JobError> {
        let slept = self.job.stop().run_until_cancelled(tokio::time::sleep(time)).await;
        slept.ok_or_else(|| JobError::retry("stopped"))
    }

    /// Shows the answer as it is stored, and what it waits for.
    async fn complete(
        &mut self,
        person: &Person,
        view: &ConversationView,
        id: &str,
        skip: usize,
    ) -> Result<TurnEnd, JobError> {
        let Some(message) = view.messages.iter().find(|message| message.id == id) else {
            return self.send_text("The answer is no longer in the conversation.").await;
        };
        let is_last = view.messages.last().is_some_and(|last| last.id == id);
        let waits = is_last && message.tools().any(|tool| tool.waits_for_user(now_millis()));
        if let Some(head) = self.mail_head() {
            return self.complete_by_mail(person, &head, view, (message, skip, waits)).await;
        }
        let limits = self.messenger().limits();
        let shown = |line: &mut dyn FnMut(&ShownFile) -> String| {
            let text = message_text(message, skip, line) + &ending(message);
            let shown = messages(&text, limits);
            let nothing = if waits { "This needs your decision:" } else { "The agent wrote no answer." };
            if shown.is_empty() { messages(nothing, limits) } else { shown }
        };
        self.delivery.show_final(&shown(&mut ShownFile::attached)).await?;
        let attached = self.send_files(person, &shown_files(message, skip)).await?;
        if attached.contains(&false) {
            let (mut attached, config) = (attached.into_iter(), self.config.clone());
            let mut line = |file: &ShownFile| match attached.next() {
                Some(true) => file.attached(),
                _ => file.linked(&config),
            };
            self.delivery.show_final(&shown(&mut line)).await?;
        }
        if waits {
            self.send_cards(view, message).await?;
        }
        Ok(TurnEnd::Done)
    }
}

/// Reads the stream of a run.
struct Reader {
    chunks: ChunkReader,
    reducer: Reducer,
    is_changed: bool,
}

impl Reader {
    fn new(id: &str) -> Self {
        let message = UiMessage::new(id, Role::Assistant);
        Self { chunks: ChunkReader::new(), reducer: Reducer::new(message), is_changed: false }
    }

    fn push(&mut self, frame: &[u8]) {
        for chunk in self.chunks.push(frame) {
            // A chunk that does not fit changes nothing; the end is read from the database.
            let _ = self.reducer.apply(&chunk);
            self.is_changed = true;
        }
    }
}

/// Returns the text of a message without its first parts, with a line for each of the files that it shows.
pub(super) fn message_text(message: &UiMessage, skip: usize, line: &mut dyn FnMut(&ShownFile) -> String) -> String {
    let mut text = String::new();
    for part in message.parts.iter().skip(skip) {
        let block = match part {
            UiPart::Text(part) => part.text.clone(),
            part => ShownFile::from_part(part).iter().map(&mut *line).collect::<Vec<_>>().join("\n\n"),
        };
        if !block.trim().is_empty() {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&block);
        }
    }
    text
}

/// Returns the note below an incomplete answer.
pub(super) fn ending(message: &UiMessage) -> String {
    let metadata = MessageMetadata::from_message(message);
    let note = match metadata.incomplete_outcome() {
        None => return String::new(),
        Some(Outcome::Stopped) => "⏹ Stopped.".to_owned(),
        Some(Outcome::Interrupted) => "⚠️ The answer was cut off. Write a message to continue.".to_owned(),
        Some(Outcome::Limit) => {
            let limit = metadata.reason.and_then(wire::EndReason::explanation);
            format!("⚠️ {}", limit.unwrap_or("The answer reached a limit and is not complete."))
        }
        Some(_) => {
            let error =
                metadata.error.map_or_else(|| "The answer failed. Try again.".to_owned(), |error| error.message);
            format!("⚠️ {}", plain(&error))
        }
    };
    format!("\n\n{note}")
}
