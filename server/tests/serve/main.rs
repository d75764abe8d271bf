//! The binary from outside.

mod accounts;
mod agents;
mod audit;
mod callers;
mod database_down;
mod files;
mod hooks;
mod http;
mod limits;
mod mcp;
mod process;
mod provider;
mod question;
mod reload;
mod remote_agent;
