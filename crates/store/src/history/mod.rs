//! Conversations with their messages, and what users do with them: branches, folders, ratings, copies, and deletion.

pub(crate) mod append;
pub(crate) mod body;
pub(crate) mod branches;
pub(crate) mod change;
pub(crate) mod conversations;
pub(crate) mod copies;
pub(crate) mod encoded;
pub(crate) mod event_claims;
pub(crate) mod feedback;
pub(crate) mod folder_tree;
pub(crate) mod folders;
pub(crate) mod hand_over;
pub(crate) mod messages;
pub(crate) mod prepare;
pub(crate) mod retention;
