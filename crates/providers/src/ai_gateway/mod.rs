//! Vercel's AI Gateway, over its public Chat Completions door: many providers behind one key. A model is named `creator/model`.

mod model;
pub(crate) mod request;

pub use model::AiGateway;

/// The codec's name, and the key of the gateway's own options.
pub(crate) const PROVIDER: &str = "gateway";
