//! Runs of agents: what they do, and how they end.

mod agents;
mod chats;
mod circuit;
mod client;
mod costly;
mod ends;
mod hooks;
mod limits;
mod obedient;
mod poison;
mod policy;
mod programs;
mod provider_items;
mod question;
mod server_policy;
mod state;
mod sub_agents;
pub(crate) mod turn_operators;
