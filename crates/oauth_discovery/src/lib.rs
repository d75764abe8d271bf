#![doc = include_str!("../README.md")]

mod challenge;
mod discovery;
mod error;
mod probe;
mod requests;
mod token_endpoint;

pub use challenge::{Challenge, read_scopes};
pub use discovery::{Discovery, ServerMetadata, discover};
pub use error::OauthError;
pub use probe::probe;
pub use requests::OauthHttp;
pub use token_endpoint::{FoundTokenEndpoint, find_token_endpoint, find_token_endpoint_of};
