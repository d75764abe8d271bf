#![doc = include_str!("../README.md")]

mod address;
mod body;
mod capability;
mod catalog;
mod console;
mod current;
mod definition;
mod export;
mod listing;
mod probe;
mod provider;
mod read;
mod secrets;
mod section;
mod service;
mod start;
mod store;
mod views;

#[cfg(test)]
mod tests;

pub use self::capability::DEFINITION;
