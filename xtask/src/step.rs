//! A named step that says how long it took.

use anyhow::{Context, Result};
use std::time::Instant;

/// Runs a step; an error is told with the step's name.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    eprintln!("▸ {name}");
    let began = Instant::now();
    let result = work().with_context(|| format!("step failed: {name}"))?;
    eprintln!("  {name}: {:.1} s", began.elapsed().as_secs_f64());
    Ok(result)
}
