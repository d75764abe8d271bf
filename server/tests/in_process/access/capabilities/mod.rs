//! Tests of the access to capabilities, and of their effects.

mod cited;
mod custom;
mod delegation;
pub(super) mod knowledge;
mod mcp_files;
mod memory;
mod notifications;
mod own_agents;
mod projects;
mod prompts;
mod questions;
mod skills;
mod workflow_lists;
mod workflow_rights;
mod workflow_runs;
mod workflows;
