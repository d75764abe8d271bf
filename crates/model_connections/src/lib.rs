#![doc = include_str!("../README.md")]

mod address;
mod body;
mod capability;
mod catalog;
mod console;
mod current;
mod definition;
mod export;
mod listing;
mod probe;
mod provider;
mod read;
mod secrets;
mod section;
mod service;
mod start;
mod store;
mod views;

#[cfg(test)]
mod tests;

pub use self::capability::DEFINITION;

/// Returns the names in a provider's list of models, for the fuzzer. The providers are counted in the order of the
/// form.
#[cfg(feature = "fuzz")]
pub fn model_names(provider: u8, body: &[u8]) -> Option<Vec<String>> {
    let provider = provider::Provider::ALL.into_iter().nth(provider.into()).unwrap_or_default();
    listing::names(provider, body)
}
