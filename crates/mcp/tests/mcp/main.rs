//! MCP servers: the reference servers over each transport, one in Python, and malicious ones.

mod apps;
mod asks;
mod conformance;
mod content;
mod forgets;
mod hostile;
mod oauth;
mod peers;
mod reference;
mod refused;
mod tasks;

#[path = "../support/log.rs"]
mod log;
