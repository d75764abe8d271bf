//! The binary from outside.

mod files;
mod hooks;
mod http;
mod process;
mod question;
mod reload;
