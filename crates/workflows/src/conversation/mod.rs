//! Runs that belong to a conversation: an agent starts them with a tool and goes on talking, and the
//! conversation gets the result when the run ends.

mod deliver;
mod section;
mod tool;

pub(crate) use deliver::{deliver_soon, handler, result_id};
pub(crate) use section::{AgentWorkflows, check_descriptions};
pub(crate) use tool::source;
