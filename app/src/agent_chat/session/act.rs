//! What is done in a conversation: the code for it comes when it is needed first.

use super::{Problem, Remedy, Session};
use crate::agent_chat::rare::Extras;
use crate::agent_chat::{CONVERSATION, EXTRAS};
use crate::chunks::Missing;
use crate::prelude::*;
use leptos::web_sys::File;

/// Something to be done.
pub(in crate::agent_chat) enum Act {
    /// Hear of other tabs, of the network and of the reader's return, as long as the owner lives.
    Listen,
    /// Follow the answer that is being written.
    Watch,
    /// Execute the calls that wait for the page.
    RunClientCalls,
    /// Send what stands in the composer.
    SendDraft,
    /// Send a text.
    SendText(String),
    /// Take files into the next message; whether they were pasted.
    Attach(Vec<File>, bool),
    /// Put what the user wrote before into the composer: this many messages back from the end.
    Recall(usize),
    /// Hear what the user says, and write it; or end that.
    Dictate,
    /// End what belongs to the composer.
    Leave,
    /// End the answer that is being written.
    Stop,
    /// Answer again: this message, or the newest.
    Regenerate(Option<String>),
    /// Delete a message, which [can be](Session::can_delete).
    DeleteMessage(String),
    /// Begin a new conversation with messages of the page's.
    SetMessages(serde_json::Value),
    /// Show messages that were put in for the conversation that begins.
    ShowPreset,
    /// Try what went wrong again.
    Remedy(Remedy),
}

impl Session {
    /// Does it, now or when its code has come.
    pub(in crate::agent_chat) fn act(self, act: Act) {
        if let Some(code) = untrack(|| CONVERSATION.get()) {
            return (code.perform)(self, act);
        }
        leptos::task::spawn_local(async move {
            let loaded = CONVERSATION.load().await;
            if self.is_gone() {
                return;
            }
            match loaded {
                Ok(code) => (code.perform)(self, act),
                Err(_) => self.lacks_code(),
            }
        });
    }

    /// Does what not everybody does, once the code for it has come.
    fn with_extras(self, act: Box<dyn FnOnce(&Extras)>) {
        leptos::task::spawn_local(async move {
            let loaded = EXTRAS.load().await;
            if self.is_gone() {
                return;
            }
            match loaded {
                Ok(code) => act(code),
                Err(_) => self.lacks_code(),
            }
        });
    }

    /// Says that code could not be loaded.
    pub(super) fn lacks_code(self) {
        self.problem.set(Some(Problem { message: Missing::told().message, remedy: None }));
    }

    /// Does it. Part of the chunk.
    pub(in crate::agent_chat) fn perform(self, act: Act) {
        match act {
            Act::Listen => {
                self.listen();
                self.keep_queue();
            }
            Act::Watch => {
                self.recall_expected();
                self.watch_active();
            }
            Act::RunClientCalls => {
                self.recall_expected();
                self.catch_up();
                self.run_client_calls();
            }
            Act::SendDraft => self.send_draft(),
            Act::SendText(text) => self.send_text(text),
            Act::Attach(files, pasted) => self.with_extras(Box::new(move |code| (code.attach)(self, files, pasted))),
            Act::Recall(back) => self.recall(back),
            Act::Dictate => self.with_extras(Box::new(move |code| (code.dictate)(self))),
            Act::Leave => self.forget_attached(),
            Act::Stop => self.stop(),
            Act::Regenerate(id) => self.regenerate(id),
            Act::DeleteMessage(id) => self.delete_message(&id),
            Act::SetMessages(messages) => self.set_messages(&messages),
            Act::ShowPreset => self.show_preset(),
            Act::Remedy(remedy) => self.remedy(remedy),
        }
    }
}
