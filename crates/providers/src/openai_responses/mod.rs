//! OpenAI's Responses API, and what others serve under the same shape.

mod api;
mod citation;
mod items;
mod model;
pub(crate) mod request;
mod results;
mod server_tool;
pub(crate) mod stream;
#[cfg(test)]
mod tests;

pub use model::OpenAiResponses;

/// The key of provider options and metadata.
pub(crate) const PROVIDER: &str = "openai";
