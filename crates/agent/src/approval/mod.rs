//! Whether a call may run without asking the user: policies, standing approvals, and what the agent
//! has read.

pub(crate) mod expose;
pub(crate) mod exposure;
pub(crate) mod grants;
mod lookup;
pub(crate) mod policy;
mod reading;
pub(crate) mod rules;
