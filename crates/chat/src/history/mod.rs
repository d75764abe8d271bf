//! The actions of users on their conversations without a run: read, change, organize, share, export and
//! import them.

pub(crate) mod conversations;
pub(crate) mod exchange;
pub(crate) mod export;
pub(crate) mod folder_links;
pub(crate) mod import;
pub(crate) mod organize;
pub(crate) mod page_events;
pub(crate) mod private;
pub(crate) mod revise;
pub(crate) mod share;
pub(crate) mod tree;
