//! Rate limits.

use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// A rate limit for each user or each IP address. All limits that apply to a request are enforced.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct RateLimit {
    /// The requests that are counted.
    #[serde(rename = "of")]
    pub target: RateLimitTarget,
    /// For whom requests are counted.
    pub per: RateLimitKey,
    /// The number of requests that may be made at once. As many become available again within
    /// `seconds`.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub requests: u32,
    /// The time in seconds in which all requests become available again.
    #[serde(rename = "seconds", with = "settings::seconds", default = "default_window")]
    #[schemars(with = "u32", range(min = 1, max = 86_400))]
    pub window: Duration,
}

fn default_window() -> Duration {
    Duration::from_mins(1)
}

/// The requests that a rate limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RateLimitTarget {
    /// All requests but those for static files.
    All,
    /// Messages to agents, invocations, and suggestions of what to ask next.
    Chat,
    /// Calls of endpoints.
    Endpoints,
    /// Attempts to sign in, also at a provider, to create an account or to change a password.
    SignIn,
}

/// For whom requests are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RateLimitKey {
    /// Each user. Users who are not signed in are identified by the browser's cookie.
    User,
    /// Each IP address. An IPv6 address counts as its /64 network.
    Address,
}
