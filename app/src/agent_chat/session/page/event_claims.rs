//! Delivers the events of answers to the page: each event to exactly one tab, also after a reload
//! or a lost connection.
//!
//! Every tab that follows an answer derives its events. Before a tab handles one, it claims the
//! event at the server, which grants each event once, to any number of tabs, browsers and devices.
//! The tab that started the run claims at once, the others after [`OTHER_TAB_DELAY`], so that they handle
//! events only if the first tab is gone. A browser lock would save the request, but would not work
//! across browsers, and could not tell what the previous tab had already handled; the claim does
//! both.
//!
//! When a tab starts a run or begins to follow one, it saves in its storage which answer it expects
//! and which parts it has already seen. After a reload or a gap, the tab derives the missed events
//! from the loaded conversation and claims them; events that it had handled are not granted again.
//! A tab that expects no answer, because it was opened after it, handles no events. The server
//! grants nothing later than ten minutes after the end of an answer, so a tab that returns later
//! handles no events either.

use super::events::{ANSWER_EVENTS, AnswerEvent, SeenParts, end_events};
use crate::agent_chat::composer::drafts::user_mark;
use crate::agent_chat::session::Session;
use crate::api;
use crate::prelude::*;
use crate::ui::browser;
use serde_json::{Value, json};
use std::time::Duration;
use wire::page::events::MAX_CLAIMED;
use wire::{Role, UiMessage};

/// How long other tabs leave events to the tab that started the run.
const OTHER_TAB_DELAY: Duration = Duration::from_secs(3);
/// The pause between two attempts to claim.
const RETRY: Duration = Duration::from_secs(3);
/// The number of attempts, which cover about the time in which events are granted.
const ATTEMPTS: u32 = 200;
/// The maximum age of saved state, in milliseconds; older state is ignored.
const MAX_SAVED_AGE: i64 = 12 * 60 * 60 * 1_000;

/// An answer whose events this tab handles.
pub(in crate::agent_chat::session) struct ExpectedAnswer {
    /// None until the server has assigned an id.
    message_id: Option<String>,
    seen: SeenParts,
    /// The events seen when the tab began to expect the answer, as saved in the tab's storage.
    /// The server knows which later events were handled.
    initially_seen: Value,
    /// Whether this tab started the run.
    own: bool,
    /// Whether the end of the answer was seen.
    is_over: bool,
}

/// An event to be claimed.
pub(in crate::agent_chat::session) struct PendingEvent {
    message_id: String,
    event: AnswerEvent,
}

impl Session {
    /// Whether the page handles any events of answers.
    fn acts_on_answers(self) -> bool {
        ANSWER_EVENTS.iter().any(|event| self.has_event(event))
    }

    /// Expects the answer of a run that this tab is about to start; `continued` is the answer that
    /// is continued, none for a new one.
    pub(in crate::agent_chat::session) fn expect_own(self, continued: Option<UiMessage>) {
        let known = continued.as_ref().map(SeenParts::from_message).unwrap_or_default();
        let message_id = continued.map(|message| message.id);
        self.expect(ExpectedAnswer::new(message_id, known, true));
    }

    /// Stops expecting an answer, because the run was rejected or the answer does not exist.
    pub(in crate::agent_chat::session) fn expect_nothing(self) {
        self.inner.update_value(|inner| inner.expected_answer = None);
        self.save_expected();
    }

    /// Expects an answer that this tab follows; `shown` is the message as currently shown.
    pub(in crate::agent_chat::session) fn expect_followed(self, message_id: &str, shown: Option<&UiMessage>) {
        let is_expected = self.inner.try_update_value(|inner| {
            let expected = inner.expected_answer.as_mut().filter(|expected| !expected.is_over)?;
            let is_it = expected.message_id.get_or_insert_with(|| message_id.to_owned()) == message_id;
            is_it.then_some(())
        });
        if is_expected.flatten().is_none() {
            let known = shown.map(SeenParts::from_message).unwrap_or_default();
            self.expect(ExpectedAnswer::new(Some(message_id.to_owned()), known, false));
        } else {
            self.save_expected();
        }
    }

