//! The user's choices in the composer, which are stored like a draft.

use super::drafts::{keep, read};
use crate::agent_chat::session::Session;
use crate::prelude::*;

/// Restores the user's choice in the conversation, and stores its changes. `name` is that of the choice. `text`
/// describes what is chosen, and is empty for what holds at first; it is tracked. `restore` gets such a text.
pub(in crate::agent_chat) fn keep_choice(
    session: Session,
    name: &'static str,
    text: impl Fn() -> String + 'static,
    restore: impl Fn(&str) + 'static,
) {
    let block = session.storage_key();
    let mut before = None::<String>;
    Effect::new(move |_| {
        let key = format!("{block}/{}/{name}", session.id.get().unwrap_or_default());
        let text = text();
        match before.replace(key.clone()) {
            None if text.is_empty() => read(&key).iter().for_each(|kept| restore(kept)),
            earlier => {
                // A new conversation has received its id.
                if let Some(earlier) = earlier.filter(|earlier| *earlier != key) {
                    keep(&earlier, "");
                }
                keep(&key, &text);
            }
        }
    });
}
