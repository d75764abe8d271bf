//! Runs of agents: what they do, and how they end.

mod agents;
mod chats;
mod circuit;
mod client;
mod costly;
mod ends;
mod from_chat;
mod hooks;
mod limits;
mod obedient;
mod poison;
mod policy;
mod programs;
mod question;
mod server_policy;
mod state;
mod sub_agents;
mod triggers;
pub(crate) mod turn_operators;
mod workflow_clock;
