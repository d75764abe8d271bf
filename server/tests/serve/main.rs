//! The binary from outside.

mod http;
mod process;
mod reload;
