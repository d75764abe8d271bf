//! Google's Gemini API.

mod api;
mod arguments;
mod grounding;
mod model;
mod parts;
pub(crate) mod request;
#[cfg(test)]
mod request_tests;
pub(crate) mod stream;
#[cfg(test)]
mod tests;

pub use model::Google;

/// The key of provider options and metadata.
pub(crate) const PROVIDER: &str = "google";
