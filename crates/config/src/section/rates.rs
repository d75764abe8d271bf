//! `limits.rates`: rate limits.

use super::Context;
use crate::operation::{RateLimit, RateLimitKey, RateLimitTarget};
use crate::source::{Node, PathStep};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// A rate limit for each user or each IP address. All limits that apply to a request are enforced.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RateEntry {
    /// The requests that are counted.
    of: RateLimitTargetEntry,
    /// For whom requests are counted.
    per: RateLimitKeyEntry,
    /// The number of requests that may be made at once. As many become available again within
    /// `seconds`.
    #[schemars(range(min = 1, max = 1_000_000))]
    requests: u32,
    /// The time in seconds in which all requests become available again.
    #[serde(default = "default_seconds")]
    #[schemars(range(min = 1, max = 86_400))]
    seconds: u32,
}

fn default_seconds() -> u32 {
    60
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum RateLimitTargetEntry {
    /// All requests but those for static files.
    All,
    /// Messages to agents and invocations.
    Chat,
    /// Calls of endpoints.
    Endpoints,
    /// Attempts to sign in, to create an account or to change a password.
    SignIn,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RateLimitKeyEntry {
    /// Each user. Users who are not signed in are identified by the browser's cookie.
    User,
    /// Each IP address. An IPv6 address counts as its /64 network.
    Address,
}

/// Checks and converts the rate limits.
pub(super) fn check(entries: Vec<RateEntry>, node: &Node, context: &mut Context<'_, '_>) -> Vec<RateLimit> {
    let mut rates = Vec::new();
    for (i, RateEntry { of, per, requests, seconds }) in entries.into_iter().enumerate() {
        if of == RateLimitTargetEntry::SignIn && per == RateLimitKeyEntry::User {
            let at = node.span_at(&[PathStep::Key("rates"), PathStep::Index(i), PathStep::Key("per")]);
            let help = Some("write `per: address`".to_owned());
            context.report.error(at, "who signs in is no user yet".to_owned(), help);
        }
        let what = match of {
            RateLimitTargetEntry::All => RateLimitTarget::All,
            RateLimitTargetEntry::Chat => RateLimitTarget::Chat,
            RateLimitTargetEntry::Endpoints => RateLimitTarget::Endpoints,
            RateLimitTargetEntry::SignIn => RateLimitTarget::SignIn,
        };
        let per = match per {
            RateLimitKeyEntry::User => RateLimitKey::User,
            RateLimitKeyEntry::Address => RateLimitKey::Address,
        };
        rates.push(RateLimit { target: what, per, requests, window: Duration::from_secs(u64::from(seconds)) });
    }
    rates
}
