//! The Chat Completions API of OpenAI and of the many gateways that are compatible with it.

mod api;
mod calls;
mod model;
pub(crate) mod request;
#[cfg(test)]
mod request_tests;
pub(crate) mod stream;
#[cfg(test)]
mod tests;
mod think_tags;

pub use model::OpenAiChat;

/// The key of provider options and metadata.
pub(crate) const PROVIDER: &str = "openai";
