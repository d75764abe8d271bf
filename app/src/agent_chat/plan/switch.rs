//! The switch in the composer with which the user lets the agent plan. It is kept for the conversation.

use crate::agent_chat::composer::kept_choice::keep_choice;
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::switch_button::switch_button;

/// The stored value of the switch while it is on.
const ON: &str = "on";

/// The switch.
pub(in crate::agent_chat) fn switch(session: Session) -> AnyView {
    let state = session.plan_mode;
    let text = move || if state.get() { ON.to_owned() } else { String::new() };
    keep_choice(session, "plan", text, move |_| state.set(true));
    switch_button(t(Text::Plan).into_any(), move || state.get(), move || state.update(|on| *on = !*on))
}
