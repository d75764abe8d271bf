//! How often e-mails are sent.

/// A minute in milliseconds.
const MINUTE: i64 = 60_000;

/// When e-mails are sent with the config in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// How long an answer stays unread, in minutes.
    pub(crate) after_minutes: u32,
    /// The shortest time between two e-mails to a user, in minutes.
    pub(crate) every_minutes: u32,
}

impl Pace {
    /// Returns in how many milliseconds the next e-mail is due.
    pub(crate) fn pause(self, now: i64, sent_at: Option<i64>) -> i64 {
        let next = sent_at.map_or(0, |sent_at| sent_at + i64::from(self.every_minutes) * MINUTE - now);
        next.max(i64::from(self.after_minutes) * MINUTE)
    }
}
