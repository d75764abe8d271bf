#![doc = include_str!("../README.md")]

mod capability;
mod filter;
mod query;
mod read;
mod section;
mod store;
mod tools;
mod value;

#[cfg(test)]
mod tests;

pub use self::capability::DEFINITION;
