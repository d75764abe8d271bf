//! Mails that could not be read, so that one of them does not keep all others of its mailbox waiting.

use crate::email::MailId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The maximum number of attempts of a server at a mail.
pub(super) const MAX_ATTEMPTS: u32 = 6;
/// The pause after the first attempt; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(30);
/// The time for which a mail without further attempts is remembered: mails that are older than a day are not
/// searched for.
const KEPT: Duration = Duration::from_secs(2 * 24 * 3_600);
/// The most mails that are known; beyond that, those are forgotten that were tried least recently.
const MAX_KNOWN: usize = 10_000;

/// The mails of all mailboxes that this server is trying, or could not read.
#[derive(Debug, Default)]
pub(super) struct FailedMails(Mutex<HashMap<(String, MailId), Attempts>>);

#[derive(Clone, Copy, Debug)]
struct Attempts {
    count: u32,
    last: Instant,
}

impl FailedMails {
    /// Returns whether a mail may be tried now.
    pub(super) fn is_due(&self, channel: &str, id: MailId, now: Instant) -> bool {
        let known = self.0.lock().get(&(channel.to_owned(), id)).copied();
        known.is_none_or(|Attempts { count, last }| {
            let pause = FIRST_PAUSE * 2_u32.pow(count.saturating_sub(1).min(MAX_ATTEMPTS));
            count < MAX_ATTEMPTS && now.saturating_duration_since(last) >= pause
        })
    }

    /// Counts an attempt before it is made, so that one that ends with the reader's job counts as well. Returns how many
    /// there were.
    pub(super) fn begin(&self, channel: &str, id: MailId, now: Instant) -> u32 {
        let mut known = self.0.lock();
        if known.len() >= MAX_KNOWN {
            known.retain(|_, attempts| now.saturating_duration_since(attempts.last) < KEPT);
            let oldest = known.iter().min_by_key(|(_, attempts)| attempts.last).map(|(key, _)| key.clone());
            oldest.filter(|_| known.len() >= MAX_KNOWN).map(|key| known.remove(&key));
        }
        let attempts = known.entry((channel.to_owned(), id)).or_insert(Attempts { count: 0, last: now });
        attempts.count += 1;
        attempts.last = now;
        attempts.count
    }

    /// Takes back an attempt that the connection ended. The mail is tried again after the pause of the first attempt at
    /// the earliest, so that one with which the server ends each connection keeps no others waiting.
    pub(super) fn uncount(&self, channel: &str, id: MailId) {
        if let Some(attempts) = self.0.lock().get_mut(&(channel.to_owned(), id)) {
            attempts.count = attempts.count.saturating_sub(1);
        }
    }

    /// Forgets a mail that was read.
    pub(super) fn forget(&self, channel: &str, id: MailId) {
        self.0.lock().remove(&(channel.to_owned(), id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_mail_is_tried_after_longer_and_longer_pauses_and_then_left_out() {
        let (failed, begun) = (FailedMails::default(), Instant::now());
        let mail = |uid| MailId { validity: 1, uid };
        let mut tried = Vec::new();
        for second in 0..3_600 {
            let now = begun + Duration::from_secs(second);
            if failed.is_due("box", mail(7), now) {
                failed.begin("box", mail(7), now);
                tried.push(second);
            }
        }
        assert_eq!(tried, [0, 30, 90, 210, 450, 930]);
        // Neither other mails nor other mailboxes wait for it.
        assert!(failed.is_due("box", mail(8), begun) && failed.is_due("other", mail(7), begun));
        failed.forget("box", mail(7));
        assert!(failed.is_due("box", mail(7), begun));
    }

    #[test]
    fn mail_is_not_left_out_because_of_the_connection() {
        let (failed, begun) = (FailedMails::default(), Instant::now());
        let id = MailId { validity: 1, uid: 7 };
        for attempt in 0..2 * MAX_ATTEMPTS {
            let now = begun + FIRST_PAUSE * attempt;
            assert!(failed.is_due("box", id, now), "{attempt}");
            assert_eq!(failed.begin("box", id, now), 1);
            failed.uncount("box", id);
            assert!(!failed.is_due("box", id, now), "others come first");
        }
    }

    #[test]
    fn number_of_known_mails_is_bounded() {
        let (failed, begun) = (FailedMails::default(), Instant::now());
        for uid in 0..12_000 {
            failed.begin("box", MailId { validity: 1, uid }, begun + Duration::from_millis(u64::from(uid)));
        }
        assert_eq!(failed.0.lock().len(), MAX_KNOWN);
    }
}
