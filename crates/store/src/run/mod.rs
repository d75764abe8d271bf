//! Runs from their beginning to their end: leases, the journal of events, the ledger of tool calls,
//! the usage of models, standing approvals, and invocations with their calls.

pub(crate) mod agent_run_approvers;
pub(crate) mod agent_runs;
pub(crate) mod begin_run;
pub(crate) mod grants;
mod invocation_calls;
pub(crate) mod invocations;
pub(crate) mod run_events;
pub(crate) mod runs;
pub(crate) mod steps;
pub(crate) mod tool_calls;
