//! Actions on a conversation. They are dispatched to the chunk with their code, which is loaded
//! with the first action.

use super::{Problem, Remedy, Session};
use crate::agent_chat::chunk_tables::ExtraFunctions;
use crate::agent_chat::chunk_tables::{CONVERSATION, EXTRAS};
use crate::chunks::ChunkError;
use crate::prelude::*;
use leptos::web_sys::File;

/// An action on a conversation.
pub(in crate::agent_chat) enum SessionAction {
    /// Observe other tabs, the network and the visibility of the page, until the owner is disposed.
    Listen,
    /// Follow the answer that is being written.
    Watch,
    /// Execute the calls that wait for the page.
    RunClientCalls,
    /// Send the content of the composer.
    SendDraft,
    /// Send a text.
    SendText(String),
    /// Attach files to the next message; the flag states whether they were pasted.
    Attach(Vec<File>, bool),
    /// Put an earlier message of the user into the composer, counted back from the last one.
    Recall(usize),
    /// Start or stop dictation.
    Dictate,
    /// Cancel the uploads of the composer.
    CancelUploads,
    /// Stop the answer that is being written.
    Stop,
    /// Regenerate this message, or the newest.
    Regenerate(Option<String>),
    /// Delete a message, if it [can be deleted](Session::can_delete).
    DeleteMessage(String),
    /// Start a new conversation with messages from the page.
    SetMessages(serde_json::Value),
    /// Show the messages that the page has set for the new conversation.
    ShowPreset,
    /// Retry what failed.
    Remedy(Remedy),
}

impl Session {
    /// Performs the action, now or when its code is loaded.
    pub(in crate::agent_chat) fn dispatch(self, act: SessionAction) {
        if let Some(code) = untrack(|| CONVERSATION.get()) {
            return (code.perform)(self, act);
        }
        leptos::task::spawn_local(async move {
            let loaded = CONVERSATION.load().await;
            if self.is_disposed() {
                return;
            }
            match loaded {
                Ok(code) => (code.perform)(self, act),
                Err(_) => self.report_missing_code(),
            }
        });
    }

    /// Calls a function of the `extras` chunk once it is loaded.
    fn with_extras(self, act: Box<dyn FnOnce(&ExtraFunctions)>) {
        leptos::task::spawn_local(async move {
            let loaded = EXTRAS.load().await;
            if self.is_disposed() {
                return;
            }
            match loaded {
                Ok(code) => act(code),
                Err(_) => self.report_missing_code(),
            }
        });
    }

    /// Reports that code could not be loaded.
    pub(super) fn report_missing_code(self) {
        self.problem.set(Some(Problem { message: ChunkError::user_error().message, remedy: None }));
    }

    /// Performs the action. Part of the chunk.
    pub(in crate::agent_chat) fn perform(self, act: SessionAction) {
        match act {
            SessionAction::Listen => {
                self.listen();
                self.persist_queue();
            }
            SessionAction::Watch => {
                self.restore_expected();
                self.watch_active();
            }
            SessionAction::RunClientCalls => {
                self.restore_expected();
                self.catch_up();
                self.run_client_calls();
            }
            SessionAction::SendDraft => self.send_draft(),
            SessionAction::SendText(text) => self.send_text(text),
            SessionAction::Attach(files, pasted) => {
                self.with_extras(Box::new(move |code| (code.attach)(self, files, pasted)))
            }
            SessionAction::Recall(back) => self.recall(back),
            SessionAction::Dictate => self.with_extras(Box::new(move |code| (code.dictate)(self))),
            SessionAction::CancelUploads => self.cancel_uploads(),
            SessionAction::Stop => self.stop(),
            SessionAction::Regenerate(id) => self.regenerate(id),
            SessionAction::DeleteMessage(id) => self.delete_message(&id),
            SessionAction::SetMessages(messages) => self.set_messages(&messages),
            SessionAction::ShowPreset => self.show_preset(),
            SessionAction::Remedy(remedy) => self.apply_remedy(remedy),
        }
    }
}
