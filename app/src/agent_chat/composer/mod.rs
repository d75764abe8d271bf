//! The composer: the text field with its tools, attached files, drafts and waiting messages.

pub(super) mod attachments;
pub(super) mod commands;
pub(super) mod context_meter;
pub(super) mod drafts;
pub(super) mod early_input;
pub(super) mod edit_form;
mod form_panel;
pub(super) mod header;
pub(super) mod kept_choice;
pub(super) mod open_form;
pub(super) mod options;
pub(super) mod outgoing;
pub(super) mod queue;
pub(super) mod speech;
mod start_workflow;
pub(super) mod tools;
pub(super) mod types;
pub(super) mod undo;
pub(super) mod view;
pub(super) mod voice;
