//! The limits of a run, checked before each step that uses something, and what is left of them.

use crate::store::Used;
use contract::{ModelId, ModelMeter, ModelUse, ReplyUsage};
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use std::sync::Arc;
use wire::invoke::InvokeLimits;
use workflow_definition::RunLimits;

/// The remaining budget of a step: the smallest rest of the limits of its run and of the runs above.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Remaining {
    pub(crate) requests: Option<u64>,
    pub(crate) total_tokens: Option<u64>,
    pub(crate) tool_calls: Option<u64>,
    pub(crate) cost_usd: Option<f64>,
}

impl Remaining {
    /// Returns what is left. Each entry has the limits of a run and what it has used.
    ///
    /// # Errors
    /// A limit is reached; the message names it.
    pub(crate) fn of(runs: &[(RunLimits, Used)]) -> Result<Self, String> {
        let mut left = Self::default();
        for (limits, used) in runs {
            let whole = [
                ("requests", limits.requests.map(u64::from), used.requests, &mut left.requests),
                ("totalTokens", limits.total_tokens, used.total_tokens, &mut left.total_tokens),
                ("toolCalls", limits.tool_calls.map(u64::from), used.tool_calls, &mut left.tool_calls),
            ];
            for (name, most, used, left) in whole {
                let Some(most) = most else { continue };
                let rest = most.saturating_sub(used);
                // After the last tool call, the model may still answer.
                if rest == 0 && name != "toolCalls" {
                    return Err(format!("limits.{name}: {most}"));
                }
                *left = Some(left.map_or(rest, |left| left.min(rest)));
            }
            if let Some(most) = limits.cost_usd {
                let rest = most - used.cost_usd;
                if rest <= 0.0 {
                    return Err(format!("limits.costUsd: {most}"));
                }
                left.cost_usd = Some(left.cost_usd.map_or(rest, |left| left.min(rest)));
            }
        }
        Ok(left)
    }

    /// Returns what is left when calls that run may use all of `reserved`.
    #[must_use]
    pub(super) fn without(&self, reserved: &Self) -> Self {
        let rest =
            |left: Option<u64>, taken: Option<u64>| left.map(|left| left.saturating_sub(taken.unwrap_or_default()));
        Self {
            requests: rest(self.requests, reserved.requests),
            total_tokens: rest(self.total_tokens, reserved.total_tokens),
            tool_calls: rest(self.tool_calls, reserved.tool_calls),
            cost_usd: self.cost_usd.map(|left| (left - reserved.cost_usd.unwrap_or_default()).max(0.0)),
        }
    }

    /// Returns how many calls can share this, each with something to use.
    pub(super) fn max_calls(&self) -> usize {
        let whole = [self.requests, self.total_tokens].into_iter().flatten().min();
        let most = whole.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        // Below a hundredth of a cent nothing can be bought.
        if self.cost_usd.is_some_and(|left| left < 0.000_1) { 0 } else { most }
    }

    /// Returns the share of each of `calls` calls that start together, so that they cannot exceed a limit
    /// together.
    #[must_use]
    pub(super) fn share(&self, calls: usize) -> Self {
        let calls = calls.max(1);
        let part = |left: Option<u64>| left.map(|left| left / calls as u64);
        Self {
            requests: part(self.requests),
            total_tokens: part(self.total_tokens),
            tool_calls: part(self.tool_calls),
            cost_usd: self.cost_usd.map(|left| left / calls as f64),
        }
    }

    /// Adds what was used before, for limits that count it.
    #[must_use]
    pub(super) fn beside(&self, used: &Used) -> Self {
        Self {
            requests: self.requests.map(|left| left.saturating_add(used.requests)),
            total_tokens: self.total_tokens.map(|left| left.saturating_add(used.total_tokens)),
            tool_calls: self.tool_calls.map(|left| left.saturating_add(used.tool_calls)),
            cost_usd: self.cost_usd.map(|left| left + used.cost_usd),
        }
    }

    /// Adds what another call may use.
    #[must_use]
    pub(super) fn plus(&self, other: &Self) -> Self {
        let sum = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).reduce(u64::saturating_add);
        Self {
            requests: sum(self.requests, other.requests),
            total_tokens: sum(self.total_tokens, other.total_tokens),
            tool_calls: sum(self.tool_calls, other.tool_calls),
            cost_usd: self.cost_usd.into_iter().chain(other.cost_usd).reduce(|one, other| one + other),
        }
    }

    /// Returns what the open child runs may still use of their limits.
    pub(super) fn of_children(children: &[(RunLimits, Used)]) -> Self {
        let rest = |most: Option<u64>, used: u64| most.map(|most| most.saturating_sub(used));
        let left = |(limits, used): &(RunLimits, Used)| Self {
            requests: rest(limits.requests.map(u64::from), used.requests),
            total_tokens: rest(limits.total_tokens, used.total_tokens),
            tool_calls: rest(limits.tool_calls.map(u64::from), used.tool_calls),
            cost_usd: limits.cost_usd.map(|most| (most - used.cost_usd).max(0.0)),
        };
        children.iter().map(left).fold(Self::default(), |sum, one| sum.plus(&one))
    }

    /// Returns the limits of a child run that may use this.
    pub(super) fn run_limits(&self) -> RunLimits {
        let number = |rest: Option<u64>| rest.map(|rest| u32::try_from(rest).unwrap_or(u32::MAX));
        RunLimits {
            requests: number(self.requests),
            total_tokens: self.total_tokens,
            tool_calls: number(self.tool_calls),
            cost_usd: self.cost_usd,
            ..RunLimits::default()
        }
    }

    /// Returns the limits of an agent's invocation.
    pub(super) fn invoke_limits(&self) -> InvokeLimits {
        let number = |rest: Option<u64>| rest.map(|rest| u32::try_from(rest).unwrap_or(u32::MAX));
        InvokeLimits {
            request_limit: number(self.requests),
            total_tokens_limit: self.total_tokens,
            tool_calls_limit: number(self.tool_calls),
            max_cost_dollars: self.cost_usd,
            timeout_seconds: None,
        }
    }

    /// Returns a meter for the model requests of a routine.
    pub(super) fn meter(&self) -> StepMeter {
        StepMeter(Arc::new(Mutex::new(Metered { left: *self, used: Used::default(), exceeded: None })))
    }
}

