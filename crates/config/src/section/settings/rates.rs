//! Checks `limits.rates`: rate limits.

use crate::limits::rate_limit::{RateLimit, RateLimitKey, RateLimitTarget};
use crate::section::Context;
use config_source::{Node, PathStep};

/// Reports rate limits that count nothing.
pub(super) fn check(rates: &[RateLimit], node: &Node, context: &mut Context<'_, '_>) {
    for (i, rate) in rates.iter().enumerate() {
        if rate.target == RateLimitTarget::SignIn && rate.per == RateLimitKey::User {
            let at = node.span_at(&[PathStep::Key("rates"), PathStep::Index(i), PathStep::Key("per")]);
            let help = Some("write `per: address`".to_owned());
            context.report.error(at, "who signs in is no user yet".to_owned(), help);
        }
    }
}
