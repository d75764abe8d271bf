#![doc = include_str!("../README.md")]

pub mod ai_gateway;
pub mod anthropic;
mod context;
pub mod demo;
mod driver;
mod file;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod google;
#[cfg(test)]
mod histories;
mod http;
mod json;
mod lenient;
#[cfg(test)]
mod mutations;
mod no_think;
mod openai;
pub mod openai_chat;
pub mod openai_responses;
#[cfg(test)]
mod option_tests;
mod options;
mod parallel;
pub mod recorded;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod testing;
mod too_long;
mod without_files;

pub use context::{ModelContext, context_tokens, model_context};
pub use no_think::supports_no_think;
pub use without_files::WithoutFiles;

use secrecy::SecretString;

/// A model and how to reach its provider.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// The API key, if the provider needs one.
    pub api_key: Option<SecretString>,
    /// The base URL, if it is not the provider's default.
    pub base_url: Option<String>,
    /// Additional headers of every request.
    pub headers: Vec<(String, SecretString)>,
    /// Whether only public addresses are reached: those of this machine and its networks are refused.
    pub public_only: bool,
    /// The provider's name for the model.
    pub model: String,
}
