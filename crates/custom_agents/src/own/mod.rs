//! Agents that users make for themselves.

mod console;
#[cfg(test)]
mod kill_tests;
mod page;
mod page_views;
mod routes;
mod rule;
mod service;
pub(crate) mod store;
#[cfg(test)]
mod store_tests;
mod views;

pub(crate) use console::section;
pub(crate) use page::PATH;
pub(crate) use routes::routes;
pub(crate) use rule::with_own_agents;

/// The prefix of the ids of agents of users and of their pages.
pub const PREFIX: &str = "own-";
