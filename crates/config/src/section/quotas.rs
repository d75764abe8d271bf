//! `limits.quotas`: usage quotas.

use super::Context;
use crate::config::{Quota, QuotaPeriod};
use crate::source::{Node, PathStep};
use schemars::JsonSchema;
use serde::Deserialize;

/// A usage quota of each user that it applies to. All quotas that apply to a user are enforced.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuotaEntry {
    /// Applies to users with one of these roles.
    #[serde(default)]
    roles: Vec<String>,
    /// Applies to the users with these ids. Without roles and users the quota applies to everybody.
    #[serde(default)]
    users: Vec<String>,
    /// The period, which starts at midnight UTC of each day, or of the first day of each month.
    per: QuotaPeriodEntry,
    /// The most messages and invocations.
    messages: Option<u64>,
    /// The most tokens, input and output.
    tokens: Option<u64>,
    /// The highest cost in US dollars, as far as prices are known.
    cost_usd: Option<f64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum QuotaPeriodEntry {
    /// A calendar day.
    Day,
    /// A calendar month.
    Month,
}

/// Checks and converts the quotas.
pub(super) fn check(entries: Vec<QuotaEntry>, node: &Node, context: &mut Context<'_, '_>) -> Vec<Quota> {
    let mut quotas = Vec::new();
    for (i, entry) in entries.into_iter().enumerate() {
        let at = node.span_at(&[PathStep::Key("quotas"), PathStep::Index(i)]);
        if entry.messages.is_none() && entry.tokens.is_none() && entry.cost_usd.is_none() {
            let help = Some("add `messages`, `tokens` or `costUsd`".to_owned());
            context.report.error(at, "this quota bounds nothing".to_owned(), help);
        }
        if entry.cost_usd.is_some_and(|cost| !cost.is_finite() || cost < 0.0) {
            context.report.error(at, "`costUsd` is 0 or more US dollars".to_owned(), None);
        }
        let QuotaEntry { roles, users, per, messages, tokens, cost_usd } = entry;
        let span = match per {
            QuotaPeriodEntry::Day => QuotaPeriod::Day,
            QuotaPeriodEntry::Month => QuotaPeriod::Month,
        };
        quotas.push(Quota { roles, users, period: span, messages, tokens, cost_usd });
    }
    quotas
}
