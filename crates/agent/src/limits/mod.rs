//! The limits of a turn, and the meter that enforces them.

pub(crate) mod estimate;
mod limit;
pub(crate) mod loop_detection;
pub(crate) mod stop;
pub(crate) mod turn_usage;

pub use limit::Limit;

use crate::limits::turn_usage::ResourceUsage;
use contract::Usage;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Limits for one turn. The turn ends cleanly at the first limit that it reaches.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = settings::allow_operators)]
pub struct TurnLimits {
    /// The most requests to models, including those of routines and sub-agents.
    #[schemars(range(min = 1))]
    pub requests: Option<u32>,
    /// The most tokens of all requests, input and output.
    #[schemars(range(min = 1))]
    pub total_tokens: Option<u64>,
    /// The most tool calls, including those of tools that the provider runs.
    pub tool_calls: Option<u32>,
    /// The highest cost in US dollars, by the section `prices` and the list prices of well-known
    /// models. The price of every model that the turn may use must be known, including fallbacks
    /// and the models of sub-agents and routines.
    #[schemars(range(min = 0))]
    pub cost_usd: Option<f64>,
    /// The longest duration in seconds, including the time of the tools.
    // A program's request has only this limit; turns have `Timeouts::total`.
    #[serde(rename = "timeSeconds", with = "settings::seconds")]
    #[schemars(with = "Option<u32>", range(min = 1))]
    pub time: Option<Duration>,
}

impl TurnLimits {
    /// Returns the stricter of both for each limit.
    #[must_use]
    pub fn stricter(&self, other: &Self) -> Self {
        Self {
            requests: lower(self.requests, other.requests),
            total_tokens: lower(self.total_tokens, other.total_tokens),
            tool_calls: lower(self.tool_calls, other.tool_calls),
            cost_usd: lower(self.cost_usd, other.cost_usd),
            time: lower(self.time, other.time),
        }
    }

    /// Returns these limits, with those of `other` where there is none.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self {
            requests: self.requests.or(other.requests),
            total_tokens: self.total_tokens.or(other.total_tokens),
            tool_calls: self.tool_calls.or(other.tool_calls),
            cost_usd: self.cost_usd.or(other.cost_usd),
            time: self.time.or(other.time),
        }
    }

    /// Returns the limit that forbids another request, if one is reached. The limit of tool calls
    /// is not among them: after the last allowed call the model is asked once more, so that it can
    /// answer.
    pub(crate) fn reached(&self, spent: &ResourceUsage) -> Option<Limit> {
        let tokens = spent.usage.input_tokens.saturating_add(spent.usage.output_tokens);
        let reached = [
            (self.requests.is_some_and(|most| spent.requests >= most), Limit::Requests),
            (self.total_tokens.is_some_and(|most| tokens >= most), Limit::TotalTokens),
            (self.cost_usd.is_some_and(|most| spent.cost_usd.unwrap_or_default() >= most), Limit::Cost),
        ];
        reached.into_iter().find_map(|(is, limit)| is.then_some(limit))
    }

    /// Returns how many more tools may be called; `None` without a limit.
    pub(crate) fn remaining_calls(&self, spent: &ResourceUsage) -> Option<u32> {
        Some(self.tool_calls?.saturating_sub(spent.tool_calls))
    }
}

/// Returns the lower of two limits; absent ones do not limit.
fn lower<T: PartialOrd>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other < one { other } else { one }),
        (one, other) => one.or(other),
    }
}

/// The usage of a run, including its sub-agents, and its limits. The usage of a sub-agent also
/// counts for its calling agents.
pub(crate) struct UsageMeter {
    spent: Mutex<ResourceUsage>,
    /// The usage of the same turn before it waited for the user.
    before: ResourceUsage,
    limits: TurnLimits,
    parent: Option<Arc<UsageMeter>>,
}

impl UsageMeter {
    pub(crate) fn new(limits: TurnLimits, before: ResourceUsage, above: Option<Arc<UsageMeter>>) -> Arc<Self> {
        Arc::new(Self { spent: Mutex::default(), before, limits, parent: above })
    }

    fn lock(&self) -> MutexGuard<'_, ResourceUsage> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the usage of the whole turn, to which the limits apply.
    pub(crate) fn in_all(&self) -> ResourceUsage {
        self.spent().plus(&self.before)
    }

    /// Returns the usage of this run.
    pub(crate) fn spent(&self) -> ResourceUsage {
        *self.lock()
    }

