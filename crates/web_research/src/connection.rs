//! The types of connections to providers of web search.

use config::{Connection, ConnectionProperties, PathStep, SecretText, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use url::Url;

/// The names of the types.
pub(crate) const TYPES: [&str; 4] = [SearXng::TYPE, Brave::TYPE, Tavily::TYPE, Exa::TYPE];

/// A SearXNG server of your own. Its `settings.yml` must list `json` in `search.formats`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearXng {
    /// Its base URL.
    pub(crate) url: String,
    /// Allows an address of this machine or a private network.
    #[serde(default)]
    pub(crate) allow_private: bool,
    /// The price of a search, in US dollars.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100))]
    pub(crate) cost_usd: f64,
    /// The timeout of one search in milliseconds.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 100, max = 60_000))]
    pub(crate) timeout_ms: u64,
}

/// Brave's Search API.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Brave {
    /// The subscription token, best as `{ _secret: NAME_OF_A_VARIABLE }`.
    pub(crate) api_key: SecretText,
    /// The base URL, for a proxy.
    #[serde(default = "Brave::url")]
    pub(crate) url: String,
    /// Allows an address of this machine or a private network.
    #[serde(default)]
    pub(crate) allow_private: bool,
    /// The price of a search, in US dollars.
    #[serde(default = "Brave::cost")]
    #[schemars(range(min = 0, max = 100))]
    pub(crate) cost_usd: f64,
    /// The timeout of one search in milliseconds.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 100, max = 60_000))]
    pub(crate) timeout_ms: u64,
}

/// Tavily's search API.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tavily {
    /// The API key, best as `{ _secret: NAME_OF_A_VARIABLE }`.
    pub(crate) api_key: SecretText,
    /// The base URL, for a proxy.
    #[serde(default = "Tavily::url")]
    pub(crate) url: String,
    /// Allows an address of this machine or a private network.
    #[serde(default)]
    pub(crate) allow_private: bool,
    /// The price of a search, in US dollars.
    #[serde(default = "Tavily::cost")]
    #[schemars(range(min = 0, max = 100))]
    pub(crate) cost_usd: f64,
    /// The timeout of one search in milliseconds.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 100, max = 60_000))]
    pub(crate) timeout_ms: u64,
}

/// Exa's search API.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Exa {
    /// The API key, best as `{ _secret: NAME_OF_A_VARIABLE }`.
    pub(crate) api_key: SecretText,
    /// The base URL, for a proxy.
    #[serde(default = "Exa::url")]
    pub(crate) url: String,
    /// Allows an address of this machine or a private network.
    #[serde(default)]
    pub(crate) allow_private: bool,
    /// The price of a search, in US dollars, if the answer does not contain it.
    #[serde(default = "Exa::cost")]
    #[schemars(range(min = 0, max = 100))]
    pub(crate) cost_usd: f64,
    /// The timeout of one search in milliseconds.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 100, max = 60_000))]
    pub(crate) timeout_ms: u64,
}

fn default_timeout() -> u64 {
    10_000
}

impl Brave {
    fn url() -> String {
        "https://api.search.brave.com".to_owned()
    }

    /// The list price of 2026.
    fn cost() -> f64 {
        0.005
    }
}

impl Tavily {
    fn url() -> String {
        "https://api.tavily.com".to_owned()
    }

    /// The list price of 2026 without a plan, for one credit.
    fn cost() -> f64 {
        0.008
    }
}

impl Exa {
    fn url() -> String {
        "https://api.exa.ai".to_owned()
    }

    /// The list price of 2026, for up to ten results with their texts.
    fn cost() -> f64 {
        0.007
    }
}

/// Implements the trait: the checks are the same for all types.
macro_rules! connection_properties {
    ($($type:ident = $name:literal),*) => {$(
        impl ConnectionProperties for $type {
            const TYPE: &'static str = $name;

            fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
                let words = ("searches", "https://search.example.com");
problems.check_base_url(&[PathStep::Key("url")], &self.url, self.allow_private, words);
            }
        }
    )*};
}

connection_properties!(SearXng = "SearXNG", Brave = "Brave", Tavily = "Tavily", Exa = "Exa");

/// A provider, with what is common to all types.
pub(crate) struct ProviderSettings {
    pub(crate) kind: ProviderKind,
    pub(crate) url: Url,
    pub(crate) api_key: Option<SecretText>,
    pub(crate) allow_private: bool,
    pub(crate) cost_usd: f64,
    pub(crate) timeout: Duration,
}

/// The API of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProviderKind {
    SearXng,
    Brave,
    Tavily,
    Exa,
}

impl ProviderSettings {
    /// Reads a connection of one of the types.
    pub(crate) fn from_connection(connection: &Connection) -> Option<Self> {
        macro_rules! read {
            ($($type:ident, $key:expr);*) => {$(
                if let Some(found) = connection.properties::<$type>() {
                    return Some(Self {
                        kind: ProviderKind::$type,
                        url: found.url.parse().ok()?,
                        api_key: $key(found),
                        allow_private: found.allow_private,
                        cost_usd: found.cost_usd,
                        timeout: Duration::from_millis(found.timeout_ms),
                    });
                }
            )*};
        }
        read!(
            SearXng, |_: &SearXng| None;
            Brave, |found: &Brave| Some(found.api_key.clone());
            Tavily, |found: &Tavily| Some(found.api_key.clone());
            Exa, |found: &Exa| Some(found.api_key.clone())
        );
        None
    }
}
