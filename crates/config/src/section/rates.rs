//! `limits.rates`: how often users and addresses may ask.

use super::Context;
use crate::operation::{Rate, RateOf, RatePer};
use crate::source::{Node, Step};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// How often each user or each address may ask. All that fit a request hold.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RateEntry {
    /// What is asked for.
    of: Of,
    /// Who is counted.
    per: Per,
    /// So many at once, and as many again in each span.
    #[schemars(range(min = 1, max = 1_000_000))]
    requests: u32,
    /// Seconds of the span.
    #[serde(default = "minute")]
    #[schemars(range(min = 1, max = 86_400))]
    seconds: u32,
}

fn minute() -> u32 {
    60
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Of {
    /// Anything but the files of the site.
    All,
    /// An agent's answer.
    Chat,
    /// An endpoint.
    Endpoints,
    /// To be signed in, or a new account.
    SignIn,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Per {
    /// A user; who is not signed in counts by the cookie of the browser.
    User,
    /// An address; of IPv6, its network of 64 bits.
    Address,
}

/// Checks what was read.
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
