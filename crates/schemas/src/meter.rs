//! The budget of an evaluation: units of work and stack.

use crate::cost::Cost;
use jsonschema::{Keyword, ValidationError};
use serde_json::Value;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

/// The budget of an evaluation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkBudget {
    /// Units of work of about 50 ns each, without matching patterns.
    pub(crate) work: u64,
    /// Units of work for matching patterns.
    pub(crate) patterns: u64,
    /// Bytes of stack below the caller.
    pub(crate) stack: usize,
}

/// The reason why an evaluation ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overrun {
    /// The units of work are used up.
    Work,
    /// A pattern would take more work for a text than any check may.
    Pattern,
    /// The recursion is too deep.
    Stack,
    /// The caller was dropped.
    Abandoned,
    /// The evaluation panicked.
    Failed,
}

/// The maximum units of work of any evaluation: about a fifth of a second.
pub(crate) const MAX_WORK: u64 = 4_000_000;
/// The interval, in units of work, at which the cancellation flag is read.
const CANCEL_CHECK_UNITS: u64 = 4096;

/// The remaining budget of this thread's evaluation.
struct BudgetMeter {
    left: u64,
    patterns_left: u64,
    /// The units until the cancellation flag is read again.
    until_cancel_check: u64,
    stack_begin: usize,
    stack: usize,
    /// The caller's cancellation flag.
    abandoned: Option<offload::Abandoned>,
}

thread_local! {
    static METER: RefCell<Option<BudgetMeter>> = const { RefCell::new(None) };
}

/// Runs an evaluation within a budget.
pub(crate) fn within<T>(
    budget: WorkBudget,
    abandoned: Option<&offload::Abandoned>,
    evaluate: impl FnOnce() -> T,
) -> Result<T, Overrun> {
    let meter = BudgetMeter {
        left: budget.work,
        patterns_left: budget.patterns,
        until_cancel_check: CANCEL_CHECK_UNITS,
        stack_begin: stack_position(),
        stack: budget.stack,
        abandoned: abandoned.cloned(),
    };
    METER.with(|current| *current.borrow_mut() = Some(meter));
    let outcome = catch_unwind(AssertUnwindSafe(evaluate));
    METER.with(|current| *current.borrow_mut() = None);
    outcome.map_err(|payload| match payload.downcast::<Overrun>() {
        Ok(overrun) => *overrun,
        Err(_) => Overrun::Failed,
    })
}

/// Returns the address of a local variable, to measure the stack.
#[inline(never)]
fn stack_position() -> usize {
    let here = 0_u8;
    ptr::from_ref(std::hint::black_box(&here)).addr()
}

/// Charges the cost of a subschema for an instance to this thread's budget, if there is one.
fn charge(cost: &Cost, instance: &Value) {
    let overrun = METER.with(|current| {
        let mut current = current.borrow_mut();
        let meter = current.as_mut()?;
        if meter.stack_begin.abs_diff(stack_position()) > meter.stack {
            return Some(Overrun::Stack);
        }
        let (work, patterns) = (cost.for_instance(instance, meter.left), cost.of_patterns(instance));
        // The keys of an object are many texts.
        if patterns > MAX_WORK && instance.is_string() {
            return Some(Overrun::Pattern);
        }
        let (Some(left), Some(patterns_left)) =
            (meter.left.checked_sub(work), meter.patterns_left.checked_sub(patterns))
        else {
            return Some(Overrun::Work);
        };
        (meter.left, meter.patterns_left) = (left, patterns_left);
        match meter.until_cancel_check.checked_sub(work.saturating_add(patterns)) {
            Some(until) => meter.until_cancel_check = until,
            None => {
                meter.until_cancel_check = CANCEL_CHECK_UNITS;
                if meter.abandoned.as_ref().is_some_and(offload::Abandoned::is_set) {
                    return Some(Overrun::Abandoned);
                }
            }
        }
        None
    });
    if let Some(overrun) = overrun {
        resume_unwind(Box::new(overrun));
    }
}

/// The keyword `x-cost`: it is valid for every instance, and charges the cost of the subschema next
/// to it.
pub(crate) struct CostKeyword(pub(crate) Cost);

impl<'i> Keyword<'i> for CostKeyword {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        charge(&self.0, instance);
        Ok(())
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        charge(&self.0, instance);
        true
    }
}
