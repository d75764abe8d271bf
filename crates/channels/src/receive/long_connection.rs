//! Reads the messages of a bot of Feishu over its long connection.

use super::{MIN_PAUSE, Session, ended};
use crate::feishu::{FeishuBot, LongConnection, read_event};
use crate::messenger::SendError;
use ::jobs::JobContext;
use std::time::{Duration, Instant};

impl Session<'_> {
    /// Reads until the connection ends, and waits until another one may be opened. Feishu repeats the events that were
    /// not acknowledged then.
    pub(super) async fn read_long_connection(
        &self,
        job: &JobContext,
        bot: &FeishuBot,
        pause: &mut Duration,
    ) -> Result<(), SendError> {
        let mut connection = LongConnection::open(bot).await?;
        let opened = Instant::now();
        let read = self.read_deliveries(job, bot, &mut connection, pause).await;
        let read = read.and_then(|()| ended(opened, "the connection ended at once"));
        let delay = connection.delay();
        // Feishu would send events to it.
        drop(connection);
        tokio::time::sleep(delay).await;
        read
    }

    async fn read_deliveries(
        &self,
        job: &JobContext,
        bot: &FeishuBot,
        connection: &mut LongConnection,
        pause: &mut Duration,
    ) -> Result<(), SendError> {
        loop {
            self.wait_for_room().await?;
            let Some(delivery) = connection.next().await? else { return Ok(()) };
            *pause = MIN_PAUSE;
            let event = delivery.event.as_ref();
            let read = event.and_then(|event| read_event(event, &self.account, bot.app_id()));
            let mut batch = self.sort(read.into_iter().collect()).await?;
            self.store(job, &mut batch).await?;
            connection.acknowledge(delivery).await?;
            self.reply(batch.replies).await;
        }
    }
}
