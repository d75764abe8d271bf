//! Messages that other capabilities send to chats of a bot.

use crate::markdown::Rendered;
use crate::messenger::{ApiError, Bot, ChatPlace, Pace, Pacer, Settings};
use crate::section::{channels, connection_settings};
use ::config::Config;
use capability::{ChatPost, PostError, PostToChats};
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The most characters of a text: they fit in one message of each messenger.
const MAX_TEXT: usize = 1_500;

/// Sends messages at the pace of everything else that the bots of this server send.
pub(crate) struct Poster {
    pub(crate) pacer: Arc<Pacer>,
}

impl Poster {
    async fn send(&self, config: &Config, post: ChatPost<'_>) -> Result<(), ApiError> {
        let settings = connection_settings(config, post.connection_id);
        let settings = settings.filter(|settings| !matches!(settings, Settings::Email(..)));
        let settings = settings.ok_or_else(|| ApiError::refused("there is no connection to this bot"))?;
        let of_bot = channels(config).iter().find(|channel| channel.connection_id == post.connection_id);
        let pace_of = of_bot.map_or(post.connection_id, |channel| channel.id.0.as_str());
        let bot = Bot::new(settings, Pace::new(self.pacer.clone(), pace_of, CancellationToken::new()))?;
        let text: String = post.text.chars().take(MAX_TEXT).collect();
        bot.send(&ChatPlace::parse(post.chat), &Rendered::plain(text), &[], post.key).await.map(drop)
    }
}

impl PostToChats for Poster {
    fn post<'a>(&'a self, config: &'a Config, post: ChatPost<'a>) -> BoxFuture<'a, Result<(), PostError>> {
        Box::pin(async move {
            self.send(config, post).await.map_err(|error| {
                if error.is_temporary() {
                    PostError::Failed(error.to_string())
                } else {
                    PostError::Refused(error.to_string())
                }
            })
        })
    }
}
