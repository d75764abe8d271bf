//! Model requests and tool calls outside of conversations: invocations by programs, routines, and
//! trials by administrators.

pub(crate) mod invoke;
pub(crate) mod routine;
pub(crate) mod trial;
