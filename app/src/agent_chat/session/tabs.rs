//! Other tabs and devices: whoever changes the conversation, every tab that shows it follows.

use super::connect::SILENCE;
use super::{Phase, Session};
use crate::agent_chat::browser;
use crate::api;
use crate::prelude::*;
use crate::tabs;
use futures::StreamExt;
use leptos::ev;
use std::time::Duration;

/// While the page is seen and nothing is being written here, this often it asks whether something is being written.
const LOOK_EVERY: Duration = Duration::from_secs(5);

impl Session {
    /// Hears of other tabs, of the network and of the reader's return, until the session ends.
    pub(super) fn listen(self) {
        self.listen_to_tabs();
        let online = window_event_listener(ev::online, move |_| self.wake());
        let focused = window_event_listener(ev::focus, move |_| self.look());
        let seen = window_event_listener_untyped("visibilitychange", move |_| {
            if browser::is_visible() {
                self.wake();
                self.come_back();
            }
        });
        let timer = set_interval_with_handle(move || self.look(), LOOK_EVERY).ok();
        on_cleanup(move || {
            online.remove();
            focused.remove();
            seen.remove();
            if let Some(timer) = timer {
                timer.clear();
            }
        });
    }

    /// Tells the other tabs, and the list on this page, that the conversation changed.
    pub(super) fn tell_others(self) {
        self.chat.bump();
        let Some(id) = self.id.get_untracked() else { return };
        tabs::tell(&id);
    }

    fn listen_to_tabs(self) {
        tabs::hear(move |changed| {
            if self.is_gone() {
                return;
            }
            let ours = self.id.with_untracked(|id| id.as_deref() == Some(changed));
            if ours && self.phase.get_untracked() == Phase::Idle {
                leptos::task::spawn_local(self.reload());
            }
        });
    }

    /// A connection that has been silent for too long is dead, and a wait for the next attempt is over.
    fn wake(self) {
        if self.is_gone() {
            return;
        }
        let (silent, left) = self.inner.with_value(|inner| (browser::now() - inner.heard, inner.left));
        let waiting = left || self.phase.get_untracked() == Phase::Reconnecting;
        if waiting || (self.phase.get_untracked() != Phase::Idle && silent > SILENCE / 2.0) {
            self.interrupt_connection();
        }
    }

    /// The reader is back: something may have been written, and ended, in the meantime.
    fn come_back(self) {
        if !self.is_gone() && self.phase.get_untracked() == Phase::Idle {
            leptos::task::spawn_local(self.reload());
        }
    }

    fn look(self) {
        if self.is_gone() {
            return;
        }
        match self.phase.get_untracked() {
            Phase::Idle if browser::is_visible() => leptos::task::spawn_local(self.look_once()),
            Phase::Streaming | Phase::Stopping => {
                let silent = self.inner.with_value(|inner| browser::now() - inner.heard);
                if silent > SILENCE {
                    self.interrupt_connection();
                }
            }
            Phase::Idle | Phase::Sending | Phase::Reconnecting => {}
        }
    }

    /// Asks whether an answer is being written, which another device may have asked for.
    async fn look_once(self) {
        let Some(id) = self.id.get_untracked() else { return };
        let turn = self.inner.with_value(|inner| inner.follower);
        // A failure is no news: what the user does next will tell.
        let Ok(stream) = api::watch(id, None).await else { return };
        let first = stream.into_inner().next().await;
        let running = matches!(first, Some(Ok(bytes)) if !bytes.starts_with(b"data: [DONE]"));
        let undisturbed = !self.is_gone()
            && self.phase.get_untracked() == Phase::Idle
            && self.inner.with_value(|inner| inner.follower == turn);
        if running && undisturbed {
            self.reload().await;
        }
    }

    /// Ends the wait for what comes next, and nothing else.
    pub(super) fn interrupt_connection(self) {
        let handle = self.inner.try_update_value(|inner| inner.interrupt.take());
        if let Some(Some(handle)) = handle {
            handle.abort();
        }
    }
}