    fn expect(self, expected: ExpectedAnswer) {
        if self.acts_on_answers() {
            self.inner.update_value(|inner| inner.expected_answer = Some(expected));
            self.save_expected();
        }
    }

    /// Returns whether this tab expected an answer before a reload.
    pub(in crate::agent_chat::session) fn has_expected(self) -> bool {
        let key = self.expected_key().filter(|_| self.acts_on_answers());
        key.is_some_and(|key| browser::read_session_storage(&key).is_some())
    }

    /// Restores what this tab expected before a reload.
    pub(in crate::agent_chat::session) fn restore_expected(self) {
        let Some(place) = self.expected_key().filter(|_| self.acts_on_answers()) else { return };
        let kept = browser::read_session_storage(&place).and_then(|kept| serde_json::from_str::<Value>(&kept).ok());
        let Some(kept) = kept else { return };
        let at = kept.get("at").and_then(Value::as_i64).unwrap_or_default();
        if browser::unix_time_ms() - at > MAX_SAVED_AGE {
            return browser::write_session_storage(&place, None);
        }
        let message_id = kept.get("message").and_then(Value::as_str).map(str::to_owned);
        let own = kept.get("own") == Some(&Value::Bool(true));
        let expected = ExpectedAnswer::new(message_id, SeenParts::from_json(&kept), own);
        self.inner.update_value(|inner| inner.expected_answer = Some(expected));
    }

    /// Collects the new events of the expected answer while it is being written.
    pub(in crate::agent_chat::session) fn collect_events(self, message: &UiMessage) {
        let news = self.inner.try_update_value(|inner| {
            let expected = inner.expected_answer.as_mut().filter(|expected| expected.is_for(message))?;
            Some(expected.seen.new_events(message))
        });
        self.queue_claims(&message.id, news.flatten().unwrap_or_default());
    }

    /// Collects the remaining events when the run has ended. `is_disconnect` states that this page
    /// did not follow the answer to its end.
    pub(in crate::agent_chat::session) fn collect_end_events(self, message: &UiMessage, is_disconnect: bool) {
        self.collect_events(message);
        let is_first = self.inner.try_update_value(|inner| {
            let expected = inner.expected_answer.as_mut().filter(|expected| expected.is_for(message))?;
            (!std::mem::replace(&mut expected.is_over, true)).then_some(())
        });
        if is_first.flatten().is_some() {
            let id = self.conversation_id();
            self.queue_claims(&message.id, end_events(message, id.as_deref(), is_disconnect));
        }
    }

    /// Collects missed events after the conversation was loaded, if no run is in progress: the
    /// expected answer is now complete, or does not exist.
    pub(in crate::agent_chat::session) fn catch_up(self) {
        let Some(expected) = self.inner.with_value(|inner| {
            inner
                .expected_answer
                .as_ref()
                .filter(|expected| !expected.is_over)
                .map(|expected| expected.message_id.clone())
        }) else {
            return;
        };
        let found = self.messages.with_untracked(|all| match &expected {
            Some(id) => all.iter().find(|message| message.id == *id).cloned(),
            // The page was reloaded before the answer had an id.
            None => all.last().filter(|last| last.role == Role::Assistant).cloned(),
        });
        let Some(message) = found.map(|message| message.to_message()) else { return self.expect_nothing() };
        self.inner.update_value(|inner| {
            if let Some(expected) = &mut inner.expected_answer {
                expected.message_id = Some(message.id.clone());
            }
        });
        self.collect_end_events(&message, true);
    }

    fn queue_claims(self, message_id: &str, events: Vec<AnswerEvent>) {
        let events: Vec<_> = events.into_iter().filter(|event| self.has_event(event.name)).collect();
        let is_idle = self.inner.try_update_value(|inner| {
            let own = inner.expected_answer.as_ref().is_some_and(|expected| expected.own);
            for event in events {
                if !own && event.part.is_some() {
                    // A newer event for the same part replaces one that has not been claimed yet.
                    inner
                        .pending_events
                        .retain(|known| known.event.name != event.name || known.event.part != event.part);
                }
                inner.pending_events.push(PendingEvent { message_id: message_id.to_owned(), event });
            }
            let is_needed = !inner.pending_events.is_empty()
                || inner.expected_answer.as_ref().is_some_and(|expected| expected.is_over);
            is_needed && !std::mem::replace(&mut inner.is_claiming, true)
        });
        if is_idle == Some(true) {
            leptos::task::spawn_local(self.claim_all());
        }
    }

