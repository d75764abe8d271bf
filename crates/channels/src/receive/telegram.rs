//! Reads the messages of a bot of Telegram: requests that wait for them.

use super::{MIN_PAUSE, Session};
use crate::messenger::{COMMANDS, SendError};
use crate::telegram::{TelegramBot, read_update, update_id};
use ::jobs::JobContext;
use std::time::{Duration, Instant};

impl Session<'_> {
    /// Reads until an error. It begins with all messages that Telegram has not been told to forget, whatever their
    /// numbers are: after a quiet week, Telegram chooses the next number at random.
    pub(super) async fn poll(
        &self,
        job: &JobContext,
        bot: &TelegramBot,
        pause: &mut Duration,
    ) -> Result<(), SendError> {
        // The app offers them; nothing depends on it.
        if let Err(error) = bot.set_commands(COMMANDS).await {
            tracing::debug!(%error, "the commands of a bot were not set");
        }
        let mut next = 0;
        loop {
            self.wait_for_room().await?;
            let asked = Instant::now();
            let updates = bot.updates(next).await?;
            *pause = MIN_PAUSE;
            let Some(last) = updates.iter().filter_map(update_id).max() else {
                // Some servers of the API do not wait for messages.
                tokio::time::sleep(MIN_PAUSE.saturating_sub(asked.elapsed())).await;
                continue;
            };
            let read = updates.iter().filter_map(|update| read_update(update, &self.account)).collect();
            let mut batch = self.sort(read).await?;
            next = next.max(last.saturating_add(1));
            self.store(job, &mut batch).await?;
            self.reply(batch.replies).await;
        }
    }
}
