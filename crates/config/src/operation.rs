//! Settings for the operation of a server: rate limits and retention.

use indexmap::IndexMap;
use std::time::Duration;

/// A rate limit for one user or one IP address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// The requests that are counted.
    pub target: RateLimitTarget,
    /// For whom requests are counted.
    pub per: RateLimitKey,
    /// The number of requests that may be made at once. As many become available again in each
    /// `span`.
    pub requests: u32,
    /// The time in which all requests become available again.
    pub window: Duration,
}

/// The requests that a rate limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RateLimitTarget {
    /// All requests but those for static files.
    All,
    /// Messages to agents and invocations.
    Chat,
    /// Calls of endpoints.
    Endpoints,
    /// Attempts to sign in, to create an account or to change a password.
    SignIn,
}

/// For whom requests are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RateLimitKey {
    /// Each user. Users who are not signed in are identified by the browser's cookie.
    User,
    /// Each IP address. An IPv6 address counts as its /64 network.
    Address,
}

/// How long data is retained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// How long conversations are retained after their last change. `None`: without end.
    pub conversations: Option<Duration>,
    /// The same for the conversations of single agents, by the agent's id.
    pub agents: IndexMap<String, Duration>,
    /// Whether pinned conversations are exempt.
    pub keeps_pinned: bool,
    /// How long temporary conversations are retained after they became temporary.
    pub temporary: Duration,
    /// How long invocations are retained after their end. `None`: without end.
    pub invocations: Option<Duration>,
}
