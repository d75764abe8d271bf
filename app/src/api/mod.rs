//! The server functions: one per file, each asks who calls and makes one call.

pub mod codec;
pub mod conversation;
pub mod conversations;
pub mod delete;
pub mod error;
#[cfg(feature = "ssr")]
mod frames;
pub mod grants;
pub mod loaded;
pub mod page;
pub mod rename;
pub mod revoke;
pub mod send;
pub mod stop;
pub mod watch;

pub use conversation::{LoadConversation, load_conversation};
pub use conversations::{LIST_PAGE, ListConversations, list_conversations};
pub use delete::{DeleteConversation, delete_conversation};
pub use error::ApiError;
pub use grants::{ListGrants, list_grants};
pub use loaded::Loaded;
pub use page::{LoadPage, load_page};
pub use rename::{RenameConversation, rename_conversation};
pub use revoke::{RevokeGrant, revoke_grant};
pub use send::{SendToAgent, send};
pub use stop::{StopConversation, stop};
pub use watch::{WatchConversation, watch};
