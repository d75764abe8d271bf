//! Types of the composer that the session stores. They depend on nothing else in the chat, so that
//! the session does not depend on what draws them.

/// A form above the composer.
#[derive(Clone, PartialEq)]
pub(in crate::agent_chat) enum OpenForm {
    /// For the input of a workflow, given its id.
    Workflow(String),
    /// For the variables of a saved prompt, given its id.
    Prompt(String),
    /// For a new prompt with this text.
    NewPrompt(String),
    /// For the way to the agent of another page, given the id of the page.
    Agent(String),
    /// Dictation over the server.
    Dictation,
    /// Reads the message with this id aloud, over the server.
    Reading(String),
}

/// An entry of the list of commands.
#[derive(Clone, PartialEq)]
pub(in crate::agent_chat) struct CommandOption {
    /// Includes the leading `/` or `@`.
    pub(super) name: String,
    pub(super) description: String,
    /// The draft after the entry is selected.
    pub(super) text: String,
    /// The form that it opens.
    pub(super) form: Option<OpenForm>,
}
