//! The entries of the list of commands that are loaded while the user types: saved prompts for `/`, and agents of other
//! pages for `@`. Part of the chunk `extras`.

pub(super) mod agents;
pub(super) mod prompts;

use super::types::CommandOption;
use crate::agent_chat::session::Session;
use crate::prelude::*;

/// Loads the entries for the draft. Shows nothing.
pub(in crate::agent_chat) fn load(session: Session) -> AnyView {
    let draft = session.draft;
    let has_prompts = session.sender(|sender| sender.saved_prompts.is_some());
    let types_command = Memo::new(move |_| has_prompts && draft.with(|draft| draft.starts_with('/')));
    let types_name = Memo::new(move |_| draft.with(|draft| draft.contains('@')));
    Effect::new(move |_| {
        if types_command.get() {
            prompts::offer(session);
        }
    });
    Effect::new(move |_| {
        if types_name.get() {
            agents::offer(session);
        }
    });
    ().into_any()
}

/// Replaces the loaded entries whose names begin with a sign.
fn replace(session: Session, sign: char, new: impl Iterator<Item = CommandOption>) {
    session.loaded_options.update(|options| {
        options.retain(|option| !option.name.starts_with(sign));
        options.extend(new);
    });
}
