//! Named steps with their durations.

use anyhow::{Context, Result};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

/// When the first step began.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The finished steps, for [`summary`].
static DONE: Mutex<Vec<(String, Duration)>> = Mutex::new(Vec::new());

/// The notices so far, for [`summary`].
static NOTICES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Prints a notice now, and once more in the summary: what was skipped, and what passed only when it was tried again.
pub(crate) fn notice(text: String) {
    eprintln!("{text}");
    if let Ok(mut notices) = NOTICES.lock() {
        notices.push(text);
    }
}

/// Runs a step and prints its duration; errors get the step's name as context.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    LazyLock::force(&BEGAN);
    eprintln!("▸ {name}");
    let began = Instant::now();
    let result = work().with_context(|| format!("step failed: {name}"))?;
    let took = began.elapsed();
    // Two steps may run at once.
    eprintln!("  done in {:.1} s: {name}", took.as_secs_f64());
    if let Ok(mut done) = DONE.lock() {
        done.push((name.to_owned(), took));
    }
    Ok(result)
}

/// Runs `work` in another thread while this thread runs `own_part`. Returns when both have ended.
pub(crate) fn side_by_side(
    work: impl FnOnce() -> Result<()> + Send,
    own_part: impl FnOnce() -> Result<()>,
) -> Result<()> {
    std::thread::scope(|scope| {
        let work = scope.spawn(work);
        let own_part = own_part();
        match work.join() {
            Ok(work) => own_part.and(work),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Prints all finished steps with their durations, and all notices. `is_passed` tells whether another step has failed.
/// Steps that ran at the same time count once in the total.
pub(crate) fn summary(is_passed: bool) {
    let (Ok(done), Ok(notices)) = (DONE.lock(), NOTICES.lock()) else { return };
    eprintln!("\n{} steps passed, {} failed", done.len(), u8::from(!is_passed));
    for (name, took) in done.iter() {
        eprintln!("{:>8.1} s  {name}", took.as_secs_f64());
    }
    eprintln!("{:>8.1} s  in total", BEGAN.elapsed().as_secs_f64());
    notices.iter().for_each(|notice| eprintln!("{notice}"));
}
