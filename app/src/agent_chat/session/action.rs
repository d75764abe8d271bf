//! The actions on a conversation, and the errors that some of them resolve.

use crate::agent_chat::message::state::MessageState;
use crate::workflows::Started;
use leptos::web_sys::File;
use serde_json::{Map, Value};
use wire::change::Feedback;

/// An action on a conversation.
pub(in crate::agent_chat) enum SessionAction {
    /// Follow the answer that is being written.
    Watch,
    /// Execute the calls that wait for the page.
    RunClientCalls,
    /// Send the content of the composer.
    SendDraft,
    /// Send a text.
    SendText(String),
    /// Send a message of the page, or queue it.
    SendForPage(Value),
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
    /// Continue the newest answer, which was interrupted.
    Continue,
    /// Load the conversation again and show its state.
    Reload,
    /// Delete a message, if it [can be deleted](super::Session::can_delete).
    DeleteMessage(String),
    /// Save the user's rating of an answer, or remove it.
    Rate(MessageState, Option<Feedback>),
    /// Start a workflow with a command.
    StartWorkflow(WorkflowStart),
    /// Start a new conversation with messages from the page.
    SetMessages(Value),
    /// Show the messages that the page has set for the new conversation.
    ShowPreset,
    /// Retry what failed.
    Remedy(Remedy),
}

/// An error, for the user.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::agent_chat) struct Problem {
    pub(in crate::agent_chat) message: String,
    pub(in crate::agent_chat) remedy: Option<Remedy>,
}

/// The remedy that the user is offered for an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agent_chat) enum Remedy {
    /// Send the content of the composer again.
    Send,
    /// Reload the conversation.
    Reload,
    /// Start a new conversation.
    New,
}

/// A workflow that the user starts.
pub(in crate::agent_chat) struct WorkflowStart {
    /// Its id.
    pub(in crate::agent_chat) workflow_id: String,
    /// The id of the message, which stays the same when the start is tried again.
    pub(in crate::agent_chat) message_id: String,
    /// The input.
    pub(in crate::agent_chat) input: Map<String, Value>,
    /// Called with the outcome.
    pub(in crate::agent_chat) started: Started,
}
