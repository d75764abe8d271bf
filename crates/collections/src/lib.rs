#![doc = include_str!("../README.md")]

mod access;
mod capability;
mod failure;
mod fields;
mod filter;
mod input;
mod operation;
mod query;
mod read;
mod records;
mod routes;
mod section;
mod sources;
mod store;
mod table;
mod tools;
mod value;

#[cfg(test)]
mod tests;

pub use self::capability::DEFINITION;
