//! Chat Completions, as OpenAI and the many gateways that are compatible with it speak it.

mod api;
mod model;
mod request;
mod stream;

pub use model::OpenAiChat;

/// The key of provider options and metadata.
pub(crate) const PROVIDER: &str = "openai";
