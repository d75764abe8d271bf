//! The commands that messengers offer.

/// The commands that the app offers, with what they do.
pub(crate) const COMMANDS: &[(&str, &str)] = &[
    ("new", "Begin a new conversation"),
    ("stop", "Stop the answer that is being written"),
    ("status", "Show your account, the agent and the conversation"),
    ("models", "List the models, or choose one by its name"),
    ("memory", "Show or change what the agent remembers about you"),
    ("unlink", "Unlink your account"),
    ("help", "List the commands"),
];
