//! The panel beside the chat with a file that the agent shows as a result: a preview, the source, and what has changed between
//! versions. `state.rs` says which file is open, and is all that a page loads before the first one is opened.

mod csv;
mod diff;
mod diff_view;
mod frame;
mod json;
pub(crate) mod kind;
pub(in crate::agent_chat) mod panel;
mod preview;
mod share;
mod state;
mod table;
mod toolbar;
mod viewer;

pub(in crate::agent_chat) use state::{ArtifactState, OpenArtifact};
