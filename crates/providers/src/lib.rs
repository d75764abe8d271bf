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
mod openai;
pub mod openai_chat;
pub mod openai_responses;
#[cfg(test)]
mod option_tests;
mod options;
mod parallel;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod testing;
mod think;

pub use context::context_tokens;
pub use think::thinks_in_text;

use secrecy::SecretString;

/// How to reach a provider, and which of its models.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The key, where one is needed.
    pub api_key: Option<SecretString>,
    /// Instead of the provider's own address.
    pub base_url: Option<String>,
    /// Sent with each request.
    pub headers: Vec<(String, SecretString)>,
    /// The provider's name for the model.
    pub model: String,
}
