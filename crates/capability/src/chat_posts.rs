//! Messages to chats of messengers, which one capability sends and others write.

use config::Config;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A message that a bot sends to a chat by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatPost<'p> {
    /// The connection to the bot.
    pub connection_id: &'p str,
    /// The chat: its id in the messenger, for a topic or thread `CHAT/THREAD`.
    pub chat: &'p str,
    /// The text, which is shown as it is. A long one is cut off.
    pub text: &'p str,
    /// Distinguishes the message from others, for messengers that recognize a message that is sent again.
    pub key: &'p str,
}

/// The reason why a message was not sent, for operators. It contains no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostError {
    /// Another attempt would fail as well.
    Refused(String),
    /// Another attempt may succeed.
    Failed(String),
}

/// Sends messages to chats.
pub trait PostToChats: Send + Sync + 'static {
    /// Sends a message. When it is repeated, the chat may get it twice.
    ///
    /// # Errors
    /// It was not sent, or perhaps not.
    fn post<'a>(&'a self, config: &'a Config, post: ChatPost<'a>) -> BoxFuture<'a, Result<(), PostError>>;
}

/// The sender of messages to chats: the capability with messengers sets it when it starts; cheap to clone.
#[derive(Clone, Default)]
pub struct ChatPosts(Arc<OnceLock<Arc<dyn PostToChats>>>);

impl ChatPosts {
    /// Sets what sends. Only the first one counts.
    pub fn provide(&self, sender: Arc<dyn PostToChats>) {
        if self.0.set(sender).is_err() {
            tracing::warn!("two capabilities send messages to chats; the first one is used");
        }
    }

    /// Sends a message. See [`PostToChats::post`].
    ///
    /// # Errors
    /// As [`PostToChats::post`].
    pub async fn post(&self, config: &Config, post: ChatPost<'_>) -> Result<(), PostError> {
        let sender = self.0.get().ok_or_else(|| PostError::Refused("This server has no messengers.".to_owned()))?;
        sender.post(config, post).await
    }
}

/// Formats whether something sends.
impl fmt::Debug for ChatPosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatPosts").field("is_provided", &self.0.get().is_some()).finish()
    }
}
