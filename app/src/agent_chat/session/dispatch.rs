//! Actions on a conversation. They are dispatched to the chunk with their code, which is loaded at
//! the latest with the first action.

use super::Session;
use super::action::{Problem, SessionAction};
use crate::agent_chat::chunk_tables::ExtraFunctions;
use crate::agent_chat::chunk_tables::{CONVERSATION, EXTRAS, SESSION};
use crate::chunks::ChunkError;
use crate::prelude::*;

impl Session {
    /// Performs the action, now or when its code is loaded.
    pub(in crate::agent_chat) fn dispatch(self, act: SessionAction) {
        // An action may add the first message, which the code of the conversation shows.
        if let (Some(code), Some(_)) = untrack(|| (SESSION.get(), CONVERSATION.get())) {
            return (code.perform)(self, act);
        }
        leptos::task::spawn_local(async move {
            let loaded = futures::join!(SESSION.load(), CONVERSATION.load());
            if self.is_disposed() {
                return;
            }
            match loaded {
                (Ok(code), Ok(_)) => (code.perform)(self, act),
                _ => self.report_missing_code(),
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
            SessionAction::Watch => {
                self.restore_expected();
                self.apply_sent_values();
                self.watch_active();
            }
            SessionAction::RunClientCalls => {
                self.restore_expected();
                self.apply_sent_values();
                self.catch_up();
                self.run_client_calls();
            }
            SessionAction::SendDraft => self.send_draft(),
            SessionAction::SendText(text) => self.send_text(text),
            SessionAction::SendForPage(message) => self.send_for_page(&message),
            SessionAction::Attach(files, pasted) => {
                self.with_extras(Box::new(move |code| (code.attach)(self, files, pasted)))
            }
            SessionAction::Recall(back) => self.recall(back),
            SessionAction::Dictate => self.with_extras(Box::new(move |code| (code.dictate)(self))),
            SessionAction::CancelUploads => self.cancel_uploads(),
            SessionAction::Stop => self.stop(),
            SessionAction::Regenerate(id) => self.regenerate(id),
            SessionAction::Continue => self.continue_answer(),
            SessionAction::Reload => leptos::task::spawn_local(self.reload()),
            SessionAction::DeleteMessage(id) => self.delete_message(&id),
            SessionAction::Rate(message, feedback) => self.rate(&message, feedback),
            SessionAction::StartWorkflow(start) => self.start_workflow(start),
            SessionAction::SetMessages(messages) => self.set_messages(&messages),
            SessionAction::ShowPreset => self.show_preset(),
            SessionAction::Remedy(remedy) => self.apply_remedy(remedy),
        }
    }
}
