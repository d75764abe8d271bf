//! Answers people whose messages start nothing.

use super::Session;
use crate::email::{OutgoingMail, mail_id};
use crate::markdown::Rendered;
use crate::messenger::{ApiError, Bot, Button, ChatPlace, Incoming, MailHead, Press, ReadUpdate};
use crate::turn::plain_paragraphs as plain;
use futures::StreamExt;
use std::time::{Duration, Instant};

/// The maximum number of people who are answered at once.
const REPLIES_AT_ONCE: usize = 8;
/// The time for which such an answer waits for its chat.
const MAX_REPLY_WAIT: Duration = Duration::from_secs(5);

/// An answer to a message that starts no run.
pub(super) struct Reply {
    place: ChatPlace,
    person_id: String,
    is_private: bool,
    text: String,
    button: Option<Button>,
    /// The press that it answers, and the message with the button, which the text replaces.
    press: Option<(String, String)>,
    /// The mail that it answers.
    mail: Option<MailHead>,
    update_id: i64,
}

impl Reply {
    /// Creates the answer to an update.
    pub(super) fn new(read: &ReadUpdate, text: impl Into<String>) -> Self {
        let press = match &read.incoming {
            Incoming::Press { press_id, message_id, .. } => Some((press_id.clone(), message_id.clone())),
            Incoming::Message { .. } => None,
        };
        let mut place = ChatPlace::parse(read.incoming.chat());
        if read.begins_thread {
            place.thread = None;
        }
        Self {
            place,
            person_id: read.person_id.clone(),
            is_private: read.is_private,
            text: text.into(),
            button: None,
            press,
            mail: read.incoming.mail().cloned(),
            update_id: read.update_id,
        }
    }

    /// Returns the text with its buttons, and whether nobody else reads the chat.
    pub(super) fn into_message(self) -> (Rendered, Vec<Vec<Button>>, bool) {
        let buttons = self.button.into_iter().map(|button| vec![button]).collect();
        (Rendered::plain(self.text), buttons, self.is_private)
    }

    pub(super) fn with_button(self, button: Button) -> Self {
        Self { button: Some(button), ..self }
    }
}

impl Session<'_> {
    /// Answers people whose messages start nothing. If it fails, they get no answer.
    pub(super) async fn reply(&self, replies: Vec<Reply>) {
        let send = async |reply: Reply| {
            // Reading does not wait for a chat that is paused.
            if self.bot.free_at(&reply.place) > Instant::now() + MAX_REPLY_WAIT {
                return;
            }
            if let Err(error) = self.send_reply(reply).await {
                tracing::debug!(%error, "a sender was not answered");
            }
        };
        futures::stream::iter(replies).for_each_concurrent(REPLIES_AT_ONCE, send).await;
    }

    async fn send_reply(&self, reply: Reply) -> Result<(), ApiError> {
        if let (Bot::Email(bot), Some(head)) = (&self.bot, &reply.mail) {
            let key = format!("reply {} {}", self.channel.id.0, reply.update_id);
            let (id, text) = (mail_id(&reply.place.chat, &key), plain(&reply.text));
            return bot.send(OutgoingMail { head, id, text, files: Vec::new() }).await;
        }
        let text = Rendered::plain(reply.text);
        if let Some((press_id, message_id)) = reply.press {
            // Without it, the button stays lit for a moment.
            let _ = self.bot.acknowledge(Press { place: &reply.place, id: &press_id, is_shown: true }, "").await;
            return self.bot.edit(&reply.place, &message_id, &text, &[]).await;
        }
        if !reply.is_private {
            return self.bot.whisper(&reply.place, &reply.person_id, &text).await;
        }
        let buttons: Vec<_> = reply.button.into_iter().map(|button| vec![button]).collect();
        self.bot.send(&reply.place, &text, &buttons, &crate::ids::new_id()).await.map(drop)
    }
}
