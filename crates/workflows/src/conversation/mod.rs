//! Runs that belong to a conversation: an agent starts them with a tool and goes on talking, or the user with
//! a command, and the conversation gets the result when the run ends.

mod command;
mod deliver;
mod section;
mod tool;

pub use command::Commands;
pub(crate) use command::start as start_by_command;
pub(crate) use deliver::{deliver_soon, handler, result_id};
pub(crate) use section::{AgentWorkflows, check_descriptions};
pub(crate) use tool::source;
