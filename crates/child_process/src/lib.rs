#![doc = include_str!("../README.md")]

mod limits;
mod program;
#[cfg(target_os = "linux")]
pub mod sandbox;

pub use limits::{Resource, lower_precedence, set_limit};
pub use program::{disable_own_program, drop_privileges, own_program};
