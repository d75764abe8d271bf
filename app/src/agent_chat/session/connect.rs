//! The connections by which an answer is followed: one that stays open, or many short ones, and another one when one breaks.

use super::follow::Live;
use super::places;
use super::{Phase, Session};
use crate::agent_chat::browser;
use crate::agent_chat::reader::State;
use crate::api::{self, ApiError};
use crate::prelude::*;
use futures::StreamExt;
use futures::future::{AbortHandle, Abortable, Either, select};
use server_fn::codec::ByteStream;
use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

/// The waits before the next attempt to connect.
const BACKOFF: [u64; 6] = [500, 1_000, 2_000, 4_000, 8_000, 10_000];
/// The server says something every 15 s. Longer silence means that the connection is dead.
pub(super) const SILENCE: f64 = 40_000.0;
/// A short connection ends when nothing has come for so long, or after [`VISIT`].
const QUIET: Duration = Duration::from_millis(250);
const VISIT: f64 = 1_000.0;
/// What comes within so many milliseconds of being asked for had come before.
const WAS_THERE: f64 = 2.0;
/// So long is read what had come before, in milliseconds, until what it brought is drawn.
const CATCHING_UP: f64 = 8.0;
/// How long until the next one, and how long if nobody sees the page.
const BETWEEN: Duration = Duration::from_millis(750);
const BETWEEN_UNSEEN: Duration = Duration::from_secs(5);

pub(super) type Stream = ByteStream<ApiError>;

/// How reading one connection ended.
pub(super) enum End {
    /// The message is complete.
    Done,
    /// The connection broke; the answer may still be being written.
    Cut,
    /// The connection was given up for a while; the answer may still be being written.
    Left,
    /// The conversation has to be loaded.
    Gap,
    /// What comes cannot be read.
    Broken,
    /// Someone else follows now, or nobody.
    Replaced,
}

impl Session {
    /// Reads connections, beginning with this one, until there is an end to it.
    pub(super) async fn read_on(self, stream: Stream, live: &Rc<RefCell<Live>>, turn: u64) -> End {
        let mut end = self.read(stream, live, turn).await;
        let mut attempt = 0;
        loop {
            // Before anything is said of a session that is gone, or of the connection of whoever follows now.
            if self.is_replaced(turn) {
                return End::Replaced;
            }
            let wait = match end {
                End::Cut => {
                    self.phase.set(Phase::Reconnecting);
                    Duration::from_millis(BACKOFF[attempt.min(BACKOFF.len() - 1)])
                }
                End::Left => {
                    if self.phase.get_untracked() == Phase::Reconnecting {
                        self.phase.set(Phase::Streaming);
                    }
                    if browser::is_visible() { BETWEEN } else { BETWEEN_UNSEEN }
                }
                end => return end,
            };
            let cursor_before = live.borrow().reader.cursor.clone();
            end = self.reconnect(live, turn, wait).await;
            let moved = live.borrow().reader.cursor != cursor_before;
            attempt = if moved || matches!(end, End::Left) { 0 } else { attempt + 1 };
        }
    }

    /// Reads one connection to its end, or for a moment if it has no place.
    async fn read(self, stream: Stream, live: &Rc<RefCell<Live>>, turn: u64) -> End {
        let (handle, registration) = AbortHandle::new_pair();
        let begun = browser::now();
        self.inner.update_value(|inner| {
            inner.interrupt = Some(handle);
            inner.heard = begun;
        });
        let mut stream = Abortable::new(stream.into_inner(), registration);
        let mut place = places::take().await;
        let mut awake = begun;
        loop {
            let asked = browser::now();
            let next = stream.next();
            let next = match &place {
                Some(_) => next.await,
                None if browser::now() - begun > VISIT => return End::Left,
                None => match select(next, pin!(browser::sleep(QUIET))).await {
                    Either::Left((next, _)) => next,
                    Either::Right(_) => return End::Left,
                },
            };
            if self.is_replaced(turn) {
                return End::Replaced;
            }
            let Some(Ok(bytes)) = next else { return End::Cut };
            let now = browser::now();
            self.inner.update_value(|inner| inner.heard = now);
            if live.borrow_mut().reader.push(&bytes).is_err() {
                return End::Broken;
            }
            match live.borrow().reader.state {
                State::Done => return End::Done,
                State::Gap => return End::Gap,
                State::Empty | State::Telling | State::Told => {}
            }
            if self.phase.get_untracked() == Phase::Reconnecting {
                self.phase.set(Phase::Streaming);
            }
            self.ask_for_frame(live, turn);
            place = place.filter(|place| !place.is_wanted());
            let has_all = now - asked > WAS_THERE || now - awake > CATCHING_UP;
            let has_news = !live.borrow().reader.news.is_empty();
            if has_news && has_all {
                self.rest(live).await;
                if self.is_replaced(turn) {
                    return End::Replaced;
                }
                awake = browser::now();
            }
        }
    }

    /// Waits, then reads on after the newest event.
    async fn reconnect(self, live: &Rc<RefCell<Live>>, turn: u64, wait: Duration) -> End {
        let (handle, registration) = AbortHandle::new_pair();
        self.inner.update_value(|inner| {
            inner.interrupt = Some(handle);
            inner.left = true;
        });
        // Aborted when the network is back or the page is seen again: there is no reason to wait any more.
        let _ = Abortable::new(browser::sleep(wait), registration).await;
        if self.is_replaced(turn) {
            return End::Replaced;
        }
        self.inner.update_value(|inner| inner.left = false);
        let Some(id) = self.id.get_untracked() else { return End::Replaced };
        live.borrow_mut().reader.reconnect();
        let cursor = live.borrow().reader.cursor.clone();
        match api::watch(id, cursor).await {
            _ if self.is_replaced(turn) => End::Replaced,
            Ok(stream) => self.read(stream, live, turn).await,
            Err(error) if error.code().status() < 500 => End::Gap,
            Err(_) => End::Cut,
        }
    }
}
