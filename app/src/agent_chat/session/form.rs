//! Saves the form that a chat shares with its agent, so that its values survive a reload and values
//! written by the agent belong to their conversation.
//!
//! The values of the shared inputs are saved in the tab, by conversation, from the first change on.
//! A key without an input is saved only if the agent wrote it.
//! When another conversation is opened, values written by the agent are cleared, unless the user
//! has changed or accepted them, and are restored with their conversation. Values entered by the
//! user stay; before a new conversation the user is asked whether to keep them. With
//! `sharedStatePerConversation`, all values belong to the conversation and are saved in local
//! storage, so that other tabs have them as well.
//!
//! Values that an agent writes are shown when the server has accepted the result of the call; until
//! then see `page/sent_values.rs`.

use super::Session;
use super::host_form::FormConversation;
use crate::agent_chat::composer::drafts;
use crate::agent_chat::composer::drafts::user_mark;
use crate::prelude::*;
use crate::ui::browser;
use serde_json::{Map, Value};
use wire::page::{SharedField, apply_updates, shared_object};

/// Larger forms, in bytes of JSON, are not saved in the tab.
const MAX_BYTES: usize = 64 * 1024;

/// The storage keys and the inputs of a shared form.
struct SharedForm {
    block: String,
    /// Shared keys that can be written, each with the key of its input.
    targets: Vec<(String, String)>,
    /// The keys of the page state that the agent can write and that belong to no input.
    states: Vec<String>,
    fields: Vec<SharedField>,
    per_conversation: bool,
}

impl Session {
    /// Shows the saved form of this conversation, and saves it from now on.
    pub(super) fn persist_form(self) {
        let form = self.shared_form();
        let Some(form_of) = self.block.with_value(|place| place.form_conversation).filter(|_| !form.is_empty()) else {
            return;
        };
        self.show_form(&form, form_of);
        let inputs: Vec<_> = form.targets.iter().map(|(_, input)| input.clone()).collect();
        let mut before: Option<String> = None;
        Effect::new(move |_| {
            let mut kept = self.page_state.saved_values(&inputs);
            let states = self.page_state.saved_values(&form.states);
            kept.extend(states.into_iter().filter(|(_, kept)| is_by_agent(kept)));
            let id = self.form_conversation_id();
            if let Some(earlier) = before.replace(id.clone()).filter(|earlier| *earlier != id) {
                // A new conversation has received its id.
                form.save(&earlier, &Map::new());
                form_of.set_value(Some(id.clone()));
            }
            form.save(&id, &kept);
        });
    }

    fn show_form(self, form: &SharedForm, form_of: FormConversation) {
        let id = self.form_conversation_id();
        let before = form_of.try_update_value(|of| of.replace(id.clone())).flatten();
        let (state, kept) = (self.page_state, form.saved_values(&id));
        let inputs: Vec<_> = form.targets.iter().map(|(_, input)| input.clone()).collect();
        match before {
            Some(before) if before == id => return,
            // The page was just loaded, so all saved values are restored.
            None => {}
            Some(_) if form.per_conversation => {
                state.reset(Some(&inputs));
                state.clear_agent_writes(&form.states);
            }
            Some(_) => {
                state.clear_agent_writes(&inputs);
                state.clear_agent_writes(&form.states);
                state.ask_about_entries(if id.is_empty() { &inputs } else { &[] });
            }
        }
        let restores_all = before.is_none() || form.per_conversation;
        for (key, kept) in &kept {
            if restores_all && inputs.contains(key) {
                state.restore(key, kept)
            } else {
                state.restore_agent_write(key, kept)
            }
        }
    }

    /// The id of the conversation to which the form belongs; empty if it has none yet. Tracked.
    pub(super) fn form_conversation_id(self) -> String {
        self.id.get().or_else(|| self.chat.preset_id()).unwrap_or_default()
    }

    fn shared_form(self) -> SharedForm {
        self.block.with_value(|place| {
            let target = |field: &SharedField| Some((field.key.clone(), field.target.clone()?));
            let targets = place.fields.iter().filter_map(target);
            let (targets, others): (Vec<_>, Vec<_>) = targets.partition(|(_, key)| self.page_state.is_input(key));
            let object = shared_object(&place.properties.shared_state).filter(|(name, _)| *name == "_state");
            let paths = others.iter().map(|(_, path)| path.as_str()).chain(object.and_then(|(_, path)| path.as_str()));
            SharedForm {
                block: format!("{}/{}", place.page_id, place.block_id),
                states: paths.filter_map(|path| path.split('.').next()).map(str::to_owned).collect(),
                targets,
                fields: place.fields.clone(),
                per_conversation: place.properties.shared_state_per_conversation,
            }
        })
    }
}

impl SharedForm {
    fn is_empty(&self) -> bool {
        self.targets.is_empty() && self.states.is_empty()
    }

    /// The saved values of a conversation's form, by key. Values that an input no longer accepts are
    /// omitted.
    fn saved_values(&self, id: &str) -> Map<String, Value> {
        let kept = if self.per_conversation {
            drafts::read(&self.browser_key(id))
        } else {
            browser::read_session_storage(&self.tab_key(id))
        };
        let kept: Option<Value> = kept.and_then(|kept| serde_json::from_str(&kept).ok());
        let fits = |(key, input): &(String, String)| {
            let kept = kept.as_ref()?.get(input)?;
            let mut update = Map::new();
            update.insert(key.clone(), kept.get("value")?.clone());
            let mut input_value = Map::new();
            input_value.insert("updates".to_owned(), Value::Object(update));
            let written = apply_updates(&self.fields, &Value::Object(input_value)).written;
            (!written.is_empty()).then(|| (input.clone(), kept.clone()))
        };
        let state =
            |key: &String| Some((key.clone(), kept.as_ref()?.get(key).filter(|kept| is_by_agent(kept))?.clone()));
        self.targets.iter().filter_map(fits).chain(self.states.iter().filter_map(state)).collect()
    }

    fn save(&self, id: &str, kept: &Map<String, Value>) {
        let text = if kept.is_empty() { String::new() } else { wire::json::text(&Value::Object(kept.clone())) };
        if self.per_conversation {
            return drafts::keep(&self.browser_key(id), &text);
        }
        let is_kept = !text.is_empty() && text.len() <= MAX_BYTES;
        browser::write_session_storage(&self.tab_key(id), is_kept.then_some(text));
    }

    fn tab_key(&self, id: &str) -> String {
        format!("cw-form/{}/{}/{id}", user_mark(), self.block)
    }

    fn browser_key(&self, id: &str) -> String {
        format!("form/{}/{id}", self.block)
    }
}

/// Whether a saved value was written by the agent.
fn is_by_agent(kept: &Value) -> bool {
    kept.get("agent").is_some()
}
