//! The handlers of all routes, one module per group of paths.

pub(crate) mod agent;
pub(crate) mod agents;
pub(crate) mod config;
pub(crate) mod conversations;
pub(crate) mod embed;
pub(crate) mod endpoints;
pub(crate) mod files;
pub(crate) mod grants;
pub(crate) mod health;
pub(crate) mod models;
pub(crate) mod openapi;
pub(crate) mod pages;
pub(crate) mod remote_agent;
pub(crate) mod runs;
pub(crate) mod shared_files;
pub(crate) mod site;
mod stream;
mod tags;
