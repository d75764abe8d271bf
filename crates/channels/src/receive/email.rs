//! Reads a mailbox: looks into it again and again for mails that nobody has seen, and marks what was stored as seen.

use super::failed_mails::MAX_ATTEMPTS;
use super::{MIN_PAUSE, Session};
use crate::email::{EmailBot, Fetched, Folder, MailId, ReadMail, read_mail};
use crate::messenger::SendError;
use ::jobs::JobContext;
use std::time::{Duration, Instant};
use web::times::now_millis;

/// The maximum age of a mail that is answered, in milliseconds: a little more than a day, as the date has no
/// time. Mails that were unread before the mailbox got an agent stay unread.
const MAX_AGE_MS: i64 = 24 * 60 * 60 * 1_000;

/// The most mails that are looked at in a round, the oldest first.
const BATCH: usize = 50;
/// After a longer pause, the folder is opened again: servers end connections on which nothing happens for half an
/// hour (RFC 9051, 5.4), and networks in between do it sooner.
const MAX_IDLE: Duration = Duration::from_secs(5 * 60);

impl Session<'_> {
    /// Reads until an error.
    pub(super) async fn read_mailbox(
        &self,
        job: &JobContext,
        bot: &EmailBot,
        pause: &mut Duration,
    ) -> Result<(), SendError> {
        let poll = Duration::from_secs(bot.mailbox.poll_seconds);
        let mut folder = Folder::open(&bot.mailbox).await?;
        loop {
            self.read_unseen(job, bot, &mut folder, pause).await?;
            tokio::time::sleep(poll).await;
            if poll > MAX_IDLE {
                folder = Folder::open(&bot.mailbox).await?;
            }
        }
    }

    /// Reads the mails that nobody has seen. One that fails again and again does not keep others waiting.
    async fn read_unseen(
        &self,
        job: &JobContext,
        bot: &EmailBot,
        folder: &mut Folder,
        pause: &mut Duration,
    ) -> Result<(), SendError> {
        self.wait_for_room().await?;
        let found = folder.unseen(&imap_date(now_millis() - MAX_AGE_MS)).await?;
        *pause = MIN_PAUSE;
        let (failed, channel) = (&self.receiver.failed_mails, self.channel.id.0.as_str());
        let due = found.into_iter().filter(|id| failed.is_due(channel, *id, Instant::now()));
        for id in due.take(BATCH).collect::<Vec<_>>() {
            let attempts = failed.begin(channel, id, Instant::now());
            match self.read_mail(job, bot, folder, id).await {
                Err(SendError::Api(error)) => {
                    if error.is_of_connection() {
                        failed.uncount(channel, id);
                    } else if attempts == MAX_ATTEMPTS {
                        tracing::error!(channel, mail = id.uid, %error, attempts, "a mail cannot be read: it is left out and stays unread");
                    }
                    return Err(error.into());
                }
                read => {
                    failed.forget(channel, id);
                    read?;
                }
            }
        }
        Ok(())
    }

    /// Reads a mail, and marks it as seen.
    async fn read_mail(
        &self,
        job: &JobContext,
        bot: &EmailBot,
        folder: &mut Folder,
        id: MailId,
    ) -> Result<(), SendError> {
        let read = match folder.fetch(id).await? {
            Fetched::Mail(bytes) => read_mail(&bytes, id, bot.address(), &bot.mailbox),
            Fetched::TooLarge => ReadMail::Ignored("it is too large"),
            Fetched::Gone => return Ok(()),
        };
        match read {
            ReadMail::Update(update) if self.is_within_bounds(bot, &update.person_id) => {
                let mut batch = self.sort(vec![*update]).await?;
                self.store(job, &mut batch).await?;
                folder.mark_seen(id).await?;
                self.reply(batch.replies).await;
                Ok(())
            }
            ReadMail::Update(_) => self.ignore(folder, id, "its sender writes too often").await,
            ReadMail::Ignored(reason) => self.ignore(folder, id, reason).await,
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
