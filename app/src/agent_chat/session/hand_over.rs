//! Hands the events of answers to the page: each to one tab, and also after a reload or a lost
//! connection.
//!
//! Every tab that follows an answer sees its events. Before a tab acts on one, it claims it at the
//! server, which grants each event once; so it does not matter how many tabs, browsers and devices
//! look on. The tab that asked claims at once, the others after [`COURTESY`], so that they act only
//! if it is gone. A lock of the browser would save the request, but would not hold over browsers,
//! and would have to be combined with what the tab before had already done; the claim is both at
//! once.
//!
//! What a tab expects of an answer is kept in the tab's storage from the moment at which it asks,
//! or begins to follow: the answer, and what of it is no news. After a reload or a gap, the tab
//! takes what came meanwhile out of the loaded conversation and claims that; what it had acted on
//! is not granted again. A tab that expects nothing, because it was opened after the answer, acts
//! on nothing. Nothing is granted ten minutes after the end of an answer, so a tab that comes back
//! later acts on nothing either.

use super::Session;
use super::events::{ANSWER_EVENTS, Happened, Known, ended};
use crate::agent_chat::browser;
use crate::agent_chat::drafts::reader;
use crate::api;
use crate::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;
use wire::events::MAX_CLAIMED;
use wire::{Role, UiMessage};

/// How long a tab that has not asked leaves events to the tab that has.
const COURTESY: Duration = Duration::from_secs(3);
/// Between two attempts to claim.
const RETRY: Duration = Duration::from_secs(3);
/// Attempts, for about as long as anything is granted.
const ATTEMPTS: u32 = 200;
/// What a tab kept longer ago, in milliseconds, is not looked at again.
const KEPT: i64 = 12 * 60 * 60 * 1_000;

/// An answer whose events this tab wants.
pub(super) struct Expected {
    /// None until the server has given it an id.
    message_id: Option<String>,
    known: Known,
    /// What was known when it began to be expected, for the tab's storage: of what came since, the
    /// server knows what was acted on.
    begun: Value,
    /// This tab has asked for it.
    own: bool,
    /// The end was seen.
    is_over: bool,
}

/// An event that is to be claimed.
pub(super) struct Pending {
    message_id: String,
    event: Happened,
}

impl Session {
    /// Whether the page acts on what happens in answers.
    fn acts_on_answers(self) -> bool {
        ANSWER_EVENTS.iter().any(|event| self.has_event(event))
    }

    /// An answer is about to be asked for: `continued` is the one that goes on, none for a new one.
    pub(super) fn expect_own(self, continued: Option<UiMessage>) {
        let known = continued.as_ref().map(Known::of).unwrap_or_default();
        let message_id = continued.map(|message| message.id);
        self.expect(Expected::new(message_id, known, true));
    }

    /// What was asked for was refused.
    pub(super) fn expect_nothing(self) {
        self.inner.update_value(|inner| inner.expected = None);
        self.keep_expected();
    }

    /// An answer is followed: `shown` is what is on the screen of it.
    pub(super) fn expect_followed(self, message_id: &str, shown: Option<&UiMessage>) {
        let is_expected = self.inner.try_update_value(|inner| {
            let expected = inner.expected.as_mut().filter(|expected| !expected.is_over)?;
            let is_it = expected.message_id.get_or_insert_with(|| message_id.to_owned()) == message_id;
            is_it.then_some(())
        });
        if is_expected.flatten().is_none() {
            let known = shown.map(Known::of).unwrap_or_default();
            self.expect(Expected::new(Some(message_id.to_owned()), known, false));
        } else {
            self.keep_expected();
        }
    }

    fn expect(self, expected: Expected) {
        if self.acts_on_answers() {
            self.inner.update_value(|inner| inner.expected = Some(expected));
            self.keep_expected();
        }
    }

    /// Goes on with what this tab expected before it was reloaded.
    pub(super) fn recall_expected(self) {
        let Some(place) = self.expected_place().filter(|_| self.acts_on_answers()) else { return };
        let kept = browser::kept_in_tab(&place).and_then(|kept| serde_json::from_str::<Value>(&kept).ok());
        let Some(kept) = kept else { return };
        let at = kept.get("at").and_then(Value::as_i64).unwrap_or_default();
        if browser::clock() - at > KEPT {
            return browser::keep_in_tab(&place, None);
        }
        let message_id = kept.get("message").and_then(Value::as_str).map(str::to_owned);
        let own = kept.get("own") == Some(&Value::Bool(true));
        let expected = Expected::new(message_id, Known::read(&kept), own);
        self.inner.update_value(|inner| inner.expected = Some(expected));
    }

    /// What has come of the expected answer, while it is being written.
    pub(super) fn hear(self, message: &UiMessage) {
        let news = self.inner.try_update_value(|inner| {
            let expected = inner.expected.as_mut().filter(|expected| expected.is_for(message))?;
            Some(expected.known.news(message))
        });
        self.hand_over(&message.id, news.flatten().unwrap_or_default());
    }

    /// The same when its run has ended; `is_disconnect`: unseen by this page.
    pub(super) fn hear_end(self, message: &UiMessage, is_disconnect: bool) {
        self.hear(message);
        let is_first = self.inner.try_update_value(|inner| {
            let expected = inner.expected.as_mut().filter(|expected| expected.is_for(message))?;
            (!std::mem::replace(&mut expected.is_over, true)).then_some(())
        });
        if is_first.flatten().is_some() {
            let id = self.conversation_id();
            self.hand_over(&message.id, ended(message, id.as_deref(), is_disconnect));
        }
    }

