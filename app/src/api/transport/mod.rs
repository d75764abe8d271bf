//! How server functions and other requests are sent and answered.

pub mod codec;
pub mod error;
#[cfg(feature = "ssr")]
pub(super) mod frames;
pub(crate) mod http;
