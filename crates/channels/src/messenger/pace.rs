//! Limits the rate of messages in a chat: messengers allow about one a second for all turns of a bot; edits
//! count as well. The state is in memory: several servers that answer in one chat are slowed down by the
//! messenger itself, which then pauses the chat on each of them.

use super::tokens::TokenCache;
use super::{ApiError, ChatPlace};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The longest time that a message waits here. A longer one is left to the job.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(30);
/// The number of chats from which on those that need not wait are removed.
const MANY: usize = 1_000;

/// The id of a channel, and a chat of its bot.
type ChatKey = (String, String);

/// The state that all bots of a server share.
#[derive(Debug, Default)]
pub(crate) struct Pacer {
    /// The time of the next message of each chat of each channel.
    next: Mutex<HashMap<ChatKey, Instant>>,
    /// The access tokens of messengers that give them for a while.
    tokens: TokenCache,
}

impl Pacer {
    /// Takes the next time at which a chat may get a message, and returns how long that is from now on. If it is longer
    /// than [`MAX_WAIT`], it is the error, and nothing is taken.
    fn reserve(&self, key: ChatKey, interval: Duration, now: Instant) -> Result<Duration, Duration> {
        let mut next = self.next.lock();
        if next.len() >= MANY {
            next.retain(|_, at| *at > now);
        }
        let at = next.get(&key).copied().unwrap_or(now).max(now);
        let wait = at - now;
        if wait > MAX_WAIT {
            return Err(wait);
        }
        next.insert(key, at + interval);
        Ok(wait)
    }

    fn free_at(&self, key: &ChatKey, now: Instant) -> Instant {
        self.next.lock().get(key).copied().unwrap_or(now).max(now)
    }

    fn pause(&self, key: ChatKey, until: Instant) {
        let mut next = self.next.lock();
        let at = next.entry(key).or_insert(until);
        *at = until.max(*at);
    }
}

/// The pace of a channel, for one job.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    pacer: Arc<Pacer>,
    channel_id: String,
    /// Ends waiting.
    stop: CancellationToken,
}

impl Pace {
    pub(crate) fn new(pacer: Arc<Pacer>, channel_id: &str, stop: CancellationToken) -> Self {
        Self { pacer, channel_id: channel_id.to_owned(), stop }
    }

    /// Returns the access tokens that all bots of the server share.
    pub(crate) fn tokens(&self) -> &TokenCache {
        &self.pacer.tokens
    }

    /// Returns when the chat may get a message.
    pub(crate) fn free_at(&self, place: &ChatPlace) -> Instant {
        self.pacer.free_at(&self.key(place), Instant::now())
    }

    /// Makes a call that counts as a message of the chat, when the chat may get one. The next one may be sent after the
    /// interval, or when the time is over that the messenger asks to wait.
    pub(crate) async fn keep<T>(
        &self,
        place: &ChatPlace,
        interval: Duration,
        call: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        let reserved = self.pacer.reserve(self.key(place), interval, Instant::now());
        let sleep = tokio::time::sleep(reserved.map_err(ApiError::Wait)?);
        let waited = self.stop.run_until_cancelled(sleep).await;
        waited.ok_or_else(|| ApiError::Unavailable("the server stops".to_owned()))?;
        let called = call.await;
        if let Err(ApiError::Wait(time)) = &called {
            self.pacer.pause(self.key(place), Instant::now() + *time);
        }
        called
    }

    /// The topics and threads of a chat share its pace.
    fn key(&self, place: &ChatPlace) -> ChatKey {
        (self.channel_id.clone(), place.chat.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chat_has_one_pace_and_is_paused_as_a_whole() {
        let (pacer, begin) = (Pacer::default(), Instant::now());
        let key = |chat: &str| ("help".to_owned(), chat.to_owned());
        let check = |chat: &str, at: u64, expected: Result<u64, u64>| {
            let reserved = pacer.reserve(key(chat), Duration::from_secs(3), begin + Duration::from_secs(at));
            assert_eq!(reserved.map(|wait| wait.as_secs()).map_err(|wait| wait.as_secs()), expected, "{chat} {at}");
        };
        check("1", 0, Ok(0));
        check("1", 0, Ok(3));
        check("2", 0, Ok(0));
        check("1", 20, Ok(0));
        pacer.pause(key("1"), begin + Duration::from_secs(100));
        check("1", 21, Err(79));
        check("1", 80, Ok(20));
        check("2", 21, Ok(0));
        pacer.pause(key("1"), begin + Duration::from_secs(90));
        check("1", 80, Ok(23));
    }
}
