//! Anthropic's Messages API.

mod api;
mod betas;
mod block;
mod cache;
mod called_tools;
mod container;
mod context_edits;
mod file;
mod model;
mod model_features;
pub(crate) mod request;
#[cfg(test)]
mod request_tests;
mod server_tool;
pub(crate) mod stream;
mod structured;
#[cfg(test)]
mod tests;
mod text_delta;
mod tool_search;

pub use model::Anthropic;

/// The key of provider options and metadata.
pub(crate) const PROVIDER: &str = "anthropic";
