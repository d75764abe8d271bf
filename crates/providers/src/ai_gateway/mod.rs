//! Vercel's AI Gateway with its Chat Completions API: many providers with one key. A model is named
//! `creator/model`.

mod model;
pub(crate) mod request;

pub use model::AiGateway;

/// The provider's name, and the key of the gateway's own options.
pub(crate) const PROVIDER: &str = "gateway";
