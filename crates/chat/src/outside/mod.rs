//! Model requests and tool calls outside of conversations: invocations and completions for programs, runs
//! that may wait, routines, and trials by administrators.

mod agent_runs;
mod call_record;
mod chunk_stream;
pub(crate) mod completion;
mod execute;
mod invocation_hooks;
pub(crate) mod invoke;
mod invoke_request;
pub(crate) mod program_tools;
pub(crate) mod routine;
pub(crate) mod running;
pub(crate) mod suspended;
pub(crate) mod tool_call;
pub(crate) mod trial;

pub use agent_runs::RunResponse;
pub(crate) use agent_runs::add_handlers;
