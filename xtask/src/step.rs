//! Named steps with their durations.

use anyhow::{Context, Result};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The finished steps, for [`summary`].
static DONE: Mutex<Vec<(String, Duration)>> = Mutex::new(Vec::new());

/// Runs a step and prints its duration; errors get the step's name as context.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    eprintln!("▸ {name}");
    let began = Instant::now();
    let result = work().with_context(|| format!("step failed: {name}"))?;
    let took = began.elapsed();
    eprintln!("  done in {:.1} s", took.as_secs_f64());
    if let Ok(mut done) = DONE.lock() {
        done.push((name.to_owned(), took));
    }
    Ok(result)
}

/// Prints all finished steps with their durations.
pub(crate) fn summary() {
    let Ok(done) = DONE.lock() else { return };
    eprintln!("\n{} steps passed, 0 failed", done.len());
    for (name, took) in done.iter() {
        eprintln!("{:>8.1} s  {name}", took.as_secs_f64());
    }
    let total: Duration = done.iter().map(|(_, took)| *took).sum();
    eprintln!("{:>8.1} s  in total", total.as_secs_f64());
}
