#![doc = include_str!("../README.md")]

mod capability;
mod check;
mod console;
mod diff;
mod overlay;
mod section;
mod service;
mod store;

#[cfg(test)]
mod tests;

pub use self::capability::DEFINITION;
pub use self::section::warning;
