//! Anthropic's Messages API.

mod api;
mod model;
mod request;
mod stream;

pub use model::Anthropic;

/// The key of provider options and metadata.
pub(crate) const PROVIDER: &str = "anthropic";
