//! What the composer does beside sending: switches, what was written before, words that are spoken, drafts, the network.

use super::{Act, Session};
use crate::agent_chat::{browser, drafts};
use crate::prelude::*;
use leptos::ev;
use leptos::ev::DragEvent;
use serde_json::{Map, Value, json};
use wire::Role;
use wire::page::{Prompt, Sender};

impl Session {
    /// What the composer can do.
    pub(in crate::agent_chat) fn sender<T>(self, of: impl FnOnce(&Sender) -> T) -> T {
        self.place.with_value(|place| of(&place.properties.sender))
    }

    /// What may be said after any answer.
    pub(in crate::agent_chat) fn suggestions(self) -> Vec<Prompt> {
        self.place.with_value(|place| place.properties.suggestions.clone())
    }

    /// Whether files may be attached.
    pub(in crate::agent_chat) fn takes_files(self) -> bool {
        self.sender(|sender| sender.attachments.is_some())
    }

    /// Files are held above the chat, or are not any more; whether that is of any use.
    pub(in crate::agent_chat) fn drag(self, event: &DragEvent, above: bool) {
        let kinds = event.data_transfer().map(|data| data.types());
        let has_files = kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "Files"));
        if has_files && self.takes_files() {
            event.prevent_default();
            if self.dragging.get_untracked() != above {
                self.dragging.set(above);
            }
        }
    }

    /// Files are let go above the chat.
    pub(in crate::agent_chat) fn drop_files(self, event: &DragEvent) {
        self.drag(event, false);
        let files = browser::files(event.data_transfer().and_then(|data| data.files()));
        if !files.is_empty() && self.takes_files() {
            self.act(Act::Attach(files, false));
        }
    }

    /// The switches with how they stand. Not tracked.
    pub(super) fn switches(self) -> Map<String, Value> {
        let on = self.switched.get_untracked();
        self.sender(|sender| {
            let keys = sender.switches.iter().map(|switch| switch.key.clone());
            keys.zip(on).map(|(key, on)| (key, on.into())).collect()
        })
    }

    /// Turns a switch.
    pub(in crate::agent_chat) fn turn_switch(self, index: usize) {
        self.switched.update(|switched| {
            if let Some(on) = switched.get_mut(index) {
                *on = !*on;
            }
        });
        let key = self.sender(|sender| sender.switches.get(index).map(|switch| switch.key.clone()));
        let on = self.switched.with_untracked(|switched| switched.get(index).copied());
        self.tell("onSwitchChange", json!({ "key": key, "value": on, "switches": self.switches() }));
    }

    /// How many messages the user has written here. Not tracked.
    pub(in crate::agent_chat) fn written(self) -> usize {
        self.messages.with_untracked(|all| all.iter().filter(|message| message.role == Role::User).count())
    }

    /// Puts into the composer what the user wrote this many messages back from the end, counted from 1; with 0 nothing.
    pub(super) fn recall(self, back: usize) {
        let text = self.messages.with_untracked(|all| {
            let mut own = all.iter().rev().filter(|message| message.role == Role::User);
            back.checked_sub(1).and_then(|back| own.nth(back)).map(|message| message.text())
        });
        self.draft.set(text.unwrap_or_default());
    }

    /// Keeps what is typed for the conversation, until it is sent, also over a reload.
    pub(in crate::agent_chat) fn keep_draft(self) {
        let block = self.place.with_value(|place| format!("{}/{}", place.page_id, place.block_id));
        let mut before: Option<String> = None;
        Effect::new(move |_| {
            let draft = self.draft.get();
            let id = untrack(|| self.id.get()).unwrap_or_default();
            let key = format!("{block}/{id}");
            match before.replace(key.clone()) {
                // What was typed before the page came to life is newer.
                None if draft.is_empty() => {
                    if let Some(kept) = drafts::read(&key) {
                        self.draft.set(kept);
                    }
                }
                // A new conversation has got its id.
                Some(earlier) if earlier != key => {
                    drafts::keep(&earlier, "");
                    drafts::keep(&key, &draft);
                }
                _ => drafts::keep(&key, &draft),
            }
        });
    }

    /// Knows whether the browser has a network.
    pub(super) fn watch_network(self) {
        self.offline.set(!window().navigator().on_line());
        let gone = window_event_listener(ev::offline, move |_| self.offline.set(true));
        let back = window_event_listener(ev::online, move |_| self.offline.set(false));
        on_cleanup(move || {
            gone.remove();
            back.remove();
        });
    }
}
