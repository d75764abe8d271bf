//! Reads the messages of a bot of Slack over Socket Mode.

use super::{MIN_PAUSE, Session, ended};
use crate::messenger::{ApiError, SendError};
use crate::slack::{SlackBot, Socket, SocketEvent, read_payload};
use ::jobs::JobContext;
use std::time::{Duration, Instant};

impl Session<'_> {
    /// Reads until the connection ends. Slack repeats the events that were not acknowledged then.
    pub(super) async fn read_socket(
        &self,
        job: &JobContext,
        bot: &SlackBot,
        pause: &mut Duration,
    ) -> Result<(), SendError> {
        let mut socket = Socket::open(bot).await?;
        let opened = Instant::now();
        loop {
            self.wait_for_room().await?;
            let (id, payload) = match socket.next().await? {
                SocketEvent::Envelope { id, payload } => (id, payload),
                SocketEvent::Refresh => return ended(opened, "the connection ended at once"),
                SocketEvent::SwitchedOff => {
                    return Err(ApiError::refused("Socket Mode is switched off for the app").into());
                }
            };
            *pause = MIN_PAUSE;
            let read = payload.and_then(|payload| read_payload(&payload, &self.account, bot.team_id()));
            let mut batch = self.sort(read.into_iter().collect()).await?;
            self.store(job, &mut batch).await?;
            socket.acknowledge(&id).await?;
            self.reply(batch.replies).await;
        }
    }
}
