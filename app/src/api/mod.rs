//! The server functions, one subject per file. Each checks the caller and makes one call of the chat
//! facade.

pub mod change;
pub mod claim;
pub mod conversation;
pub mod conversations;
pub(crate) mod file_links;
pub mod folders;
pub mod grants;
pub mod import;
pub mod page;
pub mod page_links;
pub mod revise;
pub mod revoke;
pub mod search;
pub mod send;
pub mod server_data;
pub mod shares;
pub mod stop;
pub mod transport;
pub mod watch;

pub use change::{ChangeConversations, change_conversations};
pub use claim::{ClaimEvents, claim_events};
pub(crate) use conversation::ReadConversation;
pub use conversation::{LoadConversation, LoadedConversation, load_conversation};
pub use conversations::{LIST_PAGE_SIZE, ListConversations, list_conversations};
pub use folders::{Folders, MoveFolder, folders, move_folder};
pub use grants::{ListGrants, list_grants};
pub use import::{ImportConversation, import_conversation};
pub use page::{LoadPage, load_page};
pub use page_links::{PageLinks, page_links};
pub use revise::{ReviseConversation, revise};
pub use revoke::{RevokeGrant, revoke_grant};
pub use search::{SEARCH_PAGE_SIZE, SearchConversations, search_conversations};
pub use send::{SendToAgent, send};
pub use server_data::ServerData;
pub use shares::{Shares, shares};
pub use stop::{StopConversation, stop};
pub use transport::error::ApiError;
pub use watch::{WatchConversation, watch};
