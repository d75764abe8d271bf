//! The commands that messengers offer.

/// The commands that the app offers, with what they do.
pub(crate) const COMMANDS: &[(&str, &str)] = &[
    ("new", "Begin a new conversation"),
    ("stop", "Stop the answer that is being written"),
    ("status", "Show as whom you write, and the conversation"),
    ("models", "List the models, or choose the one that is named"),
    ("memory", "Show what the assistant remembers about you, or change it"),
    ("unlink", "End the link to your account"),
    ("help", "List the commands"),
];
