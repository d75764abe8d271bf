//! The handlers of all routes, one module per group of paths.

pub(crate) mod agent;
pub(crate) mod change;
pub(crate) mod config;
pub(crate) mod conversations;
pub(crate) mod embed;
pub(crate) mod endpoints;
pub(crate) mod files;
pub(crate) mod folders;
pub(crate) mod grants;
pub(crate) mod health;
mod home;
pub(crate) mod models;
pub(crate) mod openapi;
pub(crate) mod pages;
pub(crate) mod remote_agent;
mod rendering;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod sharing;
pub(crate) mod site;
mod stream;
mod tags;
