//! Limits of evaluations. Everything that one evaluation processes is counted here: the values that
//! operators read and make, and what the engine of expressions iterates over.

use serde_json::Value;
use std::cell::RefCell;

/// The maximum size in bytes of a text that an operator makes, of a template's text, and of an
/// expression's value.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// The number of bytes of a text that cost as much as an item.
const BYTES_PER_UNIT: usize = 32;

/// The limits of one evaluation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EvaluationLimits {
    /// The maximum units of work: items and texts that are processed.
    pub(crate) work: u64,
    /// The maximum number of steps of one template or expression.
    steps: u64,
    /// The maximum of the number of steps times the bytes of the longest text, because processing a
    /// text in a variable is not counted.
    step_bytes: u64,
    /// The minimum number of steps, for texts of any length.
    min_steps: u64,
    /// The maximum size of a text in bytes.
    pub(crate) text: usize,
    /// Whether `*` may be used: one step of it can create a text of up to 100 MB.
    pub(crate) may_multiply: bool,
}

/// The limits on the calling thread: a few milliseconds.
pub(crate) const BRIEF_LIMITS: EvaluationLimits = EvaluationLimits {
    work: 20_000,
    steps: 2_000,
    step_bytes: u64::MAX,
    min_steps: 2_000,
    text: 16 << 10,
    may_multiply: false,
};

/// The limits in the browser, and on a thread that blocks nothing else: a few seconds.
pub(crate) const FULL_LIMITS: EvaluationLimits = EvaluationLimits {
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
    pub(crate) fn steps(&self, longest: usize) -> u64 {
        let steps = self.step_bytes / u64::try_from(longest).unwrap_or(u64::MAX).max(1);
        steps.clamp(self.min_steps, self.steps)
    }
}

/// Returns whether the caller has abandoned the evaluation.
pub(crate) type IsAbandoned = Box<dyn Fn() -> bool>;

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
pub(crate) fn with_limits<T>(
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
pub(crate) fn with_current_limits<T>(work: impl FnOnce() -> T) -> T {
    if METER.with_borrow(Option::is_some) { work() } else { with_limits(DEFAULT_LIMITS, None, work).0 }
}

/// Returns the current limits.
pub(crate) fn current_limits() -> EvaluationLimits {
    METER.with_borrow(|meter| meter.as_ref().map_or(DEFAULT_LIMITS, |meter| meter.limits))
}

/// Returns whether the limits were exceeded.
pub(crate) fn is_exhausted() -> bool {
    METER.with_borrow(|meter| meter.as_ref().is_some_and(|meter| meter.is_exhausted))
}

/// The error that the budget of an evaluation is used up, or that its caller has abandoned it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exhausted;

impl From<Exhausted> for String {
    fn from(_: Exhausted) -> Self {
        "the evaluation takes too much work".to_owned()
    }
}

/// Ends the evaluation: all further charges fail.
#[cfg(feature = "expressions")]
pub(crate) fn exhaust() -> Exhausted {
    METER.with_borrow_mut(|meter| meter.iter_mut().for_each(|meter| meter.is_exhausted = true));
    Exhausted
}

/// Charges units of work.
///
/// # Errors
/// The budget is used up, or the caller has abandoned the evaluation.
pub(crate) fn charge(units: u64) -> Result<(), Exhausted> {
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
                Err(Exhausted)
            }
        }
    })
}

/// Returns the units of a text.
pub(crate) fn text_units(text: &str) -> u64 {
    u64::try_from(text.len() / BYTES_PER_UNIT).unwrap_or(u64::MAX)
}

/// Returns the units of a count.
pub(crate) fn units(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Charges for a value: one unit for each part, and those of its texts.
///
/// # Errors
/// The budget is used up.
pub(crate) fn charge_value(value: &Value) -> Result<(), Exhausted> {
    match value {
        Value::Array(items) => items.iter().try_fold((), |(), item| charge_value(item))?,
        Value::Object(fields) => fields.iter().try_fold((), |(), (key, value)| {
            charge(text_units(key))?;
            charge_value(value)
        })?,
        Value::String(text) => charge(text_units(text))?,
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    charge(1)
}

/// Charges for a text of this length that is about to be made.
///
/// # Errors
/// The text is too long, or the budget is used up.
pub(crate) fn charge_text(bytes: usize) -> Result<(), String> {
    if bytes > MAX_BYTES {
        return Err(format!("the text is longer than {MAX_BYTES} bytes"));
    }
    charge(1 + units(bytes / BYTES_PER_UNIT))?;
    Ok(())
}

/// Charges for one step, or for a copy of a value.
///
/// # Errors
/// The budget is used up.
pub(crate) fn charge_copy(copied: Option<&Value>) -> Result<(), String> {
    match copied {
        Some(value) => charge_value(value)?,
        None => charge(1)?,
    }
    Ok(())
}

/// Charges for one step.
///
/// # Errors
/// The budget is used up.
pub(crate) fn charge_node() -> Result<(), String> {
    charge_copy(None)
}
