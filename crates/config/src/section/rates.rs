//! `limits.rates`: rate limits.

use super::Context;
use crate::operation::{Rate, RateOf, RatePer};
use crate::source::{Node, Step};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// A rate limit for each user or each IP address. All limits that apply to a request are enforced.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RateEntry {
    /// The requests that are counted.
    of: Of,
    /// For whom requests are counted.
    per: Per,
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
enum Of {
    /// All requests but those for static files.
    All,
    /// Messages to agents and invocations.
    Chat,
    /// Calls of endpoints.
    Endpoints,
    /// Attempts to sign in or to create an account.
    SignIn,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Per {
    /// Each user. Users who are not signed in are identified by the browser's cookie.
    User,
    /// Each IP address. An IPv6 address counts as its /64 network.
    Address,
}

/// Checks and converts the rate limits.
pub(super) fn check(entries: Vec<RateEntry>, node: &Node, context: &mut Context<'_, '_>) -> Vec<Rate> {
    let mut rates = Vec::new();
    for (i, RateEntry { of, per, requests, seconds }) in entries.into_iter().enumerate() {
        if of == Of::SignIn && per == Per::User {
            let at = node.at(&[Step::Key("rates"), Step::Index(i), Step::Key("per")]);
            let help = Some("write `per: address`".to_owned());
            context.report.error(at, "who signs in is no user yet".to_owned(), help);
        }
        let what = match of {
            Of::All => RateOf::All,
            Of::Chat => RateOf::Chat,
            Of::Endpoints => RateOf::Endpoints,
            Of::SignIn => RateOf::SignIn,
        };
        let per = match per {
            Per::User => RatePer::User,
            Per::Address => RatePer::Address,
        };
        rates.push(Rate { what, per, requests, span: Duration::from_secs(u64::from(seconds)) });
    }
    rates
}
