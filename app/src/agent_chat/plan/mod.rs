//! The plan of a conversation: a bar above the composer, which opens to a list that the user can change
//! while the agent works, and the switch in the composer.

pub(super) mod bar;
mod edit;
mod state;
mod step;
pub(super) mod switch;
