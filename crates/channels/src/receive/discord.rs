//! Reads the messages of a bot of Discord over the Gateway.

use super::sort::Batch;
use super::{MIN_PAUSE, Session, ended};
use crate::discord::{DiscordBot, Gateway, GatewayEvent, GatewayPosition, ReadEvent, Response, read_event};
use crate::markdown::Rendered;
use crate::messenger::{ApiError, COMMANDS, Incoming, SendError};
use crate::store;
use crate::turn::PLACEHOLDER;
use ::jobs::JobContext;
use ::store::StoreError;
use std::time::{Duration, Instant};

/// The response to a command that has no other one.
const NOTHING: &str = "This was not accepted. Try again later.";

impl Session<'_> {
    /// Reads until the connection ends. It continues where the last connection has stored that it was, also if that
    /// was of another server.
    pub(super) async fn read_gateway(
        &self,
        job: &JobContext,
        bot: &DiscordBot,
        pause: &mut Duration,
    ) -> Result<(), SendError> {
        let stored = store::position(&self.receiver.context.store, &self.channel.id.0).await?;
        let stored: Option<GatewayPosition> = stored.and_then(|json| serde_json::from_str(&json).ok());
        let mut gateway = Gateway::open(bot, stored.clone()).await?;
        let (opened, mut stored) = (Instant::now(), stored);
        loop {
            self.wait_for_room().await?;
            match gateway.next().await? {
                GatewayEvent::Ready { application_id } => {
                    // The app offers them; nothing depends on it.
                    if let Err(error) = bot.set_commands(&application_id, COMMANDS).await {
                        tracing::debug!(%error, "the commands of a bot were not set");
                    }
                }
                GatewayEvent::Event { kind, data } => {
                    *pause = MIN_PAUSE;
                    // Most messages of a server are not for the bot: the position is not stored for each of them.
                    let Some(read) = read_event(&kind, &data, &self.account) else { continue };
                    self.take_event(job, bot, read).await?;
                }
                GatewayEvent::Tick => {}
                GatewayEvent::NoSession => {
                    self.store_position(job, None).await?;
                    return ended(opened, "the session ended at once");
                }
                GatewayEvent::Reconnect => return ended(opened, "the connection ended at once"),
            }
            // Behind what was stored: what came since then is sent again to the next connection.
            if gateway.position() != stored.as_ref() {
                stored = gateway.position().cloned();
                self.store_position(job, stored.as_ref()).await?;
            }
        }
    }

    async fn store_position(&self, job: &JobContext, position: Option<&GatewayPosition>) -> Result<(), StoreError> {
        let position = position.and_then(|position| serde_json::to_string(position).ok());
        let channel_id = self.channel.id.0.clone();
        job.write(move |db| Box::pin(store::set_position(db, channel_id, position))).await
    }

    /// Stores an event, and responds to it.
    async fn take_event(&self, job: &JobContext, bot: &DiscordBot, read: ReadEvent) -> Result<(), SendError> {
        let ReadEvent { update, response } = read;
        let is_command = matches!(update.incoming, Incoming::Message { .. });
        let mut batch = self.sort(vec![update]).await?;
        match response {
            Some(response) if is_command => self.respond(bot, &response, &mut batch).await?,
            Some(response) => {
                self.store(job, &mut batch).await?;
                // Without it, the app shows for a while that the bot has not answered.
                if let Err(error) = bot.receive_press(&response).await {
                    tracing::debug!(%error, "the press of a button was not acknowledged");
                }
            }
            None => {}
        }
        self.store(job, &mut batch).await?;
        self.reply(batch.replies).await;
        Ok(())
    }

    /// Responds to a command: with the message that will show what comes of it, or with what is answered at once.
    async fn respond(&self, bot: &DiscordBot, response: &Response, batch: &mut Batch) -> Result<(), ApiError> {
        if let Some(accepted) = batch.accepted.first_mut() {
            accepted.placeholder = bot.begin_response(response, &Rendered::plain(PLACEHOLDER)).await?;
            return Ok(());
        }
        let responded = match batch.replies.pop() {
            Some(reply) => {
                let (text, buttons, is_private) = reply.into_message();
                bot.respond(response, &text, &buttons, !is_private).await
            }
            // The command was delivered again and is answered already.
            None => bot.respond(response, &Rendered::plain(NOTHING), &[], true).await,
        };
        if let Err(error) = responded {
            tracing::debug!(%error, "a command was not answered");
        }
        Ok(())
    }
}