    /// Iterates over this meter and those of the calling agents.
    fn self_and_parents(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |meter| meter.parent.as_deref())
    }

    /// Counts a request that is about to be sent.
    pub(crate) fn count_request(&self) {
        self.self_and_parents().for_each(|meter| meter.lock().requests += 1);
    }

    /// Counts the usage of a reply.
    pub(crate) fn count_reply(&self, usage: Usage, cost_usd: Option<f64>) {
        for meter in self.self_and_parents() {
            let mut spent = meter.lock();
            spent.usage += usage;
            if let Some(cost) = cost_usd {
                spent.cost_usd = Some(spent.cost_usd.unwrap_or_default() + cost);
            }
        }
    }

    /// Counts tool calls that are about to run.
    pub(crate) fn count_tool_calls(&self, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        for meter in self.self_and_parents() {
            let mut spent = meter.lock();
            spent.tool_calls = spent.tool_calls.saturating_add(count);
        }
    }

    /// Returns the limit that is reached, as [`TurnLimits::reached`], here or for a calling agent.
    pub(crate) fn reached(&self) -> Option<Limit> {
        self.self_and_parents().find_map(|meter| meter.limits.reached(&meter.in_all()))
    }

    /// Returns whether the cost is limited, here or for a calling agent.
    pub(crate) fn limits_cost(&self) -> bool {
        self.self_and_parents().any(|meter| meter.limits.cost_usd.is_some())
    }

    /// Returns whether more tools were called than allowed, which happens when a provider runs its
    /// own tools without asking.
    pub(crate) fn is_over_calls(&self) -> bool {
        self.self_and_parents()
            .any(|meter| meter.limits.tool_calls.is_some_and(|most| meter.in_all().tool_calls > most))
    }

    /// Returns how many more tools may be called, and the limit; `None` without a limit.
    pub(crate) fn remaining_calls(&self) -> Option<(u32, u32)> {
        let left = self
            .self_and_parents()
            .filter_map(|meter| Some((meter.limits.remaining_calls(&meter.in_all())?, meter.limits.tool_calls?)));
        left.min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_of_a_sub_agent_counts_for_its_caller() {
        let limits = |tool_calls, requests| TurnLimits { tool_calls, requests, ..TurnLimits::default() };
        let above = UsageMeter::new(limits(Some(5), Some(3)), ResourceUsage::default(), None);
        let below = UsageMeter::new(limits(None, Some(9)), ResourceUsage::default(), Some(above.clone()));
        above.count_request();
        below.count_tool_calls(2);
        below.count_request();
        assert_eq!(
            (above.remaining_calls(), below.remaining_calls(), below.reached()),
            (Some((3, 5)), Some((3, 5)), None)
        );
        below.count_request();
        below.count_reply(Usage { input_tokens: 7, ..Usage::default() }, Some(0.5));
        assert_eq!((above.reached(), below.reached()), (Some(Limit::Requests), Some(Limit::Requests)));
        assert_eq!((above.spent().requests, below.spent().requests), (3, 2));
        assert_eq!((above.spent().usage.input_tokens, above.spent().cost_usd), (7, Some(0.5)));
    }

    #[test]
    fn stricter_limits_are_the_lower_ones() {
        let (few, many) = (
            TurnLimits { requests: Some(2), cost_usd: Some(1.0), ..TurnLimits::default() },
            TurnLimits { requests: Some(5), tool_calls: Some(3), cost_usd: Some(0.5), ..TurnLimits::default() },
        );
        let both = TurnLimits { requests: Some(2), tool_calls: Some(3), cost_usd: Some(0.5), ..TurnLimits::default() };
        assert_eq!((few.stricter(&many), many.stricter(&few)), (both.clone(), both));
    }

    #[test]
    fn limits_are_reached_at_their_values() {
        let spent = ResourceUsage {
            requests: 2,
            tool_calls: 3,
            usage: Usage { input_tokens: 90, output_tokens: 10, ..Usage::default() },
            cost_usd: Some(0.5),
        };
        let check = |limits: TurnLimits, expected| assert_eq!(limits.reached(&spent), expected, "{limits:?}");
        check(TurnLimits::default(), None);
        check(TurnLimits { requests: Some(3), ..TurnLimits::default() }, None);
        check(TurnLimits { requests: Some(2), ..TurnLimits::default() }, Some(Limit::Requests));
        check(TurnLimits { total_tokens: Some(101), ..TurnLimits::default() }, None);
        check(TurnLimits { total_tokens: Some(100), ..TurnLimits::default() }, Some(Limit::TotalTokens));
        check(TurnLimits { tool_calls: Some(3), ..TurnLimits::default() }, None);
        assert_eq!(TurnLimits { tool_calls: Some(5), ..TurnLimits::default() }.remaining_calls(&spent), Some(2));
        check(TurnLimits { cost_usd: Some(0.5), ..TurnLimits::default() }, Some(Limit::Cost));
        let unpriced = ResourceUsage { cost_usd: None, ..spent };
        assert_eq!(TurnLimits { cost_usd: Some(0.5), ..TurnLimits::default() }.reached(&unpriced), None);
    }
}
