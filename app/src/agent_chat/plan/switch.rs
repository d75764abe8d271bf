//! The switch in the composer with which the user lets the agent plan. It is kept for the conversation.

use crate::agent_chat::composer::drafts;
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, t};

/// What is stored while the switch is on.
const ON: &str = "on";

/// The switch.
pub(in crate::agent_chat) fn switch(session: Session) -> AnyView {
    keep(session);
    view! {
        <button
            type="button"
            class="cw-switch-button"
            aria-pressed=move || Some(session.plan_mode.get().to_string())
            on:click=move |_| session.plan_mode.update(|on| *on = !*on)
        >
            {t(Text::Plan)}
        </button>
    }
    .into_any()
}

/// Restores the state of the switch, and stores its changes.
fn keep(session: Session) {
    let block = session.storage_key();
    let mut before = None::<String>;
    Effect::new(move |_| {
        let key = format!("{block}/{}/plan", session.id.get().unwrap_or_default());
        let is_on = session.plan_mode.get();
        match before.replace(key.clone()) {
            None if !is_on && drafts::read(&key).is_some() => session.plan_mode.set(true),
            // A new conversation has received its id.
            Some(earlier) if earlier != key => {
                drafts::keep(&earlier, "");
                drafts::keep(&key, if is_on { ON } else { "" });
            }
            _ => drafts::keep(&key, if is_on { ON } else { "" }),
        }
    });
}
