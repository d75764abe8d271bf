#![doc = include_str!("../README.md")]

mod answer;
mod capability;
mod excerpt;
mod routes;
mod section;

pub use self::capability::DEFINITION;
