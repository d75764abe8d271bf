#![doc = include_str!("../README.md")]

mod capability;
mod notes;
mod policy;
mod routes;
mod section;
mod source;
mod store;
mod tool;

#[cfg(test)]
mod tests;

pub use self::capability::DEFINITION;
