//! Synchronization with other tabs and devices: a change in one is shown in all tabs with the
//! conversation.

use super::connect::DEAD_AFTER;
use crate::agent_chat::session::{Phase, Session, SessionAction};
use crate::api;
use crate::prelude::*;
use crate::tab_sync;
use crate::ui::browser;
use futures::StreamExt;
use leptos::ev;
use std::time::Duration;

/// How often a visible, idle page asks whether an answer is being written.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

impl Session {
    /// Observes other tabs, the network and the visibility of the page until the session ends. Part
    /// of the chunk `conversation`: a page on which nothing happens needs no code for actions.
    pub(in crate::agent_chat) fn listen(self) {
        self.request_code_of_queue();
        self.listen_to_tabs();
        let online = window_event_listener(ev::online, move |_| self.wake());
        let focused = window_event_listener(ev::focus, move |_| self.poll());
        let seen = window_event_listener_untyped("visibilitychange", move |_| {
            if browser::is_visible() {
                self.wake();
                self.reload_if_idle();
            }
        });
        let timer = set_interval_with_handle(move || self.poll(), POLL_INTERVAL).ok();
        on_cleanup(move || {
            online.remove();
            focused.remove();
            seen.remove();
            if let Some(timer) = timer {
                timer.clear();
            }
        });
    }

    /// Notifies the other tabs, and the conversation list on this page, that the conversation
    /// changed.
    pub(in crate::agent_chat::session) fn notify_other_tabs(self) {
        self.chat.notify_changed();
        let Some(id) = self.id.get_untracked() else { return };
        tab_sync::broadcast(&id);
    }

    fn listen_to_tabs(self) {
        tab_sync::listen(move |changed| {
            if self.is_disposed() {
                return;
            }
            let ours = self.id.with_untracked(|id| id.as_deref() == Some(changed));
            if ours && self.phase.get_untracked() == Phase::Idle {
                self.dispatch(SessionAction::Reload);
            }
        });
    }

    /// Reconnects if the connection was silent for too long, or if the session waits for the next
    /// attempt.
    fn wake(self) {
        if self.is_disposed() {
            return;
        }
        let (silent, left) = self.inner.with_value(|inner| (browser::now() - inner.last_received, inner.is_paused));
        let waiting = left || self.phase.get_untracked() == Phase::Reconnecting;
        if waiting || (self.phase.get_untracked() != Phase::Idle && silent > DEAD_AFTER / 2.0) {
            self.interrupt_connection();
        }
    }

    /// Reloads the conversation when the page becomes visible: an answer may have been written and
    /// completed meanwhile.
    fn reload_if_idle(self) {
        if !self.is_disposed() && self.phase.get_untracked() == Phase::Idle {
            self.dispatch(SessionAction::Reload);
        }
    }

    /// Reloads the conversation if it lacks a message that the server has added by itself. Returns false
    /// while something else goes on in it.
    pub(in crate::agent_chat) fn show_added(self, message_id: &str) -> bool {
        if self.is_disposed() || self.messages.with_untracked(|all| all.iter().any(|known| known.id == message_id)) {
            return true;
        }
        let is_idle = self.phase.get_untracked() == Phase::Idle;
        if is_idle {
            self.dispatch(SessionAction::Reload);
            self.chat.notify_changed();
        }
        is_idle
    }

    fn poll(self) {
        if self.is_disposed() {
            return;
        }
        match self.phase.get_untracked() {
            Phase::Idle if browser::is_visible() => leptos::task::spawn_local(self.poll_once()),
            Phase::Streaming | Phase::Stopping => {
                let silent = self.inner.with_value(|inner| browser::now() - inner.last_received);
                if silent > DEAD_AFTER {
                    self.interrupt_connection();
                }
            }
            Phase::Idle | Phase::Sending | Phase::Reconnecting => {}
        }
    }

    /// Asks whether an answer is being written, which another device may have requested.
    async fn poll_once(self) {
        let Some(id) = self.id.get_untracked() else { return };
        let turn = self.inner.with_value(|inner| inner.stream_generation);
        // An error is ignored: the user's next action will show whether it persists.
        let Ok(stream) = api::watch(id, None).await else { return };
        let first = stream.into_inner().next().await;
        let running = matches!(first, Some(Ok(bytes)) if !bytes.starts_with(b"data: [DONE]"));
        let undisturbed = !self.is_disposed()
            && self.phase.get_untracked() == Phase::Idle
            && self.inner.with_value(|inner| inner.stream_generation == turn);
        if running && undisturbed {
            self.dispatch(SessionAction::Reload);
        }
    }

    /// Aborts the wait for the next data, without changing anything else.
    pub(in crate::agent_chat::session) fn interrupt_connection(self) {
        let handle = self.inner.try_update_value(|inner| inner.wait_handle.take());
        if let Some(Some(handle)) = handle {
            handle.abort();
        }
    }
}
