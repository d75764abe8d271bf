//! Checks `limits.quotas`: usage quotas.

use crate::section::Context;
use config_source::{Node, PathStep};
use settings::Quota;

/// Reports quotas that bound nothing.
pub(super) fn check(quotas: &[Quota], node: &Node, context: &mut Context<'_, '_>) {
    for (i, quota) in quotas.iter().enumerate() {
        let at = node.span_at(&[PathStep::Key("quotas"), PathStep::Index(i)]);
        if quota.messages.is_none() && quota.tokens.is_none() && quota.cost_usd.is_none() {
            let help = Some("add `messages`, `tokens` or `costUsd`".to_owned());
            context.report.error(at, "this quota bounds nothing".to_owned(), help);
        }
        if quota.cost_usd.is_some_and(|cost| !cost.is_finite() || cost < 0.0) {
            context.report.error(at, "`costUsd` is 0 or more US dollars".to_owned(), None);
        }
    }
}
