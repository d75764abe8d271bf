//! Whether another run may start at all.

use crate::admission::permits::{PermitError, RunPermit};
use crate::{Caller, Inner, errors};
use wire::UserError;

impl Inner {
    /// Returns a permit for another run of the caller, who may have `most`, unless the server is
    /// draining or full.
    pub(crate) fn acquire_permit(&self, caller: &Caller, most: usize) -> Result<RunPermit, UserError> {
        self.check_capacity()?;
        self.run_permits.acquire(&caller.user_id, most, self.memory.is_short()).map_err(|refusal| match refusal {
            PermitError::Full => errors::server_full(10),
            PermitError::UserFull => errors::too_many_runs(most),
            PermitError::NoMemory => self.memory.refuse(),
        })
    }

    /// Checks whether a run could start at all.
    pub(crate) fn check_capacity(&self) -> Result<(), UserError> {
        if self.stopping.is_cancelled() || self.tasks.is_closed() {
            return Err(errors::draining());
        }
        self.memory.admit(self.is_answering())?;
        if self.run_permits.has_free() { Ok(()) } else { Err(errors::server_full(10)) }
    }

    /// Returns whether any run or invocation is active.
    pub(crate) fn is_answering(&self) -> bool {
        self.run_permits.is_any_taken() || self.invocations.is_any_running()
    }
}
