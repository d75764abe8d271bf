//! Whether a call may run without asking the user: policies, standing approvals, and what the agent
//! has read.

pub(crate) mod exposure;
pub(crate) mod grants;
pub(crate) mod policy;
pub(crate) mod rules;
