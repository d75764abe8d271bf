//! Limits of evaluations. The engine's fuel counts steps, but one step (`in`, `==`, `sort`) may
//! iterate over a whole list, so items and texts are counted here as well.

use minijinja::{Error, ErrorKind};
use std::cell::RefCell;

/// The number of bytes of a text that cost as much as an item.
const BYTES_PER_UNIT: usize = 32;

/// The limits of one evaluation.
#[derive(Clone, Copy, Debug)]
pub(super) struct EvaluationLimits {
    /// The maximum units of work: items and texts that are processed.
    pub(super) work: u64,
    /// The maximum number of steps of one template or expression.
    steps: u64,
    /// The maximum of the number of steps times the bytes of the longest text, because processing a
    /// text in a variable is not counted.
    step_bytes: u64,
    /// The minimum number of steps, whatever the length of the texts.
    min_steps: u64,
    /// The maximum size of a text in bytes.
    pub(super) text: usize,
    /// Whether `*` may be used: one step of it can create a text of up to 100 MB.
    pub(super) may_multiply: bool,
}

/// The limits on the calling thread: a few milliseconds.
pub(super) const BRIEF_LIMITS: EvaluationLimits = EvaluationLimits {
    work: 20_000,
    steps: 2_000,
    step_bytes: u64::MAX,
    min_steps: 2_000,
    text: 16 << 10,
    may_multiply: false,
};

/// The limits in the browser, and on a thread that blocks nothing else: a few seconds.
pub(super) const FULL_LIMITS: EvaluationLimits = EvaluationLimits {
    work: 4_000_000,
    steps: 100_000,
    step_bytes: 6_000_000_000,
    min_steps: 1_000,
    text: usize::MAX,
    may_multiply: true,
};

/// The limits by default, for a page that the server renders. Of its values, only the URL is from
/// the client.
#[cfg(not(target_family = "wasm"))]
const DEFAULT_LIMITS: EvaluationLimits =
    EvaluationLimits { work: 200_000, steps: 20_000, step_bytes: 400_000_000, ..FULL_LIMITS };
#[cfg(target_family = "wasm")]
const DEFAULT_LIMITS: EvaluationLimits = FULL_LIMITS;

impl EvaluationLimits {
    /// Returns the maximum number of steps for values with this longest text in bytes.
    pub(super) fn steps(&self, longest: usize) -> u64 {
        let steps = self.step_bytes / u64::try_from(longest).unwrap_or(u64::MAX).max(1);
        steps.clamp(self.min_steps, self.steps)
    }
}

/// Returns whether the caller has abandoned the evaluation.
pub(super) type IsAbandoned = Box<dyn Fn() -> bool>;

struct EvaluationMeter {
    limits: EvaluationLimits,
    left: u64,
    is_exhausted: bool,
    is_abandoned: Option<IsAbandoned>,
}

thread_local! {
    /// The meter of the evaluation on this thread.
    static METER: RefCell<Option<EvaluationMeter>> = const { RefCell::new(None) };
}

/// Restores the previous meter, also after a panic.
struct RestoreMeter(Option<EvaluationMeter>);

impl Drop for RestoreMeter {
    fn drop(&mut self) {
        METER.set(self.0.take());
    }
}

/// Runs an evaluation within limits. Also returns whether it exceeded them.
pub(super) fn with_limits<T>(
    limits: EvaluationLimits,
    is_abandoned: Option<IsAbandoned>,
    work: impl FnOnce() -> T,
) -> (T, bool) {
    let meter = EvaluationMeter { limits, left: limits.work, is_exhausted: false, is_abandoned };
    let restore = RestoreMeter(METER.replace(Some(meter)));
    let result = work();
    let is_exhausted = is_exhausted();
    drop(restore);
    (result, is_exhausted)
}

/// Runs an evaluation within the current limits, or within the default ones if there are none.
pub(super) fn with_current_limits<T>(work: impl FnOnce() -> T) -> T {
    if METER.with_borrow(Option::is_some) { work() } else { with_limits(DEFAULT_LIMITS, None, work).0 }
}

/// Returns the current limits.
pub(super) fn current_limits() -> EvaluationLimits {
    METER.with_borrow(|meter| meter.as_ref().map_or(DEFAULT_LIMITS, |meter| meter.limits))
}

/// Returns whether the limits were exceeded.
pub(super) fn is_exhausted() -> bool {
    METER.with_borrow(|meter| meter.as_ref().is_some_and(|meter| meter.is_exhausted))
}

/// Ends the evaluation: all further charges fail.
pub(super) fn exhaust() -> Error {
    METER.with_borrow_mut(|meter| meter.iter_mut().for_each(|meter| meter.is_exhausted = true));
    out_of_fuel()
}

/// Charges units of work.
///
/// # Errors
/// The budget is used up, or the caller has abandoned the evaluation.
pub(super) fn charge(units: u64) -> Result<(), Error> {
    METER.with_borrow_mut(|meter| {
        let Some(meter) = meter else { return Ok(()) };
        let is_abandoned = || meter.is_abandoned.as_ref().is_some_and(|is_abandoned| is_abandoned());
        match meter.left.checked_sub(units) {
            Some(left) if !meter.is_exhausted && !is_abandoned() => {
                meter.left = left;
                Ok(())
            }
            _ => {
                meter.is_exhausted = true;
                Err(out_of_fuel())
            }
        }
    })
}

/// Returns the engine's error for an exceeded limit.
fn out_of_fuel() -> Error {
    Error::from(ErrorKind::OutOfFuel)
}

/// Returns the units of a text.
pub(super) fn text_units(text: &str) -> u64 {
    u64::try_from(text.len() / BYTES_PER_UNIT).unwrap_or(u64::MAX)
}
