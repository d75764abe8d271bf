//! Model requests and tool calls outside of conversations: invocations by programs, routines, and
//! trials by administrators.

mod call_record;
mod invocation_hooks;
pub(crate) mod invoke;
mod invoke_request;
pub(crate) mod routine;
pub(crate) mod tool_call;
pub(crate) mod trial;
