//! MCP servers as users have them: the reference servers over each transport, one in Python, and one that means harm.

mod forgets;
mod hostile;
mod oauth;
mod peers;
mod reference;

#[path = "../support/log.rs"]
mod log;
