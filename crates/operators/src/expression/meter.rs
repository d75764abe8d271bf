//! Bounds of evaluations. The engine's fuel counts steps, and one step (`in`, `==`, `sort`) may go through a whole list.
//! Here each item and each piece of text that is gone through is counted as well.

use minijinja::{Error, ErrorKind};
use std::cell::RefCell;

/// Bytes of a text that count as much as an item.
const BYTES_PER_UNIT: usize = 32;

/// Limits of one evaluation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Units of work: items and texts that are gone through.
    pub(super) work: u64,
    /// Steps of one template or expression.
    steps: u64,
    /// Steps times bytes of the longest text: a text in a variable is gone through without being counted.
    step_bytes: u64,
    /// Steps that remain however long a text is.
    least_steps: u64,
    /// Bytes of a text.
    pub(super) text: usize,
    /// Whether `*` may be used, one step of which makes a text of up to 100 MB.
    pub(super) may_multiply: bool,
}

/// On the thread of the caller: a few milliseconds.
pub(super) const BRIEF: Bounds = Bounds {
    work: 20_000,
    steps: 2_000,
    step_bytes: u64::MAX,
    least_steps: 2_000,
    text: 16 << 10,
    may_multiply: false,
};

/// In the browser, and on a thread that blocks nobody else: a few seconds.
pub(super) const FULL: Bounds = Bounds {
    work: 4_000_000,
    steps: 100_000,
    step_bytes: 6_000_000_000,
    least_steps: 1_000,
    text: usize::MAX,
    may_multiply: true,
};

/// Where no bounds were set: a page that the server renders. Only its address comes from strangers.
#[cfg(not(target_family = "wasm"))]
const UNSET: Bounds = Bounds { work: 200_000, steps: 20_000, step_bytes: 400_000_000, ..FULL };
#[cfg(target_family = "wasm")]
const UNSET: Bounds = FULL;

impl Bounds {
    /// The steps for values whose longest text has so many bytes.
    pub(super) fn steps(&self, longest: usize) -> u64 {
        let steps = self.step_bytes / u64::try_from(longest).unwrap_or(u64::MAX).max(1);
        steps.clamp(self.least_steps, self.steps)
    }
}

/// Tells whether nobody waits for the result any more.
pub(super) type IsAbandoned = Box<dyn Fn() -> bool>;

struct Meter {
    bounds: Bounds,
    left: u64,
    is_spent: bool,
    is_abandoned: Option<IsAbandoned>,
}

thread_local! {
    /// The meter of the evaluation that runs on this thread.
    static METER: RefCell<Option<Meter>> = const { RefCell::new(None) };
}

/// Puts the meter of before back, also when the work panics.
struct Restore(Option<Meter>);

impl Drop for Restore {
    fn drop(&mut self) {
        METER.set(self.0.take());
    }
}

/// Does work within bounds. The second value tells whether the bounds ended it.
pub(super) fn within<T>(bounds: Bounds, is_abandoned: Option<IsAbandoned>, work: impl FnOnce() -> T) -> (T, bool) {
    let meter = Meter { bounds, left: bounds.work, is_spent: false, is_abandoned };
    let restore = Restore(METER.replace(Some(meter)));
    let result = work();
    let is_spent = is_spent();
    drop(restore);
    (result, is_spent)
}

/// Does work within the bounds that are set, or within those for a caller who set none.
pub(super) fn within_set<T>(work: impl FnOnce() -> T) -> T {
    if METER.with_borrow(Option::is_some) { work() } else { within(UNSET, None, work).0 }
}

/// The bounds that are set.
pub(super) fn bounds() -> Bounds {
    METER.with_borrow(|meter| meter.as_ref().map_or(UNSET, |meter| meter.bounds))
}

/// Whether the bounds have been reached.
pub(super) fn is_spent() -> bool {
    METER.with_borrow(|meter| meter.as_ref().is_some_and(|meter| meter.is_spent))
}

/// Ends the evaluation: whatever is counted from now on fails.
pub(super) fn spend() -> Error {
    METER.with_borrow_mut(|meter| meter.iter_mut().for_each(|meter| meter.is_spent = true));
    out_of_fuel()
}

/// Takes units of work from what is left.
///
/// # Errors
/// Too little is left, or nobody waits for the result any more.
pub(super) fn charge(units: u64) -> Result<(), Error> {
    METER.with_borrow_mut(|meter| {
        let Some(meter) = meter else { return Ok(()) };
        let is_abandoned = || meter.is_abandoned.as_ref().is_some_and(|is_abandoned| is_abandoned());
        match meter.left.checked_sub(units) {
            Some(left) if !meter.is_spent && !is_abandoned() => {
                meter.left = left;
                Ok(())
            }
            _ => {
                meter.is_spent = true;
                Err(out_of_fuel())
            }
        }
    })
}

/// The engine's error for an evaluation that takes too much.
fn out_of_fuel() -> Error {
    Error::from(ErrorKind::OutOfFuel)
}

/// The units of a text.
pub(super) fn units(text: &str) -> u64 {
    u64::try_from(text.len() / BYTES_PER_UNIT).unwrap_or(u64::MAX)
}
