//! The binary from outside.

mod files;
mod http;
mod process;
mod question;
mod reload;
