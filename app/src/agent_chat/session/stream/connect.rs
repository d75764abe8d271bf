//! The connections over which an answer is followed: one permanent connection or many short ones,
//! and reconnecting after an interruption.

use super::connection_permits;
use super::follow::FollowedMessage;
use crate::agent_chat::message::reader::ReaderState;
use crate::agent_chat::session::{Phase, Session};
use crate::api;
use crate::api::ApiError;
use crate::prelude::*;
use crate::ui::browser;
use futures::StreamExt;
use futures::future::{AbortHandle, Abortable, Either, select};
use server_fn::codec::ByteStream;
use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

/// The delays before the next attempts to connect, in milliseconds.
const BACKOFF: [u64; 6] = [500, 1_000, 2_000, 4_000, 8_000, 10_000];
/// After this time without data, in milliseconds, the connection is considered dead; the server
/// sends something every 15 s.
pub(in crate::agent_chat::session) const DEAD_AFTER: f64 = 40_000.0;
/// A short connection ends after this time without data, or after [`SHORT_CONNECTION`] milliseconds.
const QUIET: Duration = Duration::from_millis(250);
const SHORT_CONNECTION: f64 = 1_000.0;
/// Data that arrive within this time of the request, in milliseconds, were already buffered.
const BUFFERED_WITHIN: f64 = 2.0;
/// Buffered data are read for this long, in milliseconds, before the message is drawn.
const CATCHING_UP: f64 = 8.0;
/// The pauses between short connections, for a visible and for a hidden page.
const POLL_PAUSE: Duration = Duration::from_millis(750);
const POLL_PAUSE_HIDDEN: Duration = Duration::from_secs(5);

pub(in crate::agent_chat::session) type Stream = ByteStream<ApiError>;

/// How reading one connection ended.
pub(in crate::agent_chat::session) enum StreamEnd {
    /// The message is complete.
    Done,
    /// The connection broke; the answer may still be being written.
    Disconnected,
    /// The connection was closed for a pause; the answer may still be being written.
    Paused,
    /// The conversation must be loaded again.
    Gap,
    /// The data are malformed.
    Unreadable,
    /// Another task follows the answer now, or the session has ended.
    Replaced,
}

impl Session {
    /// Reads connections, starting with this one, until the stream ends.
    pub(in crate::agent_chat::session) async fn read_connections(
        self,
        stream: Stream,
        live: &Rc<RefCell<FollowedMessage>>,
        turn: u64,
    ) -> StreamEnd {
        let mut end = self.read_connection(stream, live, turn).await;
        let mut attempt = 0;
        loop {
            // Checked first, so that a disposed session or a newer task is not disturbed.
            if self.is_replaced(turn) {
                return StreamEnd::Replaced;
            }
            let wait = match end {
                StreamEnd::Disconnected => {
                    self.phase.set(Phase::Reconnecting);
                    Duration::from_millis(BACKOFF[attempt.min(BACKOFF.len() - 1)])
                }
                StreamEnd::Paused => {
                    if self.phase.get_untracked() == Phase::Reconnecting {
                        self.phase.set(Phase::Streaming);
                    }
                    if browser::is_visible() { POLL_PAUSE } else { POLL_PAUSE_HIDDEN }
                }
                end => return end,
            };
            let cursor_before = live.borrow().reader.cursor.clone();
            end = self.reconnect(live, turn, wait).await;
            let moved = live.borrow().reader.cursor != cursor_before;
            attempt = if moved || matches!(end, StreamEnd::Paused) { 0 } else { attempt + 1 };
        }
    }

    /// Reads one connection to its end, or for a short time if the tab has no connection permit.
    async fn read_connection(self, stream: Stream, live: &Rc<RefCell<FollowedMessage>>, turn: u64) -> StreamEnd {
        let (handle, registration) = AbortHandle::new_pair();
        let begun = browser::now();
        self.inner.update_value(|inner| {
            inner.wait_handle = Some(handle);
            inner.last_received = begun;
        });
        let mut stream = Abortable::new(stream.into_inner(), registration);
        let mut place = connection_permits::acquire().await;
        let mut awake = begun;
        loop {
            let asked = browser::now();
            let next = stream.next();
            let next = match &place {
                Some(_) => next.await,
                None if browser::now() - begun > SHORT_CONNECTION => return StreamEnd::Paused,
                None => match select(next, pin!(browser::sleep(QUIET))).await {
                    Either::Left((next, _)) => next,
                    Either::Right(_) => return StreamEnd::Paused,
                },
            };
            if self.is_replaced(turn) {
                return StreamEnd::Replaced;
            }
            let Some(Ok(bytes)) = next else { return StreamEnd::Disconnected };
            let now = browser::now();
            self.inner.update_value(|inner| inner.last_received = now);
            if live.borrow_mut().reader.push(&bytes).is_err() {
                return StreamEnd::Unreadable;
            }
            match live.borrow().reader.state {
                ReaderState::Done => return StreamEnd::Done,
                ReaderState::Gap => return StreamEnd::Gap,
                ReaderState::Empty | ReaderState::Receiving | ReaderState::Complete => {}
            }
            if self.phase.get_untracked() == Phase::Reconnecting {
                self.phase.set(Phase::Streaming);
            }
            self.request_frame(live, turn);
            place = place.filter(|place| !place.should_release());
            let has_all = now - asked > BUFFERED_WITHIN || now - awake > CATCHING_UP;
            let has_news = !live.borrow().reader.changes.is_empty();
            if has_news && has_all {
                self.wait_for_next_frame(live).await;
                if self.is_replaced(turn) {
                    return StreamEnd::Replaced;
                }
                awake = browser::now();
            }
        }
    }

    /// Waits, then continues after the newest event on a new connection.
    async fn reconnect(self, live: &Rc<RefCell<FollowedMessage>>, turn: u64, wait: Duration) -> StreamEnd {
        let (handle, registration) = AbortHandle::new_pair();
        self.inner.update_value(|inner| {
            inner.wait_handle = Some(handle);
            inner.is_paused = true;
        });
        // Aborted when the network returns or the page becomes visible, which make further waiting
        // unnecessary.
        let _ = Abortable::new(browser::sleep(wait), registration).await;
        if self.is_replaced(turn) {
            return StreamEnd::Replaced;
        }
        self.inner.update_value(|inner| inner.is_paused = false);
        let Some(id) = self.id.get_untracked() else { return StreamEnd::Replaced };
        live.borrow_mut().reader.reconnect();
        let cursor = live.borrow().reader.cursor.clone();
        match api::watch(id, cursor).await {
            _ if self.is_replaced(turn) => StreamEnd::Replaced,
            Ok(stream) => self.read_connection(stream, live, turn).await,
            Err(error) if error.code().status() < 500 => StreamEnd::Gap,
            Err(_) => StreamEnd::Disconnected,
        }
    }
}
