//! Functions of the composer other than sending: switches, recalled messages, dragged files,
//! drafts, the network.

use super::{Session, SessionAction};
use crate::agent_chat::composer::drafts;
use crate::agent_chat::message::state::SUGGESTIONS;
use crate::prelude::*;
use crate::ui::browser;
use leptos::ev;
use leptos::ev::DragEvent;
use serde_json::{Map, Value, json};
use wire::Role;
use wire::api::RunOptions;
use wire::page::{PlanMode, Prompt, SenderProperties};

impl Session {
    /// Reads the composer's properties.
    pub(in crate::agent_chat) fn sender<T>(self, of: impl FnOnce(&SenderProperties) -> T) -> T {
        self.block.with_value(|place| of(&place.properties.sender))
    }

    /// The id of the chat's block.
    pub(in crate::agent_chat) fn block_id(self) -> String {
        self.block.with_value(|place| place.block_id.clone())
    }

    /// The suggestions shown after each answer.
    pub(in crate::agent_chat) fn suggestions(self) -> Vec<Prompt> {
        self.block.with_value(|place| place.properties.suggestions.clone())
    }

    /// Whether something may stand below the newest answer: by the agent, by the block, or by the answer
    /// itself. Tracked.
    pub(in crate::agent_chat) fn has_below_answer(self) -> bool {
        self.sender(|sender| sender.below_answer.is_some())
            || self.block.with_value(|place| !place.properties.suggestions.is_empty())
            || self.messages.with(|all| all.last().is_some_and(|last| last.has_data(SUGGESTIONS)))
    }

    /// The longest dictation in seconds that the server writes down; `None` if it writes nothing down.
    pub(in crate::agent_chat) fn dictation_seconds(self) -> Option<u64> {
        self.sender(|sender| sender.voice.as_ref()?.get("maxSeconds")?.as_u64())
    }

    /// Whether the server reads answers aloud.
    pub(in crate::agent_chat) fn has_server_voice(self) -> bool {
        self.sender(|sender| sender.voice.as_ref().is_some_and(|voice| voice.get("reads").is_some()))
    }

    /// Whether files can be attached.
    pub(in crate::agent_chat) fn accepts_files(self) -> bool {
        self.sender(|sender| sender.attachments.is_some())
    }

    /// Handles files being dragged over the chat, or leaving it.
    pub(in crate::agent_chat) fn drag(self, event: &DragEvent, above: bool) {
        let kinds = event.data_transfer().map(|data| data.types());
        let has_files = kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "Files"));
        if has_files && self.accepts_files() {
            event.prevent_default();
            if self.dragging.get_untracked() != above {
                self.dragging.set(above);
            }
        }
    }

    /// Attaches files that are dropped on the chat.
    pub(in crate::agent_chat) fn drop_files(self, event: &DragEvent) {
        self.drag(event, false);
        let files = browser::files(event.data_transfer().and_then(|data| data.files()));
        if !files.is_empty() && self.accepts_files() {
            self.dispatch(SessionAction::Attach(files, false));
        }
    }

    /// The switches and their states. Not tracked.
    pub(super) fn switches(self) -> Map<String, Value> {
        let on = self.switch_states.get_untracked();
        self.sender(|sender| {
            let keys = sender.switches.iter().map(|switch| switch.key.clone());
            keys.zip(on).map(|(key, on)| (key, on.into())).collect()
        })
    }

    /// The user's choices for the next answer. Not tracked.
    pub(super) fn options(self) -> RunOptions {
        let may_choose = self.sender(|sender| sender.plan_mode == Some(PlanMode::Optional));
        let choices = self.inner.with_value(|inner| inner.choices.clone());
        let model = self.model.get_untracked();
        RunOptions {
            plan_mode: may_choose.then(|| self.plan_mode.get_untracked()),
            thinking: model.is_some().then(|| self.thinks.get_untracked()),
            model,
            ..choices
        }
    }

    /// Sets the user's choices about documents and the web for the next answers.
    pub(in crate::agent_chat) fn set_choices(self, choices: RunOptions) {
        self.inner.update_value(|inner| inner.choices = choices);
    }

    /// The agent of the chat.
    pub(in crate::agent_chat) fn agent_id(self) -> String {
        self.block.with_value(|place| place.properties.agent_id.clone())
    }

    /// Toggles a switch.
    pub(in crate::agent_chat) fn toggle_switch(self, index: usize) {
        self.switch_states.update(|switched| {
            if let Some(on) = switched.get_mut(index) {
                *on = !*on;
            }
        });
        let key = self.sender(|sender| sender.switches.get(index).map(|switch| switch.key.clone()));
        let on = self.switch_states.with_untracked(|switched| switched.get(index).copied());
        self.emit("onSwitchChange", json!({ "key": key, "value": on, "switches": self.switches() }));
    }

    /// The number of the user's messages in this conversation. Not tracked.
    pub(in crate::agent_chat) fn user_message_count(self) -> usize {
        self.messages.with_untracked(|all| all.iter().filter(|message| message.role == Role::User).count())
    }

    /// Puts an earlier message of the user into the composer, counted back from the last one, from
    /// 1; 0 empties it.
    pub(super) fn recall(self, back: usize) {
        let text = self.messages.with_untracked(|all| {
            let mut own = all.iter().rev().filter(|message| message.role == Role::User);
            back.checked_sub(1).and_then(|back| own.nth(back)).map(|message| message.text())
        });
        self.draft.set(text.unwrap_or_default());
    }

    /// Adds a text to the composer, after what the user has written.
    pub(in crate::agent_chat) fn add_to_draft(self, text: &str) {
        self.draft.update(|draft| {
            if !draft.is_empty() {
                draft.push('\n');
            }
            draft.push_str(text);
        });
        self.focus_requests.update(|count| *count += 1);
    }

    /// The beginning of keys in the browser's storage for this chat.
    pub(in crate::agent_chat) fn storage_key(self) -> String {
        self.block.with_value(|place| format!("{}/{}", place.page_id, place.block_id))
    }

    /// Saves the draft of the conversation until it is sent, so that it survives a reload.
    pub(in crate::agent_chat) fn keep_draft(self) {
        let block = self.storage_key();
        let mut before: Option<String> = None;
        Effect::new(move |_| {
            let draft = self.draft.get();
            let id = untrack(|| self.id.get()).unwrap_or_default();
            let key = format!("{block}/{id}");
            match before.replace(key.clone()) {
                // Text typed before hydration is newer than the saved draft.
                None if draft.is_empty() => {
                    if let Some(kept) = drafts::read(&key) {
                        self.draft.set(kept);
                    }
                }
                // A new conversation has received its id.
                Some(earlier) if earlier != key => {
                    drafts::keep(&earlier, "");
                    drafts::keep(&key, &draft);
                }
                _ => drafts::keep(&key, &draft),
            }
        });
    }

    /// Tracks whether the browser is online.
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