    /// The conversation was loaded, and nothing is being written: what was expected has come, or
    /// never will.
    pub(super) fn catch_up(self) {
        let Some(expected) = self.inner.with_value(|inner| {
            inner.expected.as_ref().filter(|expected| !expected.is_over).map(|expected| expected.message_id.clone())
        }) else {
            return;
        };
        let found = self.messages.with_untracked(|all| match &expected {
            Some(id) => all.iter().find(|message| message.id == *id).cloned(),
            // It was asked for, and the page was reloaded before it had an id.
            None => all.last().filter(|last| last.role == Role::Assistant).cloned(),
        });
        let Some(message) = found.map(|message| message.whole()) else { return self.expect_nothing() };
        self.inner.update_value(|inner| {
            if let Some(expected) = &mut inner.expected {
                expected.message_id = Some(message.id.clone());
            }
        });
        self.hear_end(&message, true);
    }

    fn hand_over(self, message_id: &str, events: Vec<Happened>) {
        let events: Vec<_> = events.into_iter().filter(|event| self.has_event(event.name)).collect();
        let is_idle = self.inner.try_update_value(|inner| {
            let own = inner.expected.as_ref().is_some_and(|expected| expected.own);
            for event in events {
                if !own && event.part.is_some() {
                    // While it is left to another tab, a state may pass that nobody needs any more.
                    inner.pending.retain(|known| known.event.name != event.name || known.event.part != event.part);
                }
                inner.pending.push(Pending { message_id: message_id.to_owned(), event });
            }
            let is_needed =
                !inner.pending.is_empty() || inner.expected.as_ref().is_some_and(|expected| expected.is_over);
            is_needed && !std::mem::replace(&mut inner.is_claiming, true)
        });
        if is_idle == Some(true) {
            leptos::task::spawn_local(self.claim_all());
        }
    }

    /// Claims what is pending, and acts on what is granted, until nothing is left.
    async fn claim_all(self) {
        while !self.is_gone() {
            let own = self.inner.with_value(|inner| inner.expected.as_ref().is_some_and(|expected| expected.own));
            if !own && self.inner.with_value(|inner| !inner.pending.is_empty()) {
                browser::sleep(COURTESY).await;
                if self.is_gone() {
                    return;
                }
            }
            let batch = self.inner.try_update_value(|inner| {
                let first = inner.pending.first().map(|first| first.message_id.clone());
                let is_same = |pending: &&Pending| Some(&pending.message_id) == first.as_ref();
                let count = inner.pending.iter().take_while(is_same).take(MAX_CLAIMED).count();
                inner.pending.drain(..count).collect::<Vec<_>>()
            });
            let batch = batch.unwrap_or_default();
            if batch.is_empty() {
                break;
            }
            let granted = self.claim(&batch).await;
            if self.is_gone() {
                return;
            }
            for Pending { event, .. } in batch.into_iter().filter(|pending| granted.contains(&pending.event.key)) {
                self.tell(event.name, event.about);
            }
        }
        if self.is_gone() {
            return;
        }
        let is_over = self.inner.try_update_value(|inner| {
            inner.is_claiming = false;
            inner.expected.take_if(|expected| expected.is_over).is_some()
        });
        if is_over == Some(true) {
            self.keep_expected();
        }
    }

    /// The keys that are granted. A server that cannot be reached is asked again.
    async fn claim(self, batch: &[Pending]) -> Vec<String> {
        let (Some(id), Some(first)) = (self.conversation_id(), batch.first()) else { return Vec::new() };
        let keys: Vec<_> = batch.iter().map(|pending| pending.event.key.clone()).collect();
        let by = browser::random_id();
        for _ in 0..ATTEMPTS {
            match api::claim_events(id.clone(), first.message_id.clone(), keys.clone(), by.clone()).await {
                Ok(granted) => return granted.keys,
                Err(error) if error.code().status() < 500 => return Vec::new(),
                Err(_) => browser::sleep(RETRY).await,
            }
            if self.is_gone() {
                break;
            }
        }
        Vec::new()
    }

    /// Keeps in the tab what is expected, or nothing any more.
    fn keep_expected(self) {
        let Some(place) = self.expected_place() else { return };
        let kept = self.inner.with_value(|inner| inner.expected.as_ref().map(Expected::written));
        browser::keep_in_tab(&place, kept.map(|kept| wire::json::text(&kept)));
    }

    fn expected_place(self) -> Option<String> {
        let id = self.conversation_id()?;
        Some(self.place.with_value(|place| format!("cw-events/{}/{}/{}/{id}", reader(), place.page_id, place.block_id)))
    }
}

impl Expected {
    fn is_for(&self, message: &UiMessage) -> bool {
        self.message_id.as_deref() == Some(message.id.as_str())
    }

    fn new(message_id: Option<String>, known: Known, own: bool) -> Self {
        let begun = known.written();
        Self { message_id, known, begun, own, is_over: false }
    }

    /// For the tab's storage.
    fn written(&self) -> Value {
        let mut kept = self.begun.clone();
        kept["message"] = self.message_id.clone().into();
        kept["own"] = self.own.into();
        kept["at"] = json!(browser::clock());
        kept
    }
}
