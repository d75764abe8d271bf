#![doc = include_str!("../README.md")]

mod agents;
mod answer;
mod asking;
mod call;
mod capability;
mod content;
mod documents;
mod endpoints;
mod error;
mod handler;
mod metadata;
mod progress;
mod prompts;
mod resources;
mod route;
mod running;
mod section;
mod store;
mod stream;
mod tools;

pub use self::capability::DEFINITION;
