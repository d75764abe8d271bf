//! The form above the composer, which a command or the menu of a message has opened.

use super::options::{agents, prompts};
use super::start_workflow::start_workflow;
use super::types::OpenForm;
use super::voice;
use crate::agent_chat::session::Session;
use crate::prelude::*;

/// Renders a form.
pub(in crate::agent_chat) fn open_form(session: Session, form: &OpenForm) -> AnyView {
    match form {
        OpenForm::Workflow(id) => start_workflow(session, id),
        OpenForm::Prompt(id) => prompts::load(session, id),
        OpenForm::NewPrompt(text) => prompts::new_prompt(session, text),
        OpenForm::Agent(page_id) => agents::choose(session, page_id),
        OpenForm::Dictation => voice::dictation(session),
        OpenForm::Reading(message) => voice::reading(session, message),
    }
}
