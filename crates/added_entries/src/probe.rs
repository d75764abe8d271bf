//! The bound on tests.

use tokio::sync::{Semaphore, SemaphorePermit};
use wire::{ErrorCode, UserError};

/// Permits one of the tests that may run at once.
///
/// # Errors
/// 429 if too many are running.
pub fn permit(permits: &'static Semaphore) -> Result<SemaphorePermit<'static>, UserError> {
    let busy = |_| UserError::new(ErrorCode::RateLimited, "Too many tests are running. Try again in a moment.");
    permits.try_acquire().map_err(busy)
}
