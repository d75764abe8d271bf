//! The form that a chat shares with its agent: what is in it survives a reload, and what the agent
//! wrote belongs to the conversation.
//!
//! What the shared inputs hold is kept in the tab, by conversation, from the first change on. When
//! another conversation is opened, what the agent wrote goes with the one before, unless somebody
//! has changed or accepted it, and comes back with that one. What the person entered stays where it
//! is; before a new conversation they are asked whether it should. With
//! `sharedStatePerConversation` all of it belongs to the conversation, and is kept in the browser,
//! so that it is there in another tab, too.

use super::Session;
use crate::agent_chat::browser;
use crate::agent_chat::drafts::{self, reader};
use crate::prelude::*;
use serde_json::{Map, Value};
use wire::page::{SharedField, apply_updates};

/// Larger forms are kept as long as the page is open, in bytes of JSON.
const MAX_BYTES: usize = 64 * 1024;

/// Which conversation the form is about; none before the first.
pub(in crate::agent_chat) type FormOf = StoredValue<Option<String>>;

/// In the context of a chat whose form is another site's, which keeps it as it likes.
#[derive(Clone, Copy)]
pub(in crate::agent_chat) struct ForeignForm;

/// Where forms are kept, and which of their inputs.
struct Form {
    block: String,
    /// Shared keys that can be written, each with the input's.
    targets: Vec<(String, String)>,
    fields: Vec<SharedField>,
    per_conversation: bool,
}

impl Session {
    /// Shows the form of this conversation, and keeps it from now on.
    pub(super) fn keep_form(self) {
        let form = self.form();
        let Some(form_of) = self.place.with_value(|place| place.form_of).filter(|_| !form.targets.is_empty()) else {
            return;
        };
        self.show_form(&form, form_of);
        let inputs: Vec<_> = form.targets.iter().map(|(_, input)| input.clone()).collect();
        let mut before: Option<String> = None;
        Effect::new(move |_| {
            let kept = self.page_state.kept(&inputs);
            let id = self.form_of();
            if let Some(earlier) = before.replace(id.clone()).filter(|earlier| *earlier != id) {
                // A new conversation has got its id.
                form.keep(&earlier, &Map::new());
                form_of.set_value(Some(id.clone()));
            }
            form.keep(&id, &kept);
        });
    }

    fn show_form(self, form: &Form, form_of: FormOf) {
        let id = self.form_of();
        let before = form_of.try_update_value(|of| of.replace(id.clone())).flatten();
        let (state, kept) = (self.page_state, form.read(&id));
        let inputs: Vec<_> = form.targets.iter().map(|(_, input)| input.clone()).collect();
        match before {
            Some(before) if before == id => return,
            // The page has come up: all that was there.
            None => {}
            Some(_) if form.per_conversation => state.reset(Some(&inputs)),
            Some(_) => {
                state.clear_agent_writes(&inputs);
                state.ask_about_entries(if id.is_empty() { &inputs } else { &[] });
            }
        }
        let restores_all = before.is_none() || form.per_conversation;
        for (input, kept) in &kept {
            match restores_all {
                true => state.restore(input, kept),
                false => state.restore_agent_write(input, kept),
            }
        }
    }

    /// The conversation that the form is about; empty for one that has no id yet. Tracked.
    fn form_of(self) -> String {
        self.id.get().or_else(|| self.chat.given()).unwrap_or_default()
    }

    fn form(self) -> Form {
        self.place.with_value(|place| {
            let target = |field: &SharedField| Some((field.key.clone(), field.target.clone()?));
            Form {
                block: format!("{}/{}", place.page_id, place.block_id),
                targets: place.fields.iter().filter_map(target).collect(),
                fields: place.fields.clone(),
                per_conversation: place.properties.shared_state_per_conversation,
            }
        })
    }
}

impl Form {
    /// What is kept of a conversation's form, by input. What an input would not take any more is
    /// left out.
    fn read(&self, id: &str) -> Map<String, Value> {
        let kept = match self.per_conversation {
            true => drafts::read(&self.browser_key(id)),
            false => browser::kept_in_tab(&self.tab_key(id)),
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
        self.targets.iter().filter_map(fits).collect()
    }

    fn keep(&self, id: &str, kept: &Map<String, Value>) {
        let text = if kept.is_empty() { String::new() } else { wire::json::text(&Value::Object(kept.clone())) };
        if self.per_conversation {
            return drafts::keep(&self.browser_key(id), &text);
        }
        let is_kept = !text.is_empty() && text.len() <= MAX_BYTES;
        browser::keep_in_tab(&self.tab_key(id), is_kept.then_some(text));
    }

    fn tab_key(&self, id: &str) -> String {
        format!("cw-form/{}/{}/{id}", reader(), self.block)
    }

    fn browser_key(&self, id: &str) -> String {
        format!("form/{}/{id}", self.block)
    }
}