    /// Claims pending events and emits those that are granted, until none are left.
    async fn claim_all(self) {
        while !self.is_disposed() {
            let own =
                self.inner.with_value(|inner| inner.expected_answer.as_ref().is_some_and(|expected| expected.own));
            if !own && self.inner.with_value(|inner| !inner.pending_events.is_empty()) {
                browser::sleep(OTHER_TAB_DELAY).await;
                if self.is_disposed() {
                    return;
                }
            }
            let batch = self.inner.try_update_value(|inner| {
                let first = inner.pending_events.first().map(|first| first.message_id.clone());
                let is_same = |pending: &&PendingEvent| Some(&pending.message_id) == first.as_ref();
                let count = inner.pending_events.iter().take_while(is_same).take(MAX_CLAIMED).count();
                inner.pending_events.drain(..count).collect::<Vec<_>>()
            });
            let batch = batch.unwrap_or_default();
            if batch.is_empty() {
                break;
            }
            let granted = self.claim(&batch).await;
            if self.is_disposed() {
                return;
            }
            for PendingEvent { event, .. } in batch.into_iter().filter(|pending| granted.contains(&pending.event.key)) {
                match event.name {
                    "onMessageComplete" => self.emit_with_messages(event.name, event.detail),
                    name => self.emit(name, event.detail),
                }
            }
        }
        if self.is_disposed() {
            return;
        }
        let is_over = self.inner.try_update_value(|inner| {
            inner.is_claiming = false;
            inner.expected_answer.take_if(|expected| expected.is_over).is_some()
        });
        if is_over == Some(true) {
            self.save_expected();
        }
    }

    /// Returns the keys that are granted. Retries while the server cannot be reached.
    async fn claim(self, batch: &[PendingEvent]) -> Vec<String> {
        let (Some(id), Some(first)) = (self.conversation_id(), batch.first()) else { return Vec::new() };
        let keys: Vec<_> = batch.iter().map(|pending| pending.event.key.clone()).collect();
        let by = browser::random_id();
        for _ in 0..ATTEMPTS {
            match api::claim_events(id.clone(), first.message_id.clone(), keys.clone(), by.clone()).await {
                Ok(granted) => return granted.keys,
                Err(error) if error.code().status() < 500 => return Vec::new(),
                Err(_) => browser::sleep(RETRY).await,
            }
            if self.is_disposed() {
                break;
            }
        }
        Vec::new()
    }

    /// Stores the expected events in the tab's storage, or removes them.
    fn save_expected(self) {
        let Some(place) = self.expected_key() else { return };
        let kept = self.inner.with_value(|inner| inner.expected_answer.as_ref().map(ExpectedAnswer::to_json));
        browser::write_session_storage(&place, kept.map(|kept| wire::json::text(&kept)));
    }

    fn expected_key(self) -> Option<String> {
        let id = self.conversation_id()?;
        Some(
            self.block
                .with_value(|place| format!("cw-events/{}/{}/{}/{id}", user_mark(), place.page_id, place.block_id)),
        )
    }
}

impl ExpectedAnswer {
    fn is_for(&self, message: &UiMessage) -> bool {
        self.message_id.as_deref() == Some(message.id.as_str())
    }

    fn new(message_id: Option<String>, known: SeenParts, own: bool) -> Self {
        let begun = known.to_json();
        Self { message_id, seen: known, initially_seen: begun, own, is_over: false }
    }

    /// Serializes it for the tab's storage.
    fn to_json(&self) -> Value {
        let mut kept = self.initially_seen.clone();
        kept["message"] = self.message_id.clone().into();
        kept["own"] = self.own.into();
        kept["at"] = json!(browser::unix_time_ms());
        kept
    }
}