/// Counts the model requests of one step.
#[derive(Clone)]
pub(super) struct StepMeter(Arc<Mutex<Metered>>);

struct Metered {
    left: Remaining,
    used: Used,
    exceeded: Option<String>,
}

impl StepMeter {
    /// Returns a meter that counts here and with `inner`.
    pub(super) fn around(&self, inner: ModelUse) -> ModelUse {
        ModelUse::new(Arc::new(Both { step: self.clone(), inner }))
    }

    /// Returns what was used.
    pub(super) fn used(&self) -> Used {
        self.0.lock().used
    }

    /// Returns the limit that has refused a request.
    pub(super) fn exceeded(&self) -> Option<String> {
        self.0.lock().exceeded.clone()
    }

    fn add(&self, replied: &ReplyUsage) {
        let mut metered = self.0.lock();
        metered.used.total_tokens += replied.usage.input_tokens + replied.usage.output_tokens;
        metered.used.cost_usd += replied.cost_usd.unwrap_or_default();
        metered.used.unpriced += u64::from(replied.cost_usd.is_none());
    }

    fn admit(&self, is_priced: bool) -> Result<(), String> {
        let mut metered = self.0.lock();
        let Metered { left, used, .. } = &*metered;
        let reached = [
            ("requests", left.requests.is_some_and(|most| used.requests >= most)),
            ("totalTokens", left.total_tokens.is_some_and(|most| used.total_tokens >= most)),
            ("costUsd", left.cost_usd.is_some_and(|most| used.cost_usd >= most || !is_priced)),
        ];
        if let Some((name, _)) = reached.into_iter().find(|(_, is)| *is) {
            let message = format!("the limit `{name}` of the workflow is reached");
            metered.exceeded = Some(message.clone());
            return Err(message);
        }
        // Counted before the request, since several may be made at once.
        metered.used.requests += 1;
        Ok(())
    }
}

struct Both {
    step: StepMeter,
    inner: ModelUse,
}

impl ModelMeter for Both {
    fn admit<'a>(&'a self, model: &'a ModelId, is_priced: bool) -> BoxFuture<'a, Result<(), String>> {
        async move {
            self.step.admit(is_priced)?;
            self.inner.admit(model, is_priced).await
        }
        .boxed()
    }

    fn record_reply(&self, replied: ReplyUsage) -> BoxFuture<'_, ()> {
        async move {
            self.step.add(&replied);
            self.inner.record_reply(replied).await;
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_limit_of_all_runs_above_counts() {
        let used = Used { requests: 3, total_tokens: 100, tool_calls: 2, cost_usd: 0.5, unpriced: 0 };
        let check = |limits: RunLimits, expected: &str| {
            let above = RunLimits { requests: Some(10), ..RunLimits::default() };
            let seen = match Remaining::of(&[(limits, used), (above, used)]) {
                Ok(left) => {
                    format!("{:?} {:?} {:?} {:?}", left.requests, left.total_tokens, left.tool_calls, left.cost_usd)
                }
                Err(reached) => reached,
            };
            assert_eq!(seen, expected, "{limits:?}");
        };
        let none = RunLimits::default();
        check(none, "Some(7) None None None");
        check(RunLimits { requests: Some(5), ..none }, "Some(2) None None None");
        check(RunLimits { requests: Some(3), ..none }, "limits.requests: 3");
        check(RunLimits { total_tokens: Some(100), ..none }, "limits.totalTokens: 100");
        check(RunLimits { tool_calls: Some(2), ..none }, "Some(7) None Some(0) None");
        check(RunLimits { cost_usd: Some(0.75), ..none }, "Some(7) None None Some(0.25)");
        check(RunLimits { cost_usd: Some(0.5), ..none }, "limits.costUsd: 0.5");
    }

    #[test]
    fn calls_that_run_together_share_what_is_left() {
        let left = Remaining { requests: Some(7), total_tokens: None, tool_calls: Some(1), cost_usd: Some(1.0) };
        let share = left.share(2);
        assert_eq!(
            share,
            Remaining { requests: Some(3), total_tokens: None, tool_calls: Some(0), cost_usd: Some(0.5) }
        );
        let rest = left.without(&share.plus(&share));
        assert_eq!((rest.requests, rest.cost_usd, rest.max_calls()), (Some(1), Some(0.0), 0));
        assert_eq!(Remaining::default().max_calls(), usize::MAX);
    }
}
