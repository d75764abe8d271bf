//! Runs that belong to a conversation: an agent starts them with a tool and continues talking, or the user with a
//! command, and the conversation gets the result when the run ends.

mod command;
mod deliver;
mod tool;

pub use command::Commands;
pub use command::start_in_chat;
pub(crate) use deliver::{deliver_soon, handler, result_id};
pub(crate) use tool::source;
