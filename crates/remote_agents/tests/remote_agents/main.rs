//! Remote agents over real sockets: correct servers, careless ones and malicious ones.

mod calls;
mod context;
mod discovery;
mod examine;
mod safety;
mod server;

#[path = "../../../mcp/tests/support/log.rs"]
mod log;
