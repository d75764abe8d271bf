//! Remote agents over real sockets: good servers, careless ones and hostile ones.

mod calls;
mod context;
mod discovery;
mod examine;
mod safety;
mod server;

#[path = "../support/log.rs"]
mod log;
