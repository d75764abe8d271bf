#![doc = include_str!("../README.md")]

mod cache;
mod capability;
mod recording;
mod routes;
mod section;
mod service;
mod text;

pub use self::capability::DEFINITION;
