//! Reads a mailbox: looks into it again and again for mails that nobody has seen, and marks what was stored as seen.

use super::{MIN_PAUSE, Session};
use crate::email::{EmailBot, Fetched, Folder, MailId, ReadMail, read_mail};
use crate::messenger::SendError;
use ::jobs::JobContext;
use std::time::{Duration, Instant};
use web::times::now_millis;

/// How old a mail may be that is answered, in milliseconds: a day and a bit, as the date has no time. What was unread in a
/// mailbox before it got an agent stays so.
const MAX_AGE_MS: i64 = 24 * 60 * 60 * 1_000;

impl Session<'_> {
    /// Reads until an error.
    pub(super) async fn read_mailbox(
        &self,
        job: &JobContext,
        bot: &EmailBot,
        pause: &mut Duration,
    ) -> Result<(), SendError> {
        let mut folder = Folder::open(&bot.mailbox).await?;
        loop {
            self.wait_for_room().await?;
            let found = folder.unseen(&imap_date(now_millis() - MAX_AGE_MS)).await?;
            *pause = MIN_PAUSE;
            for id in found {
                let read = match folder.fetch(id).await? {
                    Fetched::Mail(bytes) => read_mail(&bytes, id, bot.address(), &bot.mailbox),
                    Fetched::TooLarge => ReadMail::Ignored("it is too large"),
                    Fetched::Gone => continue,
                };
                match read {
                    ReadMail::Update(update) if self.is_within_bounds(bot, &update.person_id) => {
                        let mut batch = self.sort(vec![*update]).await?;
                        self.store(job, &mut batch).await?;
                        folder.mark_seen(id).await?;
                        self.reply(batch.replies).await;
                    }
                    ReadMail::Update(_) => self.ignore(&mut folder, id, "its sender writes too often").await?,
                    ReadMail::Ignored(reason) => self.ignore(&mut folder, id, reason).await?,
                }
            }
            tokio::time::sleep(Duration::from_secs(bot.mailbox.poll_seconds)).await;
        }
    }

    /// Leaves a mail without an answer.
    async fn ignore(&self, folder: &mut Folder, id: MailId, reason: &str) -> Result<(), SendError> {
        tracing::info!(channel = self.channel.id.0, mail = id.uid, reason, "a mail gets no answer");
        Ok(folder.mark_seen(id).await?)
    }

    /// Counts a mail. Two programs that answer each other are stopped here at the latest.
    fn is_within_bounds(&self, bot: &EmailBot, person_id: &str) -> bool {
        let key = format!("{} {person_id}", self.channel.id.0);
        self.receiver.mails.allows_up_to(&key, bot.mailbox.max_per_hour, Instant::now())
    }
}

/// Returns the day of a time as IMAP writes it, such as `28-Nov-2026`.
fn imap_date(millis: i64) -> String {
    web::times::day(millis).replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_written_as_imap_does() {
        assert_eq!(imap_date(0), "1-Jan-1970");
        assert_eq!(imap_date(1_796_000_000_000), "30-Nov-2026");
    }
}
