#![doc = include_str!("../README.md")]

mod address;
mod challenges;
mod client;
mod clients;
mod error;
mod failure;
mod path;
mod resolver;
mod retry_after;

pub use address::is_public;
pub use challenges::challenges;
pub use client::{Egress, EgressRequest, EgressResponse, is_localhost};
pub use clients::Clients;
pub use error::EgressError;
pub use failure::ServiceFailure;
pub use path::{PathError, encode_segment, join_below};
pub use retry_after::retry_after;
