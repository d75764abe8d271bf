#![doc = include_str!("../README.md")]

mod headers;
mod rejection;
mod scheme;
mod secret;
mod verifier;

pub use rejection::Rejection;
pub use scheme::Scheme;
pub use secret::{MAX_SECRETS, SecretError};
pub use verifier::{DEFAULT_TOLERANCE, MAX_ID, Verified, Verifier, sign};
