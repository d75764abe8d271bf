//! OpenAI's Responses API, and compatible APIs of others.

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
mod tool_search;

pub use model::OpenAiResponses;

/// The key of provider options and metadata.
pub(crate) const PROVIDER: &str = "openai";
