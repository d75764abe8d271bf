//! The binary from outside.

mod files;
mod hooks;
mod http;
mod limits;
mod process;
mod question;
mod reload;
