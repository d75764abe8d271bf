//! The blocks `WorkflowTasks` and `WorkflowRuns`: what workflows ask the user, and the user's runs.

#![expect(unreachable_pub, reason = "the component macro makes what it generates pub")]

pub mod api;
mod chunk_table;
mod command;
mod conversation;
mod form;
mod lazy;
mod picture;
mod run;
mod runs;
mod start;
mod state_names;
mod task_card;
mod tasks;
mod timeline;
mod tool_question;

pub(crate) use chunk_table::WORKFLOWS;
pub(crate) use command::ChatStart;
pub(crate) use start::Started;
